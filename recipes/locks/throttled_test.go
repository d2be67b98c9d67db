package locks_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// throttled is an answer that passes with time.
type throttled struct{}

func (throttled) Error() string { return "throttled" }
func (throttled) Code() int32   { return jute.CodeThrottledOp }

// A delete that the server puts off is tried again: its node would block all others.
func TestReleaseIsThrottled(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client := s.Client(t)
		mutex := suite.Got(locks.NewInterProcessMutex(client, "/lock")).OK(t)
		lease := suite.Got(mutex.Acquire(t.Context())).OK(t)
		hit := s.Inject(curatortest.Rule{Op: "delete", Times: 3, Do: curatortest.Fail(throttled{})})
		if err := lease.Release(t.Context()); err != nil || !hit() {
			t.Fatal(err, hit())
		}
		time.Sleep(time.Second)
		wantQueue(t, s, 0)
	})
}

// A watch that the server puts off is set later, as the client's retry policy has it: nobody loses
// his place for that.
func TestWatchIsThrottled(t *testing.T) {
	for name, c := range map[string]struct {
		op   string
		late bool // when it waits already
		lock func(t *testing.T, client *framework.Client) (locks.InterProcessLock, error)
	}{
		"together": {"setWatches", false, func(t *testing.T, client *framework.Client) (locks.InterProcessLock, error) {
			return locks.NewInterProcessMutex(client, "/lock")
		}},
		"each": {"getData", false, func(t *testing.T, client *framework.Client) (locks.InterProcessLock, error) {
			return locks.NewInterProcessMutex(client, "/lock", locks.WithPlainProtocol())
		}},
		"of the leases": {"getChildren", false, func(t *testing.T, client *framework.Client) (locks.InterProcessLock, error) {
			return locks.NewInterProcessSemaphoreMutex(client, "/lock")
		}},
		"of the mutex before the leases": {"getData", false, func(t *testing.T, client *framework.Client) (locks.InterProcessLock, error) {
			return locks.NewInterProcessSemaphoreMutex(client, "/lock")
		}},
		"read after a long wait": {"getData", true, func(t *testing.T, client *framework.Client) (locks.InterProcessLock, error) {
			return locks.NewInterProcessMutex(client, "/lock")
		}},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			open := func(client *framework.Client) locks.InterProcessLock {
				return suite.Got(c.lock(t, client)).OK(t)
			}
			holder := enqueue(t, s, open)
			time.Sleep(time.Second) // its own node is watched
			rule := curatortest.Rule{Op: c.op, Times: 3, Do: curatortest.Fail(throttled{})}
			var hit func() bool
			if !c.late {
				hit = s.Inject(rule)
			}
			waiter := enqueue(t, s, open)
			if c.late {
				hit = s.Inject(rule)
			}
			time.Sleep(time.Minute)
			if waiter.in() || !hit() {
				t.Fatal("let in, or not put off")
			}
			holder.release()
			waiter.release()
		})
	}
}
