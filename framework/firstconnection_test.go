package framework_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// late is a client whose server cannot be reached before the test opens the way.
type late struct {
	*testing.T
	client  *framework.Client
	network *suite.Network
	path    string
	open    atomic.Bool

	mu   sync.Mutex
	told []state.ConnectionState
}

// lateClient starts a client that waits so long for a connection, and does not retry.
func lateClient(t *testing.T, b *suite.Backend, connectionTimeout time.Duration, opts ...framework.Option) *late {
	t.Helper()
	_, network := b.Client(t)
	l := &late{T: t, path: b.Path("x"), network: network}
	var err error
	opts = append([]framework.Option{framework.WithDialer(l.dialLate), framework.WithSessionTimeout(suite.SessionTimeout),
		framework.WithConnectionTimeout(connectionTimeout), framework.WithoutEnsembleTracker()}, opts...)
	l.client, err = framework.NewClient(b.ConnectString(), retry.None(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	l.client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.told = append(l.told, s)
	})
	if err := l.client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := l.client.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *late) dialLate(ctx context.Context, network, address string) (net.Conn, error) {
	if !l.open.Load() {
		return nil, syscall.ECONNREFUSED
	}
	return l.network.Dial(ctx, network, address)
}

// want waits until the listener was told these states since the start, and nothing else.
func (l *late) want(what string, want ...state.ConnectionState) {
	l.Helper()
	var told []state.ConnectionState
	suite.Eventually(l.T, what, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		told = slices.Clone(l.told)
		return len(told) >= len(want)
	})
	if !slices.Equal(told, want) {
		l.Fatalf("%s: the listener was told %v, want %v", what, told, want)
	}
}

// exists asks for a node, in the foreground.
func (l *late) exists(ctx context.Context) error {
	_, err := l.client.CheckExists().ForPath(ctx, l.path)
	return err
}

// The first failure says SUSPENDED, a second one says nothing more, and the first connection is
// CONNECTED.
func TestFirstConnectionIsLate(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		l := lateClient(t, b, 50*time.Millisecond)
		if s := l.client.ConnectionState(); s != 0 {
			t.Errorf("at first the state is %v", s)
		}
		for range 2 {
			if err := l.exists(t.Context()); !errors.Is(err, framework.ErrConnectionLoss) || framework.MaybeApplied(err) {
				t.Fatal(err)
			}
			l.want("after a failure", state.Suspended)
		}
		if s := l.client.ConnectionState(); s != state.Suspended || l.client.SessionID() != 0 {
			t.Errorf("state %v, session %x", s, l.client.SessionID())
		}
		l.open.Store(true)
		if err := l.client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.exists(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.want("connected", state.Suspended, state.Connected)
	})
}

// A server that comes up while the first operation still waits is CONNECTED, and nothing else.
func TestFirstConnectionIsAwaited(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		l := lateClient(t, b, 20*time.Second)
		done := make(chan error, 1)
		err := l.client.CheckExists().InBackground(t.Context(), l.path, func(_ context.Context, _ bool, err error) { done <- err })
		if err != nil {
			t.Fatal(err)
		}
		l.open.Store(true)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		l.want("connected", state.Connected)
	})
}

// Which failures tell the listeners that there is no connection.
func TestFailuresBeforeTheFirstConnection(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, tt := range map[string]struct {
		fail func(l *late) error // returns an error if the operation did not fail as it should
		told bool
	}{
		"the connection timeout": {func(l *late) error { return wantLoss(l.exists(l.Context())) }, true},
		"the deadline of the context": {func(l *late) error {
			ctx, cancel := context.WithTimeout(l.Context(), time.Millisecond)
			defer cancel()
			return wantError(l.exists(ctx), context.DeadlineExceeded)
		}, true},
		"a context that is cancelled": {func(l *late) error { return wantError(l.exists(ended), context.Canceled) }, false},
		"in the background": {func(l *late) error {
			done := make(chan error, 1)
			err := l.client.Delete().InBackground(l.Context(), l.path, func(_ context.Context, err error) { done <- err })
			return errors.Join(err, wantLoss(<-done))
		}, true},
		"a write": {func(l *late) error {
			_, err := l.client.Create().WithProtection().ForPath(l.Context(), l.path)
			return wantLoss(err)
		}, true},
		"a transaction": {func(l *late) error {
			_, err := l.client.Transaction().ForOperations(l.Context(), l.client.TransactionOp().Delete().ForPath(l.path))
			return wantLoss(err)
		}, true},
		"a batch": {func(l *late) error {
			_, err := l.client.Batch().ForOperations(l.Context(), l.client.TransactionOp().Delete().ForPath(l.path))
			return wantLoss(err)
		}, true},
		"a recipe": {func(l *late) error {
			return wantLoss(zkclient.Of(l.client).Retry(l.Context(), "look", l.path, func(ctx context.Context, conn *zkconn.Conn) error {
				_, err := conn.Connected(ctx)
				return err
			}))
		}, true},
		"bad input": {func(l *late) error {
			_, err := l.client.CheckExists().ForPath(l.Context(), "relative")
			return wantError(err, framework.ErrInvalidPath)
		}, false},
		"BlockUntilConnected": {func(l *late) error {
			ctx, cancel := context.WithTimeout(l.Context(), time.Second)
			defer cancel()
			return wantError(l.client.BlockUntilConnected(ctx), context.DeadlineExceeded)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				l := lateClient(t, b, time.Second)
				if err := tt.fail(l); err != nil {
					t.Fatal(err)
				}
				var want []state.ConnectionState
				if tt.told {
					want = append(want, state.Suspended, state.Lost)
				}
				time.Sleep(10 * suite.SessionTimeout)
				l.want("10 session timeouts later", want...)
				l.open.Store(true)
				if err := l.client.BlockUntilConnected(t.Context()); err != nil {
					t.Fatal(err)
				}
				l.want("connected", append(want, state.Connected)...)
			})
		})
	}
}

// A client that is never connected becomes LOST one session timeout after SUSPENDED, stays so, and is
// CONNECTED at last. Recipes are told of no loss, because nothing is held.
func TestNeverConnected(t *testing.T) {
	t.Parallel()
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		l := lateClient(t, b, 50*time.Millisecond)
		remove := zkclient.Of(l.client).OnLoss("", func(loss zkclient.Loss) {
			if loss.Kind != zkclient.LossClosed {
				t.Errorf("a loss of kind %v was told", loss.Kind)
			}
		})
		if err := wantLoss(l.exists(t.Context())); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		l.want("after a failure", state.Suspended)
		suite.Eventually(t, "LOST", func() bool { return l.client.ConnectionState() == state.Lost })
		if waited := time.Since(began); b.Virtual && (waited < suite.SessionTimeout || waited > suite.SessionTimeout*3/2) {
			t.Errorf("LOST came %v after SUSPENDED", waited)
		}
		l.want("later", state.Suspended, state.Lost)
		if b.Virtual {
			time.Sleep(time.Hour)
		}
		if err := wantLoss(l.exists(t.Context())); err != nil {
			t.Fatal(err)
		}
		if id, timeout := l.client.SessionID(), l.client.SessionTimeout(); id != 0 || timeout != 0 {
			t.Errorf("session %x of %v", id, timeout)
		}
		l.open.Store(true)
		if err := l.client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		told := []state.ConnectionState{state.Suspended, state.Lost, state.Connected}
		l.want("connected", told...)
		remove()
		if !b.Virtual {
			return
		}
		time.Sleep(suite.SessionTimeout) // behind one that was lost at once the pause may be as long as the session lives
		l.network.Cut()
		l.want("cut", append(told, state.Suspended, state.Reconnected)...)
	})
}

// When LOST comes, to the millisecond, and that it does not if a server comes before. Attempts to connect
// are up to 2 s apart.
func TestWhenLostComesBeforeTheFirstConnection(t *testing.T) {
	for name, c := range map[string]struct {
		percent int
		open    time.Duration // after SUSPENDED
		lost    bool
	}{
		"in time":              {100, 55 * time.Second, false},
		"too late":             {100, time.Minute + time.Millisecond, true},
		"in time of a part":    {50, 25 * time.Second, false},
		"too late of a part":   {50, 30*time.Second + time.Millisecond, true},
		"never before failure": {100, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				l := lateClient(t, b, 50*time.Millisecond, framework.WithSessionTimeout(time.Minute),
					framework.WithSimulatedSessionExpirationPercent(c.percent))
				time.Sleep(10 * time.Minute) // without an operation there is no state
				l.want("before an operation")
				var want []state.ConnectionState
				if c.open > 0 {
					if err := wantLoss(l.exists(t.Context())); err != nil {
						t.Fatal(err)
					}
					want = append(want, state.Suspended)
				}
				time.Sleep(c.open)
				if c.lost {
					want = append(want, state.Lost)
				}
				l.want("before the server", want...)
				l.open.Store(true)
				if err := l.client.BlockUntilConnected(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * suite.SessionTimeout)
				l.want("connected", append(want, state.Connected)...)
			})
		})
	}
}

// wantLoss is wantError for an operation that waited for a connection in vain.
func wantLoss(err error) error { return wantError(err, framework.ErrConnectionLoss) }

// wantError returns nil if err matches want.
func wantError(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return errors.Join(errors.New("another error than expected"), err)
}

// Once there was a connection its end says SUSPENDED, not a failed operation, and CONNECTED does not
// come again.
func TestStatesAfterTheFirstConnection(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		l := lateClient(t, b, time.Second)
		if err := wantLoss(l.exists(t.Context())); err != nil {
			t.Fatal(err)
		}
		l.open.Store(true)
		if err := l.client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		told := []state.ConnectionState{state.Suspended, state.Connected}
		l.want("connected", told...)
		l.open.Store(false)
		l.network.Cut()
		told = append(told, state.Suspended)
		l.want("cut", told...)
		time.Sleep(10 * suite.SessionTimeout)
		if err := wantLoss(l.exists(t.Context())); err != nil {
			t.Fatal(err)
		}
		told = append(told, state.Lost)
		l.want("after another failure", told...)
		l.open.Store(true)
		if err := l.client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.want("connected again", append(told, state.Reconnected)...)
	})
}

// The first connection can be quicker than Start. A listener can use the client all the same.
func TestFirstConnectionIsQuickerThanStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client, err := framework.NewClient(server.ConnectString(), retry.None(), framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 10)
		client.ConnectionStateListenable().Add(func(ctx context.Context, _ state.ConnectionState) {
			_, err := client.CheckExists().ForPath(ctx, "/")
			got <- err
		})
		go client.OnEvent(zkconn.Event{Kind: zkconn.StateChanged, State: state.Connected})
		synctest.Wait()
		if err := client.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
