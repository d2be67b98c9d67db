package zkconn_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

// A caller of AwaitProof looks whether the session is over, and begins to wait, at one moment. A session that ends
// between the two would not wake it.
func TestSessionEndsWhileAwaitProofBegins(t *testing.T) {
	virtual(t, func(t *fixture) {
		var asleep atomic.Int64
		var between atomic.Pointer[func()]
		t.open(func(c *zkconn.Config) {
			c.Asleep = func() time.Duration {
				if f := between.Swap(nil); f != nil {
					(*f)()
				}
				return time.Duration(asleep.Load())
			}
		})
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		resume := t.server.Pause()
		defer resume()
		synctest.Wait()
		asleep.Add(int64(timeout * 9 / 10)) // the deadline has passed, and nobody has looked yet
		var giveUp sync.WaitGroup
		end := func() { // AwaitProof asks for the time: it has looked by then whether the session is over
			var ended atomic.Bool
			giveUp.Go(func() {
				t.conn.GiveUp(session)
				ended.Store(true)
			})
			for range 1000 {
				if ended.Load() {
					return
				}
				runtime.Gosched()
			}
		}
		between.Store(&end)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		t.want(t.conn.AwaitProof(ctx, session), zkconn.ErrSessionExpired)
		giveUp.Wait()
		if between.Load() != nil {
			t.Error("nobody has asked for the time")
		}
	})
}

// An answer behind a silence raises a doubt of the session (S6) before it counts as a proof. So it is the first of the two
// proofs that are needed then. The second one says that the session lived so long ago that the deadline has passed, and
// somebody relies on the session by now: that takes two more. As a proof without a doubt, ahead of it, the answer would
// have spared one of the three.
func TestAnswerBehindASilence(t *testing.T) {
	virtual(t, func(t *fixture) {
		var asleep atomic.Int64
		session := t.openAsleep(&asleep)
		made, _ := create("/a", 0)
		t.do(made)
		t.conn.Unuse()
		defer t.conn.Use()
		time.Sleep(3 * timeout) // nobody relies on the session
		t.do(zkconn.Sync("/"))
		asleep.Add(int64(timeout * 9 / 10))
		t.do(set("/a"))
		if deadline, _ := t.conn.Deadline(session); time.Now().Before(deadline) {
			t.Errorf("after one proof the session is believed in for %v", time.Until(deadline))
		}
		t.took()
		t.conn.Use()
		defer t.conn.Unuse()
		if err := t.conn.AwaitProof(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		asked := 0
		t.mu.Lock()
		for _, e := range t.events {
			if e.Kind == zkconn.Asked {
				asked++
			}
		}
		t.mu.Unlock()
		if asked != 3*2 { // each a sync and a transaction
			t.Errorf("%d requests for proofs, want 6", asked)
		}
	})
}

// A session that is given up has ended before its connection does: the driver, which is told of the connection, would take
// the session up again.
func TestSessionEndsBeforeItsConnection(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.took()
		t.conn.GiveUp(session)
		kinds, _ := t.took()
		ended, disconnected := slices.Index(kinds, zkconn.SessionEnded), slices.Index(kinds, zkconn.Disconnected)
		if ended < 0 || disconnected < ended {
			t.Errorf("events %v", kinds)
		}
	})
}
