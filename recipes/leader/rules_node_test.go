package leader_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// L7: a waiter watches the node right ahead, also when that goes while the watch is set, and
// after its data have changed.
func TestRuleL7(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, e *env, first, m *member){
		"it goes while the watch is set": func(t *testing.T, e *env, first, m *member) {
			hit := m.network.On(jute.OpSetWatches, suite.Late, first.close)
			m.start()
			<-hit
		},
		"its data change": func(t *testing.T, e *env, first, m *member) {
			m.start()
			for range 3 {
				pass(time.Second)
				if _, err := e.observer.SetData().ForPath(t.Context(), first.node(), []byte("first")); err != nil {
					t.Fatal(err)
				}
			}
			pass(time.Second)
			first.close()
		},
		"the own data change": func(t *testing.T, e *env, first, m *member) {
			m.start()
			node := m.node()
			if _, err := e.observer.SetData().ForPath(t.Context(), node, []byte("m")); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
			e.remove(node)
			e.wantIDs("first", "m")
			first.close()
		},
		"the connection breaks": func(t *testing.T, e *env, first, m *member) {
			m.start()
			pass(time.Second)
			heal := m.network.Isolate()
			m.network.Cut()
			first.close()
			pass(time.Second)
			heal()
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				first, m := e.joined("first"), e.member("m")
				first.leads()
				test(t, e, first, m)
				m.leads()
				m.close()
			})
		})
	}
}

// L8: the delete of a step-down is repeated until it is answered, and only then does the latch
// stand again: at most one of its nodes is being deleted.
func TestRuleL8(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m, rival := e.joined("m"), e.joined("rival")
		lease := m.leads()
		for range 3 {
			m.network.On(jute.OpDelete, suite.CutBefore, nil)
		}
		m.network.On(jute.OpDelete, suite.CutAfter, nil)
		m.network.On(jute.OpCreate2, suite.Late, func() {
			for _, p := range e.participants() {
				if p.Path == lease.Path() {
					t.Error("the latch stands again while its former node is there")
				}
			}
		})
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		rival.leads()
		e.wantIDs("rival", "m")
		if n := m.network.Requests(jute.OpDelete); n < 4 {
			t.Errorf("%d deletes were sent", n)
		}
		rival.close()
		m.leads()
		m.close()
	})
}

// L9: Close waits for the answer to a create that is out, and deletes what it made.
func TestRuleL9(t *testing.T) {
	for name, fate := range map[string]suite.Fate{"late": suite.Late, "reply lost": suite.CutAfter} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				m, other := e.joined("m"), e.joined("other") // it keeps the path alive
				lease := m.leads()
				closed := make(chan error, 1)
				hit := m.network.On(jute.OpCreate2, fate, func() {
					go func() { closed <- m.Close(t.Context()) }()
					pass(100 * time.Millisecond)
				})
				e.remove(lease.Path()) // another create goes out
				<-hit
				if err := <-closed; err != nil {
					t.Error(err)
				}
				e.wantIDs("other")
				pass(time.Minute)
				e.wantIDs("other")
				other.close()
			})
		})
	}
}

// L10: the token is the czxid: it rises from node to node, also over a new parent, whose numbers
// begin again, and is the same for all terms on one node.
func TestRuleL10(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m := e.joined("m")
		former := m.leads()
		m.network.Cut()
		lost(t, former, locks.LossSuspended)
		lease := m.leads()
		if lease.Token() != former.Token() {
			t.Errorf("token %d on the node of %d", lease.Token(), former.Token())
		}
		if _, err := former.Guard(t.Context()); !errors.Is(err, locks.ErrLockLost) {
			t.Errorf("Guard of a former term: %v", err)
		}
		stat, err := e.observer.CheckExists().ForPath(t.Context(), lease.Path())
		_ = stat
		if err != nil {
			t.Error(err)
		}
		for range 3 {
			e.remove(e.path)
			<-lease.Context().Done()
			next := m.leads()
			if n := number(next.Path()); next.Token() <= lease.Token() || n != "0000000000" {
				t.Errorf("token %d after %d, number %s", next.Token(), lease.Token(), n)
			}
			lease = next
		}
		m.close()
	})
}

// L11: a latch never writes to a node: Java's latch would use its only watch up.
func TestRuleL11(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		first, m := e.joined("first"), e.joined("m")
		first.leads()
		first.network.Cut()
		m.network.Cut()
		pass(time.Second)
		for _, p := range e.participants() {
			var stat framework.Stat
			if _, err := e.observer.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), p.Path); err != nil {
				t.Fatal(err)
			}
			if stat.Mzxid != stat.Czxid || stat.Version != 0 {
				t.Errorf("the node of %s was written: %+v", p.ID, stat)
			}
		}
		first.leads()
		first.close()
		m.leads()
		m.close()
		if n := first.network.Requests(jute.OpSetData) + m.network.Requests(jute.OpSetData); n > 0 {
			t.Errorf("%d writes", n)
		}
	})
}

// L12: leaders are counted by nodes, not by claims. A Java latch whose node is deleted goes on to
// lead; see internal/interop for a live one. Participants shows the one that was elected, and a
// transaction that checks the node, as Guard does, fails for the other one.
func TestRuleL12(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		java, _ := b.Client(t)
		claim, err := java.Create().CreatingParentContainersIfNeeded().WithProtection().
			WithMode(framework.EphemeralSequential).WithData([]byte("java")).ForPath(t.Context(), e.path+"/latch-")
		if err != nil {
			t.Fatal(err)
		}
		m := e.joined("m")
		pass(time.Second)
		m.wantNoLead()
		e.remove(claim) // by an operator
		lease := m.leads()
		e.wantIDs("m")
		guarded := func(client *framework.Client, path string) error {
			tx := client.TransactionOp()
			_, err := client.Transaction().ForOperations(t.Context(), tx.Check().ForPath(path), tx.Check().ForPath("/"))
			return err
		}
		suite.WantErr(t, guarded(java, claim), framework.ErrNoNode)
		suite.WantErr(t, guarded(m.client, lease.Path()), nil)
		if _, err := lease.Guard(t.Context()); err != nil {
			t.Error(err)
		}
		m.close()
	})
}

// A server that can be reached again after a long time is found by a latch whose client's retry
// policy has given up long ago.
func TestLatchNeverGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		latch, _ := impatient(t, server, "m")
		for range 3 {
			lease, err := latch.Await(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			accept := server.Refuse()
			server.Disconnect()
			<-lease.Context().Done()
			pass(5 * time.Minute)
			accept()
		}
		if _, err := latch.Await(t.Context()); err != nil {
			t.Error(err)
		}
		if err := latch.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
