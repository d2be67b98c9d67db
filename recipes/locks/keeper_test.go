package locks_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
)

// keeperKinds are locks of each kind that has a lease, at one path.
var keeperKinds = map[string]func(client *framework.Client, path string) (locks.InterProcessLock, error){
	"mutex": func(c *framework.Client, path string) (locks.InterProcessLock, error) {
		return locks.NewInterProcessMutex(c, path)
	},
	"semaphore mutex": func(c *framework.Client, path string) (locks.InterProcessLock, error) {
		return locks.NewInterProcessSemaphoreMutex(c, path)
	},
	"write lock": func(c *framework.Client, path string) (locks.InterProcessLock, error) {
		rw, err := locks.NewInterProcessReadWriteLock(c, path)
		if err != nil {
			return nil, err
		}
		return rw.WriteLock(), nil
	},
}

// Another session is granted on a reconnect, and nobody says that the old one is over: the lease ends, with the states of an
// expiration, before anybody else is let in. That is not before the old session has ended at the server.
func TestKeeperEndsLeases(t *testing.T) {
	for name, lock := range keeperKinds {
		t.Run(name, func(t *testing.T) {
			suite.Keeper(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b, sessionPolicy)
				var mu sync.Mutex
				var states []state.ConnectionState
				defer e.client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
					mu.Lock()
					defer mu.Unlock()
					states = append(states, s)
				})()
				mine := suite.Got(lock(e.client, e.path)).OK(t)
				other, _ := b.Client(t)
				others := suite.Got(lock(other, e.path)).OK(t)
				lease := suite.Got(mine.Acquire(t.Context())).OK(t)
				waiter := e.queue(t.Context(), others, 2)
				time.Sleep(suite.SessionTimeout)
				synctest.Wait()
				old := e.client.SessionID()
				cut := time.Now()
				b.Server().DisconnectSession(old)
				e.lost(lease, locks.LossSessionExpired)
				if took := time.Since(cut); took > time.Second {
					t.Errorf("the lease has ended %v after the connection", took)
				}
				e.waiting(waiter)
				if now := e.client.SessionID(); now == old {
					t.Fatalf("session %d is believed in", now)
				}
				again := e.start(t.Context(), mine)
				held := e.granted(waiter)
				if took := time.Since(cut); took < suite.SessionTimeout*2/3 {
					t.Errorf("another one was let in after %v, while the old session has its node", took)
				}
				e.waiting(again)
				suite.OK(t, held.Release(t.Context()))
				suite.OK(t, e.granted(again).Release(t.Context()))
				suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
				mu.Lock()
				defer mu.Unlock()
				if want := []state.ConnectionState{state.Suspended, state.Lost, state.Reconnected}; !slices.Equal(states[len(states)-3:], want) {
					t.Errorf("states %v, want %v at the end", states, want)
				}
			})
		})
	}
}

// A contender that waits gets another session, too: it queues again, behind its own old node, which is deleted.
func TestKeeperMovesContenders(t *testing.T) {
	suite.Keeper(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, sessionPolicy)
		held := e.acquire(e.other())
		waiter := e.queue(t.Context(), e.mutex, 2)
		for range 3 {
			b.Server().DisconnectSession(e.client.SessionID())
			time.Sleep(time.Second / 4)
			synctest.Wait()
		}
		e.waiting(waiter)
		e.release(held)
		lease := e.granted(waiter)
		if lease.Err() != nil {
			t.Fatal(lease.Err())
		}
		e.release(lease)
	})
}
