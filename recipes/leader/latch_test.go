package leader_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

// What Java's tests pin of LeaderLatch, and where it is tested here:
//
//	LL1   one leader, succession in the order of joining   TestLatchSuccession
//	LL2   close of the leader, and of one in the middle    TestLatchSuccession, TestLatchCloseInTheMiddle
//	LL3   a short disconnect, by policy                    TestLatchShortDisconnect
//	LL4   a disconnect that outlasts the session           TestLatchLongDisconnect
//	LL5   the leader's session ends                        TestLatchKilled
//	LL6   a node of an earlier session                     TestRuleL6
//	LL7   the parent is made anew                          TestLatchFaults, parent deleted
//	LL8   the predecessor vanishes                         TestRuleL7
//	LL9   resets at once                                   TestRuleL1
//	LL10  close while the node is created                  TestRuleL9
//	LL11  close before the connection                      TestLatchCloseBeforeConnected
//	LL12  close modes                                      TestLatchCloseModes
//	LL13  listeners that block                             TestLatchListenerBlocks; one that panics ends the program, see package listen
//	LL14  await                                            TestLatchAwait
//	LL15  participants                                     TestParticipants
//	LL16  no server at the start                           TestLatchStartsBeforeServer
//	LL17  no permission                                    TestLatchNoAuth
//	LL18  Java                                             internal/interop, TestLeader*

func TestLatchSuccession(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		n := 10
		if !b.Virtual {
			n = 4
		}
		var members []*member
		for i := range n {
			members = append(members, e.joined(fmt.Sprintf("m%d", i)))
		}
		token := int64(0)
		for i, m := range members {
			lease := m.leads()
			if lease.Token() <= token {
				t.Errorf("token %d after %d", lease.Token(), token)
			}
			token = lease.Token()
			for _, other := range members[i+1:] {
				other.wantNoLead()
			}
			if err := lease.Verify(t.Context()); err != nil {
				t.Error(err)
			}
			m.close()
			suite.WantErr(t, lease.Err(), locks.ErrReleased)
			if told := m.told(2); told != "+-" {
				t.Errorf("%s was told %s", m.id, told)
			}
		}
		if left := e.nodes(); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

func TestLatchCloseInTheMiddle(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		first, middle, last := e.joined("first"), e.joined("middle"), e.joined("last")
		lease := first.leads()
		middle.close()
		e.wantIDs("first", "last")
		last.wantNoLead()
		if err := lease.Err(); err != nil {
			t.Error(err)
		}
		first.close()
		last.leads()
		last.close()
	})
}

// A latch that steps down stands again, at the end of the line.
func TestLatchStepsDown(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		first, second := e.joined("first"), e.joined("second")
		lease := first.leads()
		suite.OK(t, lease.Release(t.Context()))
		next := second.leads()
		e.wantIDs("second", "first")
		if next.Token() <= lease.Token() {
			t.Errorf("token %d after %d", next.Token(), lease.Token())
		}
		suite.OK(t, next.Release(t.Context()))
		if again := first.leads(); again.Token() <= next.Token() {
			t.Errorf("token %d after %d", again.Token(), next.Token())
		}
		if told := first.told(3); told != "+-+" {
			t.Errorf("first was told %s", told)
		}
		first.close()
		second.close()
	})
}

func TestLatchShortDisconnect(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m, rival := e.joined("leader"), e.member("rival")
		lease := m.leads()
		rival.start()
		m.network.Cut()
		lost(t, lease, locks.LossSuspended)
		again := m.leads()
		if again.Path() != lease.Path() || again.Token() != lease.Token() {
			t.Errorf("%s with token %d, want %s with %d", again.Path(), again.Token(), lease.Path(), lease.Token())
		}
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost) // and does nothing
		if told := m.told(3); told != "+-+" {
			t.Errorf("told %s", told)
		}
		m.close()
		rival.leads()
		rival.close()
	})
}

func TestLatchShortDisconnectSessionPolicy(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m := e.joined("leader", sessionPolicy)
		lease := m.leads()
		m.network.Cut()
		suite.OK(t, m.client.BlockUntilConnected(t.Context()))
		if err := errors.Join(lease.Err(), lease.Verify(t.Context())); err != nil || m.Leadership() != lease {
			t.Errorf("%v, lease %p of %p", err, m.Leadership(), lease)
		}
		m.close()
		if told := m.told(2); told != "+-" {
			t.Errorf("told %s", told)
		}
	})
}

func TestLatchLongDisconnect(t *testing.T) {
	for name, opts := range map[string][]any{"standard policy": nil, "session policy": {sessionPolicy}} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				m, rival := e.joined("leader", opts...), e.member("rival")
				lease := m.leads()
				rival.start()
				heal := m.network.Isolate()
				next := rival.leads()
				m.wantNoLead()
				heal()
				e.wantIDs("rival", "leader")
				m.wantNoLead()
				if told := m.told(2); told != "+-" {
					t.Errorf("told %s", told)
				}
				if next.Token() <= lease.Token() {
					t.Errorf("token %d after %d", next.Token(), lease.Token())
				}
				rival.close()
				m.leads()
				m.close()
			})
		})
	}
}

func TestLatchKilled(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m, rival := e.joined("leader"), e.member("rival")
		lease := m.leads()
		rival.start()
		m.network.Expire(t)
		<-lease.Context().Done()
		rival.leads()
		e.wantIDs("rival", "leader")
		m.wantNoLead()
		rival.close()
		m.leads()
		m.close()
	})
}

// Nothing is made by a latch that is closed before it has a connection.
func TestLatchCloseBeforeConnected(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m := e.member("m")
		heal := m.network.Isolate()
		m.network.Cut()
		started := make(chan error, 1)
		go func() { started <- m.Start(t.Context()) }()
		pass(time.Second)
		m.close()
		suite.WantErr(t, <-started, framework.ErrClosed)
		heal()
		suite.OK(t, m.client.BlockUntilConnected(t.Context()))
		if left := e.nodes(); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

func TestLatchCloseModes(t *testing.T) {
	for name, tt := range map[string]struct {
		mode         leader.CloseMode
		leads, waits string // what is told
	}{
		"notify": {leader.NotifyLeader, "+-", ""},
		"silent": {leader.Silent, "+", ""},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				first, second := e.joined("first", leader.WithCloseMode(tt.mode)), e.member("second", leader.WithCloseMode(tt.mode))
				lease := first.leads()
				second.start()
				second.close()
				first.close()
				suite.WantErr(t, lease.Err(), locks.ErrReleased)
				if got, want := first.told(0), tt.leads; got != want {
					t.Errorf("the leader was told %q, want %q", got, want)
				}
				if got, want := second.told(0), tt.waits; got != want {
					t.Errorf("the other was told %q, want %q", got, want)
				}
			})
		})
	}
}

// A listener that blocks holds up neither the latch nor other listeners, and Close only until
// its context ends, after the node is gone.
func TestLatchListenerBlocks(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m, release := e.member("m"), make(chan struct{})
		m.LeadershipListenable().Add(func(context.Context, leader.Change) { <-release })
		m.start()
		lease := m.leads()
		suite.OK(t, lease.Release(t.Context()))
		m.leads()
		if told := m.told(3); told != "+-+" {
			t.Errorf("told %s", told)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		err := m.Close(ctx)
		suite.WantErr(t, err, context.DeadlineExceeded)
		if took := time.Since(start); took != time.Minute || errors.Is(err, locks.ErrReleasePending) || len(e.nodes()) > 0 {
			t.Errorf("%v after %v, nodes %q", err, took, e.nodes())
		}
		close(release)
	})
}

// A listener may close its own latch.
func TestLatchClosedByListener(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m, closed := e.member("m"), make(chan error, 1)
		m.LeadershipListenable().Add(func(ctx context.Context, c leader.Change) {
			if c.Leading {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
				defer cancel()
				closed <- m.Close(ctx)
			}
		})
		m.start()
		if err := <-closed; err != nil || len(e.nodes()) > 0 {
			t.Errorf("%v, nodes %q", err, e.nodes())
		}
	})
}

// It may also do so while somebody else closes the latch.
func TestLatchClosedByListenerAndOthers(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m, told := e.member("m"), make(chan struct{})
		m.LeadershipListenable().Add(func(ctx context.Context, c leader.Change) {
			if c.Leading {
				close(told)
				pass(time.Second)
				if err := m.Close(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
				}
			}
		})
		m.start()
		<-told
		if err := m.Close(context.WithoutCancel(t.Context())); err != nil || len(e.nodes()) > 0 {
			t.Errorf("%v, nodes %q", err, e.nodes())
		}
	})
}

func TestLatchAwait(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		first, second := e.member("first"), e.member("second")
		suite.Got(first.Await(t.Context())).Fails(t, framework.ErrNotStarted)
		first.start()
		lease := first.leads()
		if again := first.leads(); again != lease || first.Leadership() != lease {
			t.Error("another lease in the same term")
		}
		second.start()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		suite.Got(second.Await(ctx)).Fails(t, context.DeadlineExceeded)
		await := func() chan error {
			waited := make(chan error, 1)
			go func() {
				_, err := second.Await(t.Context())
				waited <- err
			}()
			pass(time.Second)
			return waited
		}
		waited := await()
		first.close()
		suite.WantErr(t, <-waited, nil)
		suite.Got(first.Await(t.Context())).Fails(t, framework.ErrClosed)
		suite.OK(t, second.Leadership().Release(t.Context()))
		second.leads()
		third := e.joined("third")
		closed := make(chan error, 1)
		go func() { closed <- third.Close(t.Context()) }()
		suite.Got(third.Await(t.Context())).Fails(t, framework.ErrClosed)
		suite.WantErr(t, <-closed, nil)
		second.close()
	})
}

// A program may come up before its servers.
func TestLatchStartsBeforeServer(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m := e.member("m")
		heal := m.network.Isolate()
		m.network.Cut()
		ctx, stop := context.WithCancel(t.Context())
		run := make(chan error, 1)
		go func() { run <- framework.Run(ctx, m) }()
		pass(5 * time.Minute)
		heal()
		suite.Eventually(t, "a leader", func() bool { return m.Leadership().Err() == nil })
		if told := m.told(1); told != "+" {
			t.Errorf("told %s", told)
		}
		stop()
		if err := <-run; err != nil || len(e.nodes()) > 0 {
			t.Errorf("%v, nodes %q", err, e.nodes())
		}
	})
}
