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

func TestSetAndReset(t *testing.T) {
	virtual(t, func(e *env) {
		setter, first, second := e.user(), e.user(), e.user()
		for range 3 {
			a, b, c := first.waits(e.Context()), second.waits(e.Context()), second.waits(e.Context())
			e.wantWaiting(a, b, c)
			e.wantWatches(2)
			e.set(setter)
			e.wantPassed(a, b, c)
			e.wantSet(true)
			e.reset(first)
			e.wantSet(false)
			e.wantWatches(0)
		}
	})
}

// A Set does not rely on the child of another one, and leaves one child.
func TestSetTwice(t *testing.T) {
	virtual(t, func(e *env) {
		first, second := e.user(), e.user()
		e.set(first)
		before := e.server.Children(dir)
		e.set(second)
		after := e.server.Children(dir)
		if len(before) != 1 || len(after) != 1 || before[0] == after[0] {
			e.Errorf("children %q, then %q", before, after)
		}
		e.reset(first)
		e.reset(first)
		e.wantSet(false)
	})
}

// A latch that is reset at once lets those in who wait, also those that were cut off meanwhile: in the
// session that they had, and in a new one.
func TestPulse(t *testing.T) {
	for name, cut := range map[string]time.Duration{"the same session": 10 * time.Second, "a new session": time.Hour} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(e *env) {
				setter, near, far := e.user(), e.user(), e.user()
				a, b := near.waits(e.Context()), far.waits(e.Context())
				session := far.client.SessionID()
				heal := e.server.PartitionSession(session, curatortest.Both)
				e.set(setter)
				e.reset(setter)
				e.wantPassed(a)
				e.wantNone(b)
				time.Sleep(cut)
				heal()
				e.wantPassed(b)
				if kept := far.client.SessionID() == session; kept != (cut < time.Hour) {
					e.Errorf("kept the session: %t", kept)
				}
				e.wantWatches(0)
				e.wantSet(false)
			})
		})
	}
}

// A latch that was set and reset before a Wait does not count for it.
func TestPulseBeforeTheWait(t *testing.T) {
	virtual(t, func(e *env) {
		setter, u := e.user(), e.user()
		e.set(setter)
		e.reset(setter)
		ended := u.waits(e.Context())
		e.wantWaiting(ended)
		e.server.Disconnect()
		e.wantWaiting(ended)
		e.set(setter)
		e.wantPassed(ended)
	})
}

func TestReconnect(t *testing.T) {
	virtual(t, func(e *env) {
		setter, u := e.user(), e.user()
		ended := u.waits(e.Context())
		session := u.client.SessionID()
		e.server.DisconnectSession(session)
		e.wantWaiting(ended)
		e.wantWatches(1)
		if u.client.SessionID() != session {
			e.Error("another session")
		}
		e.set(setter)
		e.wantPassed(ended)
	})
}

// The second cut comes when the waiter reads again, before the request or behind it.
func TestTwoCuts(t *testing.T) {
	for name, fate := range map[string]curatortest.Fate{"before": curatortest.CutBefore(), "after": curatortest.CutAfter()} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(e *env) {
				setter, u := e.user(), e.user()
				ended := u.waits(e.Context())
				hit := e.server.Inject(curatortest.Rule{Op: "getChildren", SessionID: u.client.SessionID(), Do: fate})
				e.server.DisconnectSession(u.client.SessionID())
				e.wantWaiting(ended)
				if !hit() {
					e.Error("there was one cut")
				}
				e.wantWatches(1)
				e.set(setter)
				e.wantPassed(ended)
			})
		})
	}
}

func TestSessionEnds(t *testing.T) {
	virtual(t, func(e *env) {
		setter, u := e.user(), e.user()
		ended := u.waits(e.Context())
		session := u.client.SessionID()
		e.server.ExpireSession(session)
		e.wantWaiting(ended)
		if u.client.SessionID() == session {
			e.Error("the same session")
		}
		e.wantWatches(1)
		e.set(setter)
		e.wantPassed(ended)
		e.server.ExpireSession(setter.client.SessionID())
		e.wantSet(true) // it is no ephemeral node
	})
}

// A Wait begins and goes on without servers, for longer than the client's retry policy.
func TestOutage(t *testing.T) {
	virtual(t, func(e *env) {
		setter, u := e.user(), e.user()
		early := u.waits(e.Context())
		e.server.Stop()
		late := u.waits(e.Context())
		e.wantWaiting(early, late)
		e.server.Start()
		e.wantWaiting(early, late)
		e.set(setter)
		e.wantPassed(early, late)
	})
}

func TestContextEnds(t *testing.T) {
	virtual(t, func(e *env) {
		u := e.user()
		why := errors.New("the user went home")
		for _, reachable := range []bool{true, false} {
			ctx, cancel := context.WithCancelCause(e.Context())
			ended := u.waits(ctx)
			if !reachable {
				e.server.Stop()
				synctest.Wait()
			}
			cancel(why)
			e.wantEnded(why, ended)
			e.wantWatches(0)
		}
		e.server.Start()
	})
}

func TestClose(t *testing.T) {
	virtual(t, func(e *env) {
		for _, reachable := range []bool{true, false} {
			u := e.user()
			a, b := u.waits(e.Context()), u.waits(e.Context())
			if !reachable {
				e.server.Stop()
				synctest.Wait()
			}
			began := time.Now()
			u.Close()
			u.Close()
			if took := time.Since(began); took > 0 {
				e.Errorf("Close took %v", took)
			}
			e.wantEnded(framework.ErrClosed, a, b)
			e.wantWatches(0)
			for name, call := range map[string]func(context.Context) error{"Set": u.Set, "Reset": u.Reset, "Wait": u.Wait} {
				if err := call(e.Context()); !errors.Is(err, framework.ErrClosed) {
					e.Errorf("%s after Close: %v", name, err)
				}
			}
		}
		e.server.Start()
	})
}

// Close returns behind the calls that it ends.
func TestCloseJoins(t *testing.T) {
	virtual(t, func(e *env) {
		u := e.user()
		ended := false
		go u.call(e.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return ctx.Err()
		})
		synctest.Wait()
		u.Close()
		if !ended {
			e.Error("a call goes on")
		}
	})
}

func TestClientIsClosed(t *testing.T) {
	virtual(t, func(e *env) {
		u := e.user()
		ended := u.waits(e.Context())
		if err := u.client.Close(e.Context()); err != nil {
			e.Error(err)
		}
		e.wantEnded(framework.ErrClosed, ended)
		if err := u.Set(e.Context()); !errors.Is(err, framework.ErrClosed) {
			e.Error(err)
		}
	})
}

// The servers lose their data. What is set later counts, also if it is reset before the waiter is back.
func TestDataAreLost(t *testing.T) {
	for name, pulse := range map[string]bool{"then set": false, "then set and reset": true} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(e *env) {
				u := e.user()
				e.set(u)
				e.reset(u)
				ended := u.waits(e.Context())
				heal := e.server.PartitionSession(u.client.SessionID(), curatortest.Both)
				time.Sleep(time.Second)
				e.server.RestartEmpty()
				if !pulse {
					heal()
					e.wantWaiting(ended)
				}
				fresh := e.user()
				e.set(fresh)
				if pulse {
					e.reset(fresh)
					heal()
				}
				e.wantPassed(ended)
			})
		})
	}
}

// What was set is lost with the data, and can be set again.
func TestSetIsLostWithTheData(t *testing.T) {
	virtual(t, func(e *env) {
		u := e.user()
		e.set(u)
		e.server.RestartEmpty()
		e.wantSet(false)
		e.set(u)
		e.wantSet(true)
		e.server.RestartEmpty()
		e.reset(u)
		e.wantSet(false)
	})
}

// The new directory has the Czxid of the one that is lost, by chance, and lower zxids in it.
func TestDataAreLostWithTheSameZxids(t *testing.T) {
	virtual(t, func(e *env) {
		u := e.user()
		for range 10 {
			e.set(u)
			e.reset(u)
		}
		ended := u.waits(e.Context())
		before := e.stat(u)
		heal := e.server.PartitionSession(u.client.SessionID(), curatortest.Both)
		time.Sleep(time.Second)
		e.server.RestartEmpty()
		fresh := e.user()
		create := fresh.client.Create()
		if _, err := create.ForPath(e.Context(), "/latches"); err != nil {
			e.Fatal(err)
		}
		for fresh.client.LastZxid() < before.Czxid-1 {
			if _, err := create.WithMode(framework.PersistentSequential).ForPath(e.Context(), "/n"); err != nil {
				e.Fatal(err)
			}
		}
		e.set(fresh)
		e.reset(fresh)
		if after := e.stat(fresh); after.Czxid != before.Czxid || after.Pzxid >= before.Pzxid {
			e.Errorf("before %+v, after %+v", before, after)
		}
		heal()
		e.wantPassed(ended)
	})
}

// stat returns that of the directory.
func (e *env) stat(u user) (stat framework.Stat) {
	e.Helper()
	if _, err := u.client.CheckExists().StoringStatIn(&stat).ForPath(e.Context(), dir); err != nil {
		e.Fatal(err)
	}
	return stat
}
