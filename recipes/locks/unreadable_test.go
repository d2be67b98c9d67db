package locks_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// lockNodes gives the nodes of contenders an ACL of their own.
type lockNodes []framework.ACL

func (a lockNodes) ACLForPath(path string) []framework.ACL {
	if strings.Contains(path, "lock-") {
		return a
	}
	return framework.OpenACLUnsafe()
}

// private returns a client whose nodes nobody else may read.
func private(t *testing.T, b *suite.Backend, user string) *framework.Client {
	t.Helper()
	client, _ := b.Client(t, framework.WithAuthorization("digest", []byte(user)),
		framework.WithACLProvider(lockNodes(framework.CreatorAllACL())))
	return client
}

// A waiter that must not read the node ahead of it, and would not hear that it has gone, is told
// so: at once if it is as secretive itself, else when the wait has lasted for a while.
func TestUnreadablePredecessor(t *testing.T) {
	onBackends(t, withRealServer, func(t *testing.T, e *env) {
		holder := e.acquire(e.lock(private(t, e.b, "holder:a")))
		waiters := map[string]*framework.Client{"private": private(t, e.b, "waiter:b")}
		if e.b.Virtual { // the while is ten seconds
			waiters["open"] = e.client
		}
		for name, waiter := range waiters {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_, err := e.lock(waiter).Acquire(ctx)
			if ctx.Err() != nil {
				t.Errorf("%s: waited on", name)
			}
			suite.WantErr(t, err, framework.ErrNoAuth)
		}
		e.wantNodes(1)
		e.release(holder)
	})
}

// A waiter that must not read its own node would not hear that it has gone, and a marker would
// let it in all the same.
func TestUnreadableOwnNode(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		first := enqueue(t, s, virtualMutex(t))
		holder := enqueue(t, s, virtualMutex(t))
		first.release()
		if !holder.in() {
			t.Fatal("the second is not in")
		}
		admin := framework.ACL{Perms: framework.PermRead, Scheme: "digest", ID: "admin:RB3ulR0Dd8Rq5vnlfXyZ5Xrmk+g="}
		client := s.Client(t, framework.WithACLProvider(lockNodes{admin}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		suite.Got(mutexOf(t, client).Acquire(ctx)).Fails(t, framework.ErrNoAuth)
		synctest.Wait()
		wantQueue(t, s, 1)
		holder.release()
	})
}
