package framework_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// stateLog is what a listener was told.
type stateLog chan state.ConnectionState

// await waits for a state, and returns those before it.
func (l stateLog) await(t *testing.T, want state.ConnectionState) (before []state.ConnectionState) {
	t.Helper()
	timer := time.NewTimer(2 * time.Minute)
	defer timer.Stop()
	for {
		select {
		case s := <-l:
			if s == want {
				return before
			}
			before = append(before, s)
		case <-timer.C:
			t.Fatalf("no state %v after %v", want, before)
		}
	}
}

func listening(c *framework.Client) stateLog {
	l := make(stateLog, 100)
	c.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) { l <- s })
	return l
}

// TestReadOnlyOfRealServers takes the quorum away from an ensemble. One client has a session that
// outlives that, one has not, one is started without a quorum, and one has not asked for reads alone.
func TestReadOnlyOfRealServers(t *testing.T) {
	t.Parallel()
	ensemble := curatortest.RealEnsemble(t, 3, curatortest.WithReadOnlyMode(),
		curatortest.WithTickTime(500*time.Millisecond), curatortest.WithSessionTimeouts(time.Second, patience))
	wantStaticEnsemble(t, ensemble)
	lasting := ensemble.Client(t, framework.WithReadOnly(), framework.WithSessionTimeout(patience))
	ending := ensemble.Client(t, framework.WithReadOnly(), framework.WithSessionTimeout(2*time.Second))
	unwilling := ensemble.Client(t)
	clients, logs := []*framework.Client{lasting, ending}, []stateLog{listening(lasting), listening(ending)}
	sessions := make([]int64, len(clients))
	for i, c := range clients {
		// Without an ephemeral node a session is a local one, which no other server knows.
		if _, err := c.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), []string{"/lasting", "/ending"}[i]); err != nil {
			t.Fatal(err)
		}
		sessions[i] = c.SessionID()
	}
	if _, err := unwilling.Create().WithData([]byte("x")).ForPath(t.Context(), "/data"); err != nil {
		t.Fatal(err)
	}
	awaitChange := persistentWatch(t, lasting)
	lock, lease := held(t, lasting)
	catchUp(t, ensemble.Member(0), append(clients, unwilling))

	ensemble.Member(1).Kill()
	ensemble.Member(2).Kill()
	for i, c := range clients {
		t.Logf("client %d: states %v before READ_ONLY", i, logs[i].await(t, state.ReadOnly))
		wantReadsOnly(t, c)
	}
	late := ensemble.Client(t, framework.WithReadOnly())
	lateLog := listening(late)
	wantReadsOnly(t, late)
	wantNoLock(t, lock, lease)
	if s := unwilling.ConnectionState(); s.IsConnected() {
		t.Errorf("a client that has not asked for it: state %v", s)
	}

	var restarts sync.WaitGroup
	for i := 1; i < 3; i++ {
		restarts.Go(ensemble.Member(i).Restart)
	}
	restarts.Wait()
	for i, c := range clients {
		t.Logf("client %d: states %v before RECONNECTED", i, logs[i].await(t, state.Reconnected))
		write(t, c)
	}
	awaitChange()
	lateLog.await(t, state.Reconnected)
	write(t, late)
	again, err := lock.Acquire(t.Context())
	if err != nil {
		t.Fatalf("acquire when there is a quorum again: %v", err)
	}
	if err := again.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if ending.SessionID() == sessions[1] || lasting.SessionID() != sessions[0] {
		t.Errorf("sessions %x and %x after %x", lasting.SessionID(), ending.SessionID(), sessions)
	}
}

// persistentWatch sets a watch that is to be put back on the read-only connection, and behind it.
func persistentWatch(t *testing.T, c *framework.Client) (awaitChange func()) {
	t.Helper()
	changed := make(chan framework.WatchedEvent, 10)
	watcher := framework.NewWatcher(func(_ context.Context, e framework.WatchedEvent) {
		if e.Type == framework.NodeDataChanged {
			changed <- e
		}
	})
	if err := c.Watches().Add().ForPath(t.Context(), "/data", watcher); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Error("the persistent watch was not told of the change")
		}
	}
}

// held takes a lock.
func held(t *testing.T, c *framework.Client) (*locks.InterProcessMutex, *locks.Lease) {
	t.Helper()
	mutex, err := locks.NewInterProcessMutex(c, "/lock")
	if err != nil {
		t.Fatal(err)
	}
	lease, err := mutex.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return mutex, lease
}

// wantNoLock wants a lock that is not believed in, and that cannot be taken, while there are reads
// only. Its node is deleted when there is a quorum again.
func wantNoLock(t *testing.T, mutex *locks.InterProcessMutex, lease *locks.Lease) {
	t.Helper()
	if lease.Err() == nil || mutex.IsAcquiredInThisProcess() {
		t.Errorf("lease: %v, acquired in this process: %v", lease.Err(), mutex.IsAcquiredInThisProcess())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := lease.Release(ended); !errors.Is(err, locks.ErrReleasePending) {
		t.Errorf("release: %v, want %v", err, locks.ErrReleasePending)
	}
	_, err := mutex.TryAcquire(t.Context())
	wantNotReadOnly(t, err)
	_, err = mutex.Acquire(t.Context())
	wantNotReadOnly(t, err)
}

// catchUp has a server know what the clients have seen: else it refuses them.
func catchUp(t *testing.T, m *curatortest.Member, clients []*framework.Client) {
	t.Helper()
	behind := curatortest.NewClient(t, m.ConnectString(), framework.WithoutEnsembleTracker())
	for _, c := range append(clients, behind) {
		if err := c.Sync().ForPath(t.Context(), "/"); err != nil {
			t.Fatal(err)
		}
	}
}

// wantReadsOnly wants a client that can read, and nothing else.
func wantReadsOnly(t *testing.T, c *framework.Client) {
	t.Helper()
	data, err := c.GetData().ForPath(t.Context(), "/data")
	if err != nil || string(data) != "x" || c.ConnectionState() != state.ReadOnly {
		t.Errorf("read: %q, %v, state %v", data, err, c.ConnectionState())
	}
	_, err = c.SetData().Idempotent().ForPath(t.Context(), "/data", nil)
	wantNotReadOnly(t, err)
	wantNotReadOnly(t, c.Sync().ForPath(t.Context(), "/data"))
	_, err = c.Create().WithProtection().WithMode(framework.EphemeralSequential).ForPath(t.Context(), "/a")
	wantNotReadOnly(t, err)
}

func write(t *testing.T, c *framework.Client) {
	t.Helper()
	if _, err := c.SetData().ForPath(t.Context(), "/data", nil); err != nil {
		t.Errorf("write: %v", err)
	}
}

func wantNotReadOnly(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, framework.ErrNotReadOnly) || framework.Retryable(err) {
		t.Errorf("error %v, want %v", err, framework.ErrNotReadOnly)
	}
}
