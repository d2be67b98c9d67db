package shared_test

import (
	"context"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/shared"
)

// The table of faults. A value has three states: it starts, it follows, and it sets. The tests
// of faults while it follows are TestOutages, TestFailedReads, TestMissingNode and, below,
// TestFollowing; those of the arguments and of Close are beside them.

// change is a way to set the count, which has 1, to 2.
var changes = map[string]func(ctx context.Context, c *shared.Count) error{
	"Set": func(ctx context.Context, c *shared.Count) error {
		_, err := c.Set(ctx, 2)
		return err
	},
	"TrySet": func(ctx context.Context, c *shared.Count) error {
		_, _, err := c.TrySet(ctx, c.VersionedValue(), 2)
		return err
	},
	"Update": func(ctx context.Context, c *shared.Count) error {
		_, err := c.Update(ctx, func(n int) (int, error) { return n + 1, nil })
		return err
	},
}

// onChanges runs test for every way to change a count that follows a node with 1.
func onChanges(t *testing.T, test func(e *env, change func(ctx context.Context) error)) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			onServers(t, func(e *env) {
				e.set(1)
				e.start()
				test(e, func(ctx context.Context) error { return change(ctx, e.count) })
				e.close(context.WithoutCancel(e.t.Context()))
			})
		})
	}
}

func (e *env) wantApplied(err error, maybe bool) {
	e.t.Helper()
	if err == nil || framework.MaybeApplied(err) != maybe {
		e.t.Fatalf("the error %v may have been applied: %t, want %t", err, !maybe, maybe)
	}
}

// setFaults are faults by their names.
type setFaults map[string]func(e *env, change func(ctx context.Context) error)

func (f setFaults) run(t *testing.T) {
	for name, fault := range f {
		t.Run(name, func(t *testing.T) { onChanges(t, fault) })
	}
}

func TestSetConnectionFaults(t *testing.T) {
	t.Parallel()
	setFaults{
		"before send": func(e *env, change func(ctx context.Context) error) {
			e.network.On(jute.OpSetData, suite.CutBefore, nil)
			if err := change(e.t.Context()); err != nil { // bytes may have left, as far as the client knows
				e.wantApplied(err, true)
				suite.OK(e.t, change(e.t.Context()))
			}
			e.until(2)
		},
		"reply lost": func(e *env, change func(ctx context.Context) error) {
			sent := e.network.Requests(jute.OpSetData)
			hit := e.network.On(jute.OpSetData, suite.CutAfter, nil)
			e.wantApplied(change(e.t.Context()), true)
			<-hit
			e.until(2)
			if n := e.network.Requests(jute.OpSetData) - sent; n != 1 {
				e.t.Errorf("sent %d times", n)
			}
		},
		"suspended": func(e *env, change func(ctx context.Context) error) {
			e.network.Cut()
			suite.Eventually(e.t, "the change", func() bool { return change(e.t.Context()) == nil })
			e.until(e.onServer())
		},
		"lost": func(e *env, change func(ctx context.Context) error) {
			e.network.Expire(e.t)
			suite.Eventually(e.t, "the change", func() bool { return change(e.t.Context()) == nil })
			e.until(e.onServer())
		},
	}.run(t)
}

func TestSetOtherFaults(t *testing.T) {
	setFaults{
		"node deleted": func(e *env, change func(ctx context.Context) error) {
			e.delete()
			suite.OK(e.t, change(e.t.Context()))
			there, err := e.writer.CheckExists().ForPath(e.t.Context(), e.path)
			suite.OK(e.t, err)
			if !there { // TrySet had the value of a node
				_, _, err := e.count.TrySet(e.t.Context(), shared.VersionedValue[int]{Version: -1, Zxid: -1}, 2)
				suite.OK(e.t, err)
			}
			e.until(2)
		},
		"parent deleted": func(e *env, _ func(ctx context.Context) error) {
			e.delete()
			suite.OK(e.t, e.writer.Delete().DeletingChildrenIfNeeded().ForPath(e.t.Context(), path.Dir(e.path)))
			_, err := e.count.Set(e.t.Context(), 2)
			suite.OK(e.t, err)
			if n := e.onServer(); n != 2 {
				e.t.Errorf("the server has %d", n)
			}
		},
		"ctx ends": func(e *env, change func(ctx context.Context) error) {
			ended, cancel := context.WithCancel(e.t.Context())
			cancel()
			err := change(ended)
			suite.WantErr(e.t, err, context.Canceled)
			e.wantApplied(err, false)
			heal := e.network.Isolate()
			ctx, cancel := context.WithTimeout(e.t.Context(), 20*time.Millisecond)
			defer cancel()
			err = change(ctx)
			suite.WantErr(e.t, err, context.DeadlineExceeded)
			heal()
			if n := e.onServer(); n != 1 {
				e.t.Errorf("the server has %d", n)
			}
		},
		"closed": func(e *env, change func(ctx context.Context) error) {
			e.close(e.t.Context())
			err := change(e.t.Context())
			suite.WantErr(e.t, err, framework.ErrClosed)
			e.wantApplied(err, false)
			e.wantWatches(0)
		},
		"client closed": func(e *env, change func(ctx context.Context) error) {
			suite.OK(e.t, e.client.Close(e.t.Context()))
			suite.WantErr(e.t, change(e.t.Context()), framework.ErrClosed)
		},
	}.run(t)
}

// Start reads, or creates and reads; both are repeated when a reply is lost.
func TestStartFaults(t *testing.T) {
	for name, there := range map[string]bool{"reading": true, "creating": false} {
		for _, fate := range []suite.Fate{suite.CutBefore, suite.CutAfter} {
			t.Run(name, func(t *testing.T) {
				suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
					e := newEnv(t, b)
					op, want := jute.OpGetData, 1
					if there {
						e.set(1)
					} else {
						op, want = jute.OpCreate2, seed
					}
					hit := e.network.On(op, fate, nil)
					e.start()
					<-hit
					if n := e.count.Count(); n != want || e.onServer() != want {
						t.Errorf("the count is %d, want %d", n, want)
					}
				})
			})
		}
	}
	t.Run("session lost", func(t *testing.T) {
		suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b)
			e.network.Expire(t)
			e.start()
			e.set(2)
			e.until(2)
		})
	})
	t.Run("no permission", func(t *testing.T) {
		onServers(t, func(e *env) {
			e.set(1)
			acl := framework.ACL{Perms: framework.PermAdmin, Scheme: "world", ID: "anyone"}
			suite.OK(e.t, e.setACL(acl))
			suite.WantErr(e.t, e.count.Start(e.t.Context()), framework.ErrNoAuth)
			e.wantWatches(0)
			acl.Perms = framework.PermAll
			suite.OK(e.t, e.setACL(acl))
			e.start()
		})
	})
}

func (e *env) setACL(acl framework.ACL) error {
	_, err := e.writer.SetACL().ForPath(e.t.Context(), e.path, []framework.ACL{acl})
	return err
}

func TestFollowing(t *testing.T) {
	t.Run("lagging server", func(t *testing.T) {
		onServers(t, func(e *env) {
			e.set(1)
			e.start()
			_, err := e.count.Set(e.t.Context(), 2)
			suite.OK(e.t, err)
			e.network.Lag() // the next server has read 1
			reads := e.network.Requests(jute.OpGetData)
			e.network.Cut()
			suite.Eventually(e.t, "a read", func() bool { return e.network.Requests(jute.OpGetData) > reads })
			e.untilConnected()
			e.set(3)
			e.until(3)
			suite.Eventually(e.t, "the listener", func() bool {
				e.mu.Lock()
				defer e.mu.Unlock()
				return slices.Contains(e.told, 3)
			})
			e.mu.Lock()
			defer e.mu.Unlock()
			for _, n := range e.told[1:] {
				if n == 1 {
					e.t.Errorf("told of %v: the value went back", e.told)
				}
			}
		})
	})
	t.Run("parent deleted", func(t *testing.T) {
		onServers(t, func(e *env) {
			e.set(1)
			e.start()
			e.delete()
			suite.OK(e.t, e.writer.Delete().DeletingChildrenIfNeeded().ForPath(e.t.Context(), path.Dir(e.path)))
			e.set(2)
			e.until(2)
		})
	})
	t.Run("closed with an ended context while cut off", func(t *testing.T) {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b)
			e.set(1)
			e.start()
			heal := e.network.Isolate()
			ended, cancel := context.WithCancel(e.t.Context())
			cancel()
			begin := time.Now()
			e.close(ended)
			if d := time.Since(begin); d > 2*time.Second {
				e.t.Errorf("Close took %v", d)
			}
			heal()
			if n := e.count.Count(); n != 1 {
				e.t.Errorf("the count is %d", n)
			}
		})
	})
}
