package locks_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/state"
)

// pendingCalls are operations that wait for their answers while a lease is held.
var pendingCalls = map[string]func(ctx context.Context, c *framework.Client, path string) error{
	"setData": func(ctx context.Context, c *framework.Client, path string) error {
		_, err := c.SetData().ForPath(ctx, path, []byte("x"))
		return err
	},
	"in the background": func(ctx context.Context, c *framework.Client, path string) error {
		done := make(chan error, 1)
		err := c.SetData().InBackground(ctx, path, nil, func(_ context.Context, _ framework.Stat, err error) { done <- err })
		if err != nil {
			return err
		}
		return <-done
	},
	"transaction": func(ctx context.Context, c *framework.Client, path string) error {
		_, err := c.Transaction().ForOperations(ctx, c.TransactionOp().SetData().ForPath(path, []byte("x")))
		return err
	},
}

// When an operation fails with its connection, the leases of the client have ended by then, so a user's
// function that gets the error does not believe in its lock.
func TestLeasesEndBeforeCallsFail(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		path := f.b.Path("written")
		suite.Got(f.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), path)).OK(t)
		failed := 0
		for range 10 {
			lease := f.take()
			var wg sync.WaitGroup
			var mu sync.Mutex
			f.network.On(jute.OpSetData, suite.CutBefore, nil)
			for range 3 {
				for name, call := range pendingCalls {
					wg.Go(func() {
						err := call(t.Context(), f.client, path)
						ended, told := lease.Context().Err(), lease.Err()
						mu.Lock()
						defer mu.Unlock()
						if err == nil {
							return // behind the reconnect
						}
						if failed++; ended == nil || told == nil {
							t.Errorf("%s: %v, and the lease is believed: its context has ended with %v, its error is %v", name, err, ended, told)
						}
					})
				}
			}
			wg.Wait()
			_ = lease.Release(t.Context()) // it is lost
		}
		if failed < 10 {
			t.Errorf("only %d calls have failed", failed)
		}
	})
}

// An operation that another session has served comes behind the end of the leases of the first one.
func TestLeasesEndBeforeTheNextSession(t *testing.T) {
	t.Parallel()
	onBackends(t, withRealServer, func(t *testing.T, e *env) {
		for range 5 {
			lease, session := e.acquire(e.mutex), e.client.SessionID()
			e.network.Expire(t)
			var calls sync.WaitGroup
			for range 8 {
				calls.Go(func() {
					for {
						_, err := e.client.CheckExists().ForPath(t.Context(), "/")
						if id := e.client.SessionID(); id != 0 && id != session {
							if lease.Context().Err() == nil || lease.Err() == nil {
								t.Errorf("the session is 0x%x, an operation returned %v, and the lease is believed", id, err)
							}
							return
						}
					}
				})
			}
			calls.Wait()
			_ = lease.Release(t.Context()) // it is lost
		}
	}, sessionPolicy)
}

// A call that Close refuses comes behind the end of the leases, too.
func TestLeasesEndBeforeCloseRefuses(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		for range 20 {
			e := newEnv(t, b)
			lease := e.acquire(e.mutex)
			var calls sync.WaitGroup
			for range 8 {
				calls.Go(func() {
					for {
						if _, err := e.client.CheckExists().ForPath(t.Context(), "/"); err != nil {
							suite.CheckErr(t, err, framework.ErrClosed)
							if ended := lease.Context().Err(); ended == nil {
								t.Error("the client is closed, and the lease is believed")
							}
							return
						}
					}
				})
			}
			suite.OK(t, e.client.Close(t.Context()))
			calls.Wait()
			_ = lease.Release(t.Context()) // it is lost
		}
	})
}

// What a user has called because of a loss may wait for calls of the same client, also for those that are just
// failing: functions of the lease's context, listeners for the connection's state, and the log.
func TestFunctionsCalledAtALossMayWaitForCalls(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		var asking sync.WaitGroup
		var answered atomic.Int32
		var client atomic.Pointer[framework.Client]
		ask := func() {
			if _, err := client.Load().CheckExists().ForPath(context.WithoutCancel(t.Context()), "/"); err != nil {
				t.Error(err)
			}
			answered.Add(1)
		}
		e := newEnv(t, b, framework.WithLogger(slog.New(asksFirst{slog.DiscardHandler, ask})))
		path := b.Path("written")
		suite.Got(e.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), path)).OK(t)
		client.Store(e.client)
		remove := e.client.ConnectionStateListenable().Add(func(context.Context, state.ConnectionState) { ask() })
		defer remove()
		for range 20 {
			lease := e.acquire(e.mutex)
			failed := make(chan error, 1)
			asking.Add(1)
			context.AfterFunc(lease.Context(), func() {
				defer asking.Done()
				<-failed
				ask()
			})
			e.network.On(jute.OpSetData, suite.CutBefore, nil)
			_, err := e.client.SetData().ForPath(t.Context(), path, []byte("x"))
			failed <- err
			suite.WantErr(t, err, framework.ErrConnectionLoss)
			_ = lease.Release(t.Context()) // it is lost
		}
		asking.Wait()
		suite.Eventually(t, "the answers to all calls", func() bool {
			return answered.Load() >= 4*20 // SUSPENDED, RECONNECTED, the context, the log
		})
	})
}

// asksFirst is a log handler that does something first when a lock is lost.
type asksFirst struct {
	slog.Handler
	first func()
}

func (h asksFirst) Enabled(context.Context, slog.Level) bool { return true }

func (h asksFirst) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "lock lost" {
		h.first()
	}
	return h.Handler.Handle(ctx, r)
}
