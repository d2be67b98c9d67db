package leader_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// The rules of the leader latch, which were found with a model: see docs/lock-model.md. The
// rules L4, L5 and L8 are kept by the states of latch_faults_test.go as well.

// L1: each node has a protection id of its own, and what belongs to a former node changes nothing
// about the present one: several reasons for a new node at once make one.
func TestRuleL1(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m, seen := e.joined("m"), map[string]bool{}
		see := func() {
			t.Helper()
			lease := m.leads()
			e.untilNodes(1)
			name := lease.Path()[len(e.path)+1:]
			if id, _, _ := strings.Cut(name, "-latch-"); seen[id] {
				t.Errorf("the id of %s was used before", name)
			} else {
				seen[id] = true
			}
		}
		for range 3 {
			see()
			lease := m.leads()
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			see()
			lease = m.leads()
			m.network.Expire(t)
			<-lease.Context().Done()
			see()
			lease = m.leads() // all at once
			go func() { _ = e.observer.Delete().Quietly().ForPath(t.Context(), lease.Path()) }()
			go m.network.Cut()
			_ = lease.Release(t.Context())
			pass(2 * time.Second)
		}
		see()
		m.close()
	})
}

// L2: the create and the list go in one write, the parents come first, and what will not pass is
// returned by Start.
func TestRuleL2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client, traffic := suite.Tapped(t, server)
		join := func() *leader.LeaderLatch {
			latch, err := leader.NewLeaderLatch(client, "/dir/leader")
			if err == nil {
				err = latch.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			return latch
		}
		first := join() // makes the parents
		if _, err := first.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		traffic.Take()
		second := join()
		pass(time.Second)
		// A waiter sets its watches, and lists, in the second write.
		if got, want := traffic.Take(), "create2=1 getChildren2=2 setWatches=1 writes=2"; got != want {
			t.Errorf("joining: %s, want %s", got, want)
		}
		pass(time.Minute) // a wait that lasts reads its nodes once: see package lockqueue, reread
		if got, want := traffic.Take(), "getData=2 writes=1"; got != want {
			t.Errorf("after a minute: %s, want %s", got, want)
		}
		pass(5 * time.Minute)
		if got := traffic.Take(); got != "" {
			t.Errorf("idle: %s", got)
		}
		closing := func(l *leader.LeaderLatch) string {
			t.Helper()
			if err := l.Close(t.Context()); err != nil {
				t.Error(err)
			}
			pass(time.Second)
			return traffic.Take()
		}
		// The first deletes its node, and the second lists. It has the watch on its own node.
		if got, want := closing(first), "delete=1 events=1 getChildren2=1 writes=2"; got != want {
			t.Errorf("succession: %s, want %s", got, want)
		}
		if got, want := closing(second), "delete=1 events=1 writes=1"; got != want {
			t.Errorf("the end: %s, want %s", got, want)
		}
	})
}

// L3: a term begins with a list that shows nothing ahead, on a session that is proved, and with
// the watch on the own node.
func TestRuleL3(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, e *env){
		"no event begins a term": func(t *testing.T, e *env) {
			first, m := e.joined("first"), e.joined("m")
			first.leads()
			pass(time.Second)
			// The node ahead goes, and another one is in its place, which m has not seen.
			hit := m.network.On(jute.OpGetChildren2, suite.Late, func() { pass(100 * time.Millisecond); m.wantNoLead() })
			first.close()
			<-hit
			m.leads()
			m.close()
		},
		"the own node goes before its watch": func(t *testing.T, e *env) {
			m := e.member("m")
			hit := m.network.On(jute.OpGetData, suite.Late, func() { e.removeMeanwhile(e.path + "/" + e.nodes()[0]) })
			m.start()
			<-hit
			e.untilNodes(1)
			lease := m.leads()
			if err := lease.Verify(t.Context()); err != nil {
				t.Error(err)
			}
			m.close()
		},
		"the session ends before the list": func(t *testing.T, e *env) {
			first, m := e.joined("first"), e.joined("m", sessionPolicy)
			first.leads()
			pass(time.Second)
			hit := m.network.On(jute.OpGetChildren2, suite.Late, func() { pass(2 * suite.SessionTimeout) })
			first.close()
			<-hit
			lease := m.leads()
			if err := lease.Verify(t.Context()); err != nil {
				t.Error(err)
			}
			m.close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) { test(t, newEnv(t, b)) })
		})
	}
}

// L4: the lease ends before anything is sent that deletes the node, and before a new session is
// used.
func TestRuleL4(t *testing.T) {
	for name, tt := range map[string]struct {
		op  jute.Op
		end func(m *member)
	}{
		"release":      {jute.OpDelete, func(m *member) { _ = m.Leadership().Release(m.e.t.Context()) }},
		"close":        {jute.OpDelete, func(m *member) { m.close() }},
		"session over": {jute.OpDelete, func(m *member) { m.network.Expire(m.e.t) }},
		"new session":  {jute.OpCreate2, func(m *member) { m.network.Expire(m.e.t) }},
		"node deleted": {jute.OpCreate2, func(m *member) { m.e.remove(m.Leadership().Path()) }},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				m := newEnv(t, b).joined("m", sessionPolicy)
				lease := m.leads()
				hit := m.network.On(tt.op, suite.Late, func() {
					if lease.Context().Err() == nil {
						t.Error("the lease lives while the request is sent")
					}
				})
				tt.end(m)
				<-hit
				m.close()
			})
		})
	}
	t.Run("deadline", func(t *testing.T) {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			m := newEnv(t, b).joined("m", sessionPolicy)
			lease := m.leads()
			heal := m.network.Isolate()
			start := time.Now()
			<-lease.Context().Done()
			if took := time.Since(start); took >= suite.SessionTimeout {
				t.Errorf("the lease lived for %v, and the session for %v", took, suite.SessionTimeout)
			}
			heal()
			m.leads()
			m.close()
		})
	})
}

// L5: the node outlives the term as long as its session does: nothing is deleted, also when the
// client's retry policy has given up long before, and the next term is on the same node.
func TestRuleL5(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		leads, _ := impatient(t, server, "leads")
		waits, waiting := impatient(t, server, "waits")
		lease, err := leads.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before, err := waits.Participants(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			accept := server.Refuse()
			server.Disconnect()
			lost(t, lease, locks.LossSuspended)
			pass(5 * time.Second)
			accept()
			again, err := leads.Await(t.Context())
			if err != nil || again == lease || again.Token() != lease.Token() || again.Path() != lease.Path() {
				t.Errorf("token %d on %s after %d on %s, %v", again.Token(), again.Path(), lease.Token(), lease.Path(), err)
			}
			lease = again
			if err := waiting.BlockUntilConnected(t.Context()); err != nil {
				t.Fatal(err)
			}
			after, err := waits.Participants(t.Context())
			if !slices.Equal(after, before) || err != nil {
				t.Errorf("participants %+v, then %+v, %v", before, after, err)
			}
		}
		if err := errors.Join(leads.Close(t.Context()), waits.Close(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// impatient returns a latch that has joined, whose client gives up soon.
func impatient(t *testing.T, server *curatortest.Server, id string) (*leader.LeaderLatch, *framework.Client) {
	t.Helper()
	client, err := framework.NewClient(server.ConnectString(), retry.OneTime(time.Millisecond),
		framework.WithDialer(server.DialContext), framework.WithConnectionTimeout(100*time.Millisecond), framework.WithSessionTimeout(10*time.Second))
	if err == nil {
		err = client.Start(t.Context())
	}
	if err == nil {
		err = client.BlockUntilConnected(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	latch, err := leader.NewLeaderLatch(client, "/leader", leader.WithID(id))
	if err == nil {
		err = latch.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return latch, client
}

// L6: the node of an earlier session is never adopted, and does not hold the new one up.
func TestRuleL6(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m := e.joined("m")
		lease, session := m.leads(), m.client.SessionID()
		m.network.Expire(t)
		<-lease.Context().Done()
		again := m.leads()
		p, err := m.Leader(t.Context())
		if err != nil || p.SessionID == session || p.SessionID != m.client.SessionID() || again.Token() <= lease.Token() {
			t.Errorf("%+v, %v; token %d after %d", p, err, again.Token(), lease.Token())
		}
		m.close()
		// A node that has the form of the latch's, with its id, but another's session.
		other, err := e.observer.Create().CreatingParentContainersIfNeeded().WithProtection().
			WithMode(framework.EphemeralSequential).WithData([]byte("m")).ForPath(t.Context(), e.path+"/latch-")
		if err != nil {
			t.Fatal(err)
		}
		m = e.joined("m")
		pass(time.Minute)
		m.wantNoLead()
		e.remove(other)
		m.leads()
		m.close()
	})
}
