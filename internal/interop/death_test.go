package interop_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// handOverLimit is how long a dead holder may keep the lock: the server rounds the end of
// a session up to a tick, and looks once a tick. The server's process may be late, too, and nobody
// measures that.
const handOverLimit = suite.LongSession*3/2 + 2*suite.Tick

// A Java process that is killed with the lock hands it to Go.
func TestKilledJavaHolder(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	own := e.ownJVM()
	e.acquire(e.newJava(own))
	waiter := e.newGo()
	grant := e.queue(waiter)
	node := e.nodes()[1]

	paused := e.measurePauses()
	start := time.Now()
	own.kill()
	if got := e.wait(grant); got != node {
		t.Errorf("let in %q, want %q", got, node)
	}
	took := time.Since(start)
	if limit := handOverLimit + paused(); took > limit {
		t.Errorf("the lock was handed over after %v, want at most %v", took, limit)
	}
	e.wantNodes(node)
	waiter.release()
	e.wantNodes()
}

// A Go client that nothing is heard of any more hands the lock to Java, and does not
// believe in it any more by then.
func TestIsolatedGoHolder(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	holder := e.newGo()
	e.acquire(holder)
	waiter := e.newJava(e.jvm)
	grant := e.queue(waiter)
	node := e.nodes()[1]
	if err := holder.lease.Err(); err != nil {
		t.Fatal(err)
	}

	paused := e.measurePauses()
	start := time.Now()
	heal := holder.network.Isolate()
	got := e.wait(grant)
	took, belief := time.Since(start), holder.lease.Err()
	heal()
	if got != node {
		t.Errorf("let in %q, want %q", got, node)
	}
	if !errors.Is(belief, locks.ErrLockLost) {
		t.Errorf("Java has the lock, and to Go its own lease is: %v", belief)
	}
	if limit := handOverLimit + paused(); took > limit {
		t.Errorf("the lock was handed over after %v, want at most %v", took, limit)
	}
	if err := holder.lease.Release(t.Context()); !errors.Is(err, locks.ErrLockLost) {
		t.Errorf("release of the lost lease: %v", err)
	}
	e.wantNodes(node)
	waiter.release()
	e.wantNodes()
}

// measurePauses reads from the server all the time, until the function that it returns is
// called, which tells for how long that did not get on: how much later than promised
// something may happen on a machine that is busy with something else.
func (e *env) measurePauses() (stop func() time.Duration) {
	const pause = 20 * time.Millisecond
	var sum time.Duration
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(pause / 4)
		defer tick.Stop()
		for last := time.Now(); ; {
			select {
			case <-tick.C:
			case <-done:
				return
			}
			e.observer.CheckExists().ForPath(e.t.Context(), "/") // however it ended, it took its time
			now := time.Now()
			if gap := now.Sub(last); gap > pause {
				sum += gap
			}
			last = now
		}
	}()
	stop = sync.OnceValue(func() time.Duration {
		close(done)
		<-ended
		return sum
	})
	e.t.Cleanup(func() { stop() })
	return stop
}
