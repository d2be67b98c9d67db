package barriers_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/barriers"
)

// env is a barrier's path, and an operator, who takes no part.
type env struct {
	t        *testing.T
	b        *suite.Backend
	path     string
	operator *framework.Client
}

func newEnv(t *testing.T, b *suite.Backend) *env {
	t.Helper()
	e := &env{t: t, b: b, path: b.Path("barrier")}
	e.operator, _ = b.Client(t)
	return e
}

func onServers(t *testing.T, test func(e *env)) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) { test(newEnv(t, b)) })
}

func inVirtualTime(t *testing.T, test func(e *env)) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) { test(newEnv(t, b)) })
}

func (e *env) wantErr(err, want error) {
	e.t.Helper()
	if !errors.Is(err, want) {
		e.t.Fatalf("the error is %v, want %v", err, want)
	}
	if framework.MaybeApplied(err) {
		e.t.Fatalf("%v: it may have been applied", err)
	}
}

// party is a member of the double barrier on a client of its own, with faults.
type party struct {
	*env
	client  *framework.Client
	network *suite.Network
	*barriers.DistributedDoubleBarrier
}

func (e *env) party(memberQty int, opts ...framework.Option) *party {
	e.t.Helper()
	client, network := e.b.Client(e.t, opts...)
	suite.OK(e.t, client.BlockUntilConnected(e.t.Context()))
	barrier := suite.Got(barriers.NewDistributedDoubleBarrier(client, e.path, memberQty)).OK(e.t)
	return &party{e, client, network, barrier}
}

// call is one that is waited for.
type call struct {
	e    *env
	done chan error
}

func (e *env) start(ctx context.Context, fn func(ctx context.Context) error) *call {
	c := &call{e, make(chan error, 1)}
	go func() { c.done <- fn(ctx) }()
	return c
}

func (p *party) enter() *call { return p.start(p.t.Context(), p.Enter) }
func (p *party) leave() *call { return p.start(p.t.Context(), p.Leave) }

// ended returns the call's error.
func (c *call) ended() error { return <-c.done }

func (c *call) ok() {
	c.e.t.Helper()
	suite.OK(c.e.t, c.ended())
}

func (c *call) waits() {
	c.e.t.Helper()
	select {
	case err := <-c.done:
		c.e.t.Fatalf("it is through: %v", err)
	default:
	}
}

// nodes returns the names of the members' nodes.
func (e *env) nodes() []string {
	e.t.Helper()
	names := e.children()
	return slices.DeleteFunc(names, func(name string) bool { return name == "ready" })
}

func (e *env) children() []string {
	e.t.Helper()
	names, err := e.operator.GetChildren().ForPath(context.WithoutCancel(e.t.Context()), e.path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		e.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// untilNodes waits until there are so many members' nodes, and returns their names.
func (e *env) untilNodes(n int) (names []string) {
	e.t.Helper()
	suite.Eventually(e.t, "the nodes", func() bool {
		names = e.nodes()
		return len(names) == n
	})
	return names
}

// wantChildren fails unless the barrier has so many.
func (e *env) wantChildren(n int) {
	e.t.Helper()
	if names := e.children(); len(names) != n {
		e.t.Fatalf("the barrier has %q, want %d nodes", names, n)
	}
}

// isOpen reports whether there is a "ready".
func (e *env) isOpen() bool {
	e.t.Helper()
	return slices.Contains(e.children(), "ready")
}

// create makes a node as the operator, and returns its czxid.
func (e *env) create(name string) int64 {
	e.t.Helper()
	return suite.Got(e.tryCreate(name)).OK(e.t)
}

// createMeanwhile is create for the callbacks of a network, which are not on the test's goroutine.
func (e *env) createMeanwhile(name string) {
	e.t.Helper()
	_, err := e.tryCreate(name)
	suite.Check(e.t, err)
}

func (e *env) tryCreate(name string) (int64, error) {
	var stat framework.Stat
	_, err := e.operator.Create().CreatingParentsIfNeeded().StoringStatIn(&stat).ForPath(context.WithoutCancel(e.t.Context()), e.path+"/"+name)
	return stat.Czxid, err
}

func (e *env) delete(name string) {
	e.t.Helper()
	suite.OK(e.t, e.tryDelete(name))
}

// deleteMeanwhile is delete for the callbacks of a network.
func (e *env) deleteMeanwhile(name string) {
	e.t.Helper()
	suite.Check(e.t, e.tryDelete(name))
}

func (e *env) tryDelete(name string) error {
	return e.operator.Delete().ForPath(context.WithoutCancel(e.t.Context()), e.path+"/"+name)
}

// waiting waits until the party waits in Enter, with its watches, and returns its node.
func (p *party) waiting() string {
	p.t.Helper()
	suite.Eventually(p.t, "the member's node", func() bool { return len(p.nodes()) > 0 })
	p.watching(2) // a try that finds no parent has two watches, too, until it is answered
	return p.nodes()[0]
}

// watching waits until the party has so many watches, and the server has answered.
func (p *party) watching(n int) {
	p.t.Helper()
	suite.AwaitWatches(p.t, p.client, n)
}

// watches returns how many watches the party's client has.
func (p *party) watches() int {
	p.t.Helper()
	return suite.Watches(p.t, p.client)
}

// wantNothing fails unless neither nodes nor watches are left.
func (e *env) wantNothing(parties ...*party) {
	e.t.Helper()
	suite.Eventually(e.t, "no nodes of members", func() bool { return len(e.nodes()) == 0 })
	for _, p := range parties {
		suite.Eventually(e.t, "no watches", func() bool { return p.watches() == 0 })
	}
}

// together has two members go in.
func (e *env) together() (first, second *party) {
	e.t.Helper()
	first, second = e.party(2), e.party(2)
	a := first.enter()
	e.untilNodes(1)
	suite.OK(e.t, second.Enter(e.t.Context()))
	a.ok()
	return first, second
}

// apart has members leave.
func apart(parties ...*party) {
	var calls []*call
	for _, p := range parties {
		calls = append(calls, p.leave())
	}
	for i, c := range calls {
		parties[i].t.Helper()
		c.ok()
	}
	parties[0].wantNothing(parties...)
}

// sorted returns two members that are in by the names of their nodes: the first one of them
// waits for the second one when both leave.
func (e *env) sorted() (lowest, highest *party) {
	e.t.Helper()
	first, second := e.party(2), e.party(2)
	a := first.enter()
	name := first.waiting() // or both see enough members, and both open the barrier
	suite.OK(e.t, second.Enter(e.t.Context()))
	a.ok()
	if e.nodes()[0] == name {
		return first, second
	}
	return second, first
}
