package latch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// calls are the calls on a latch that is set or not, and the requests that each sends.
var calls = map[string]struct {
	set      bool // before the call
	do       func(user, context.Context) error
	after    bool // set after the call
	requests []string
}{
	"Set":                      {false, user.doSet, true, []string{"getChildren", "create"}},
	"Set of one that is set":   {true, user.doSet, true, []string{"getChildren", "create", "delete"}},
	"Reset":                    {false, user.doReset, false, []string{"sync", "getChildren"}},
	"Reset of one that is set": {true, user.doReset, false, []string{"sync", "getChildren", "delete"}},
	"Wait for one that is set": {true, user.doWait, true, []string{"sync", "getChildren"}},
}

func (u user) doSet(ctx context.Context) error   { return u.Set(ctx) }
func (u user) doReset(ctx context.Context) error { return u.Reset(ctx) }
func (u user) doWait(ctx context.Context) error  { return u.Wait(ctx) }

// A request is lost before the server, once or twice, or behind it, or its session ends behind it. The call
// succeeds.
func TestRequestIsLost(t *testing.T) {
	for name, call := range calls {
		for _, request := range call.requests {
			for fate, rule := range map[string]curatortest.Rule{
				"before": {Do: curatortest.CutBefore()}, "twice": {Do: curatortest.CutBefore(), Times: 2},
				"after": {Do: curatortest.CutAfter()}, "with the session": {Do: curatortest.Delay(time.Minute)},
			} {
				t.Run(name+", "+request+" "+fate, func(t *testing.T) {
					virtual(t, func(e *env) {
						u, other := e.user(), e.user()
						e.set(other)
						if !call.set {
							e.reset(other)
						}
						session := u.client.SessionID()
						rule.Op, rule.SessionID = request, session
						hit := e.server.Inject(rule)
						ended := make(chan error, 1)
						go func() { ended <- call.do(u, e.Context()) }()
						synctest.Wait()
						if fate == "with the session" {
							e.server.ExpireSession(session)
						}
						e.wantPassed(ended)
						if !hit() {
							e.Errorf("no %s was lost", request)
						}
						e.wantSet(call.after)
					})
				})
			}
		}
	}
}

// A waiter makes the directory, although a create of it is lost.
func TestDirectoryIsMade(t *testing.T) {
	for name, fate := range map[string]curatortest.Fate{"before": curatortest.CutBefore(), "after": curatortest.CutAfter()} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(e *env) {
				u, other := e.user(), e.user()
				hit := e.server.Inject(curatortest.Rule{Op: "create", Times: 2, Do: fate})
				ended := u.waits(e.Context())
				e.wantWaiting(ended)
				if !hit() {
					e.Error("no create was lost")
				}
				e.set(other)
				e.wantPassed(ended)
			})
		})
	}
}

// The reply to the create comes too late. The client deletes what the Set has left, and another Set, which
// has seen that child, holds.
func TestSetFails(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(u user, cancel context.CancelFunc)
		want  error
		again bool // somebody else sets the latch meanwhile
	}{
		"alone":               {func(_ user, cancel context.CancelFunc) { cancel() }, context.Canceled, false},
		"beside another Set":  {func(_ user, cancel context.CancelFunc) { cancel() }, context.Canceled, true},
		"closed":              {func(u user, _ context.CancelFunc) { u.Close() }, framework.ErrClosed, false},
		"closed, another Set": {func(u user, _ context.CancelFunc) { u.Close() }, framework.ErrClosed, true},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(e *env) {
				u, other := e.user(), e.user()
				e.server.Inject(curatortest.Rule{Op: "create", Path: "/latches/**", SessionID: u.client.SessionID(), Do: curatortest.Delay(10 * time.Second)})
				e.reset(other) // the directory is there
				waits := other.waits(e.Context())
				ctx, cancel := context.WithCancel(e.Context())
				defer cancel()
				ended := make(chan error, 1)
				go func() { ended <- u.Set(ctx) }()
				synctest.Wait()
				c.end(u, cancel)
				if err := <-ended; !errors.Is(err, c.want) || !framework.MaybeApplied(err) {
					e.Errorf("set: %v, want %v", err, c.want)
				}
				e.wantPassed(waits) // it was set for a moment
				if c.again {
					e.set(other)
				}
				time.Sleep(time.Minute)
				e.wantSet(c.again)
			})
		})
	}
}

// The client's retry policy gives up a write. What the call has begun is undone or finished in the background.
func TestPolicyGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		set     bool
		do      func(user, context.Context) error
		request string
		fate    curatortest.Fate
	}{
		"Set, before":   {false, user.doSet, "create", curatortest.CutBefore()},
		"Set, after":    {false, user.doSet, "create", curatortest.CutAfter()},
		"Reset, before": {true, user.doReset, "delete", curatortest.CutBefore()},
		"Reset, after":  {true, user.doReset, "delete", curatortest.CutAfter()},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(e *env) {
				u, other := e.user(), e.user()
				e.reset(other)
				if c.set {
					e.set(other)
				}
				hit := e.server.Inject(curatortest.Rule{Op: c.request, SessionID: u.client.SessionID(), Do: c.fate})
				accept := e.server.Refuse()
				err := c.do(u, e.Context())
				if !hit() || !errors.Is(err, framework.ErrConnectionLoss) || !framework.MaybeApplied(err) {
					e.Errorf("%v", err)
				}
				accept()
				time.Sleep(time.Minute)
				e.wantSet(false)
			})
		})
	}
}

// cutOff begins a Reset whose delete is lost, and lets the client have no other connection.
func (e *env) cutOff(ctx context.Context, u user) (ended <-chan error, accept func()) {
	e.Helper()
	hit := e.server.Inject(curatortest.Rule{Op: "delete", SessionID: u.client.SessionID(), Do: curatortest.CutBefore()})
	accept = e.server.Refuse()
	done := make(chan error, 1)
	go func() { done <- u.Reset(ctx) }()
	synctest.Wait()
	if !hit() {
		e.Fatal("no delete was lost")
	}
	return done, accept
}

// The delete of a Reset that has failed comes late. It does not reset what was set since.
func TestLateDelete(t *testing.T) {
	virtual(t, func(e *env) {
		u, other := e.user(), e.user()
		e.set(other)
		ctx, cancel := context.WithTimeout(e.Context(), time.Second)
		defer cancel()
		ended, accept := e.cutOff(ctx, u)
		e.wantEnded(context.DeadlineExceeded, ended)
		if n := u.client.PendingRemovals(); n != 1 {
			e.Errorf("%d deletes in the background", n)
		}
		e.reset(other)
		e.set(other)
		accept()
		time.Sleep(time.Minute)
		if n := u.client.PendingRemovals(); n != 0 {
			e.Errorf("%d deletes in the background at the end", n)
		}
		e.wantSet(true)
	})
}

// Close ends a Reset, whose delete goes on.
func TestCloseWithinReset(t *testing.T) {
	virtual(t, func(e *env) {
		u, other := e.user(), e.user()
		e.set(other)
		ended, accept := e.cutOff(e.Context(), u)
		u.Close()
		e.wantEnded(framework.ErrClosed, ended)
		accept()
		time.Sleep(time.Minute)
		e.wantSet(false)
	})
}

// An error of the server ends each call, a Wait that sleeps included.
func TestRefused(t *testing.T) {
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(e *env) {
				u := e.user()
				if call.set {
					e.set(u)
				}
				e.server.Inject(curatortest.Rule{Op: "getChildren", SessionID: u.client.SessionID(), Do: curatortest.Fail(framework.ErrNoAuth)})
				if err := call.do(u, e.Context()); !errors.Is(err, framework.ErrNoAuth) {
					e.Errorf("%v", err)
				}
				e.wantWatches(0)
			})
		})
	}
	virtual(t, func(e *env) {
		u := e.user()
		ended := u.waits(e.Context())
		e.server.Inject(curatortest.Rule{Op: "getChildren", Do: curatortest.Fail(framework.ErrNoAuth)})
		e.server.Disconnect()
		e.wantEnded(framework.ErrNoAuth, ended)
	})
}

// Between the read of a call and its write another client deletes what the call has read.
func TestDeletedMeanwhile(t *testing.T) {
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(e *env) {
				u, other := e.user(), e.user()
				e.set(other)
				if !call.set {
					e.reset(other)
				}
				hit := e.server.Inject(curatortest.Rule{Op: "getChildren", SessionID: u.client.SessionID(), Do: curatortest.Delay(time.Second)})
				ended := make(chan error, 1)
				go func() { ended <- call.do(u, e.Context()) }()
				synctest.Wait()
				if err := other.client.Delete().DeletingChildrenIfNeeded().ForPath(e.Context(), dir); err != nil {
					e.Error(err)
				}
				e.wantPassed(ended)
				if !hit() {
					e.Error("nothing was read")
				}
			})
		})
	}
}

// The server refuses one delete. A Set does not need it, and a Reset goes on with the others.
func TestDeleteIsRefused(t *testing.T) {
	virtual(t, func(e *env) {
		u := e.user()
		refuse := func() {
			e.server.Inject(curatortest.Rule{Op: "delete", SessionID: u.client.SessionID(), Do: curatortest.Fail(framework.ErrNoAuth)})
		}
		e.set(u)
		refuse()
		e.set(u)
		if n := len(e.server.Children(dir)); n != 2 {
			e.Errorf("%d children", n)
		}
		refuse()
		if err := u.Reset(e.Context()); !errors.Is(err, framework.ErrNoAuth) {
			e.Errorf("reset: %v", err)
		}
		if n := len(e.server.Children(dir)); n != 1 {
			e.Errorf("%d children after a Reset that failed", n)
		}
		e.wantSet(true)
		e.reset(u)
		e.wantSet(false)
	})
}

// An operator deletes the directory while somebody waits, and it is made again.
func TestDirectoryIsDeleted(t *testing.T) {
	virtual(t, func(e *env) {
		u, operator := e.user(), e.user()
		ended := u.waits(e.Context())
		if err := operator.client.Delete().ForPath(e.Context(), dir); err != nil {
			e.Fatal(err)
		}
		e.wantWaiting(ended)
		e.wantWatches(1)
		e.set(operator)
		e.wantPassed(ended)
	})
}
