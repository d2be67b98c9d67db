package leader_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
)

var sessionPolicy = framework.WithErrorPolicy(state.SessionErrorPolicy())

// env is an election, and an observer whose network is sound.
type env struct {
	t        *testing.T
	b        *suite.Backend
	path     string
	observer *framework.Client
	selects  bool // the participants are selectors
}

func newEnv(t *testing.T, b *suite.Backend) *env {
	t.Helper()
	e := &env{t: t, b: b, path: b.Path("leader")}
	e.observer, _ = b.Client(t)
	return e
}

// member is a latch with a client and a network of its own.
type member struct {
	*leader.LeaderLatch
	e       *env
	id      string
	client  *framework.Client
	network *suite.Network

	mu      sync.Mutex
	changes []string // what the listener was told: "+" and "-"
}

// member returns a latch that is not started.
func (e *env) member(id string, opts ...any) *member {
	e.t.Helper()
	var clientOpts []framework.Option
	latchOpts := []leader.LatchOption{leader.WithID(id)}
	for _, o := range opts {
		switch o := o.(type) {
		case framework.Option:
			clientOpts = append(clientOpts, o)
		case leader.LatchOption:
			latchOpts = append(latchOpts, o)
		}
	}
	m := &member{e: e, id: id}
	m.client, m.network = e.b.Client(e.t, clientOpts...)
	latch := suite.Got(leader.NewLeaderLatch(m.client, e.path, latchOpts...)).OK(e.t)
	m.LeaderLatch = latch
	latch.LeadershipListenable().Add(func(_ context.Context, c leader.Change) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if !c.Leading && c.Lease.Err() == nil {
			e.t.Errorf("%s is told of the end of a term whose lease lives", id)
		}
		m.changes = append(m.changes, map[bool]string{true: "+", false: "-"}[c.Leading])
	})
	return m
}

// joined returns a latch that is in the line.
func (e *env) joined(id string, opts ...any) *member {
	e.t.Helper()
	m := e.member(id, opts...)
	m.start()
	return m
}

func (m *member) start() {
	m.e.t.Helper()
	suite.OK(m.e.t, m.Start(m.e.t.Context()))
}

// leads waits until the latch leads.
func (m *member) leads() *locks.Lease {
	m.e.t.Helper()
	ctx, cancel := context.WithTimeout(m.e.t.Context(), 20*time.Second)
	defer cancel()
	lease, err := m.Await(ctx)
	if err != nil {
		m.e.t.Fatalf("%s: %v; the nodes are %q", m.id, err, m.e.nodes())
	}
	return lease
}

func (m *member) wantNoLead() {
	m.e.t.Helper()
	if err := m.Leadership().Err(); err == nil {
		m.e.t.Fatalf("%s leads", m.id)
	}
}

func (m *member) close() {
	m.e.t.Helper()
	if err := m.Close(m.e.t.Context()); err != nil {
		m.e.t.Fatalf("close %s: %v", m.id, err)
	}
}

// told returns what the listener was told, once that are n changes.
func (m *member) told(n int) string {
	m.e.t.Helper()
	var told string
	suite.Eventually(m.e.t, fmt.Sprintf("%d changes told by %s", n, m.id), func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		told = strings.Join(m.changes, "")
		return len(told) >= n
	})
	return told
}

// node returns the path of the latch's node, once there is one that it can lead with.
func (m *member) node() string {
	m.e.t.Helper()
	var path string
	suite.Eventually(m.e.t, "the node of "+m.id, func() bool {
		for _, p := range m.e.participants() {
			if p.ID == m.id && p.SessionID == m.client.SessionID() {
				path = p.Path
			}
		}
		return path != ""
	})
	return path
}

// participants asks the server, over the network of the observer.
func (e *env) participants() []leader.Participant {
	e.t.Helper()
	latch := suite.Got(leader.NewLeaderLatch(e.observer, e.path)).OK(e.t)
	ask := latch.Participants
	if e.selects {
		selector := suite.Got(leader.NewLeaderSelector(e.observer, e.path)).OK(e.t)
		ask = selector.Participants
	}
	all := suite.Got(ask(e.t.Context())).OK(e.t)
	return all
}

// nodes returns the names of the election's nodes in their order.
func (e *env) nodes() []string {
	e.t.Helper()
	names, err := e.observer.GetChildren().ForPath(context.Background(), e.path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		e.t.Fatal(err)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	return names
}

// number returns the server's number at the end of a name.
func number(name string) string { return name[max(0, len(name)-10):] }

func (e *env) untilNodes(n int) {
	e.t.Helper()
	suite.Eventually(e.t, fmt.Sprintf("%d nodes", n), func() bool { return len(e.nodes()) == n })
}

// remove deletes nodes as an operator does, each with its children at once: a latch would make another child
// in between.
func (e *env) remove(paths ...string) {
	e.t.Helper()
	suite.OK(e.t, e.tryRemove(paths))
}

// removeMeanwhile is remove for the callbacks of a network.
func (e *env) removeMeanwhile(paths ...string) {
	e.t.Helper()
	suite.Check(e.t, e.tryRemove(paths))
}

func (e *env) tryRemove(paths []string) (err error) {
	e.t.Helper()
	for _, path := range paths {
		suite.Eventually(e.t, "the deletion of "+path, func() bool {
			var names []string
			if names, err = e.observer.GetChildren().ForPath(e.t.Context(), path); err != nil {
				return true
			}
			var ops []framework.Op
			for _, name := range names {
				ops = append(ops, e.observer.TransactionOp().Delete().ForPath(path+"/"+name))
			}
			ops = append(ops, e.observer.TransactionOp().Delete().ForPath(path))
			_, err = e.observer.Transaction().ForOperations(e.t.Context(), ops...)
			return !errors.Is(err, framework.ErrNoNode) && !errors.Is(err, framework.ErrNotEmpty) // those of another moment
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wantIDs wants these participants, in this order.
func (e *env) wantIDs(want ...string) {
	e.t.Helper()
	var got []string
	suite.Eventually(e.t, fmt.Sprintf("the participants %q", want), func() bool {
		got = nil
		for i, p := range e.participants() {
			got = append(got, p.ID)
			if p.Leader != (i == 0) {
				e.t.Errorf("participant %d leads: %v", i, p.Leader)
			}
		}
		return slices.Equal(got, want)
	})
}

// lost waits for the end of the lease and checks the reason.
func lost(t *testing.T, lease *locks.Lease, want locks.LossReason) {
	t.Helper()
	<-lease.Context().Done()
	var loss *locks.LossError
	if err := lease.Err(); !errors.As(err, &loss) || loss.Reason != want {
		t.Fatalf("the lease ended with %v, want %v", err, want)
	}
}

// pass lets virtual time pass, and what is due happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
