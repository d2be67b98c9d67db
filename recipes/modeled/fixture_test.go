package modeled_test

import (
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/modeled"
)

type Order struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

// fixture is a backend with a client, whose network can fail, and an observer.
type fixture struct {
	t        *testing.T
	b        *suite.Backend
	client   *framework.Client
	network  *suite.Network
	observer *framework.Client
	root     modeled.ZPath // of the orders
}

func newFixture(t *testing.T, b *suite.Backend, opts ...framework.Option) *fixture {
	f := &fixture{t: t, b: b, root: modeled.ParseZPath(b.Path("orders"))}
	f.client, f.network = b.Client(t, opts...)
	f.observer, _ = b.Client(t)
	return f
}

// spec is that of orders by their ids.
func (f *fixture) spec() modeled.ModelSpec[Order] {
	return modeled.ModelSpec[Order]{Path: modeled.ParseZPathWithIDs(f.root.String() + "/{id}"), Codec: codec.JSON[Order]()}
}

func (f *fixture) orders() modeled.ModeledFramework[Order] { return modeled.Wrap(f.client, f.spec()) }

// all is the framework of the parent of all orders.
func (f *fixture) all() modeled.ModeledFramework[Order] { return f.orders().WithPath(f.root) }

// set has the observer set an order.
func (f *fixture) set(id any, item string) modeled.ZNode[Order] {
	f.t.Helper()
	node := suite.Got(modeled.Wrap(f.observer, f.spec()).Resolved(id).Set(f.t.Context(), Order{Item: item})).OK(f.t)
	return node
}

// write has the observer write data to a node, and create it if it is missing.
func (f *fixture) write(path modeled.ZPath, data string) {
	f.t.Helper()
	_ = suite.Got(f.observer.Create().CreatingParentsIfNeeded().OrSetData().WithData([]byte(data)).ForPath(f.t.Context(), path.String())).OK(f.t)
}

// raw returns the data of a node as it is stored.
func (f *fixture) raw(path modeled.ZPath) string {
	f.t.Helper()
	data := suite.Got(f.observer.GetData().ForPath(f.t.Context(), path.String())).OK(f.t)
	return string(data)
}

// each runs a test in virtual time and on a real server.
func each(t *testing.T, test func(f *fixture)) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) { test(newFixture(t, b)) })
}

func virtual(t *testing.T, test func(f *fixture)) {
	t.Helper()
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) { test(newFixture(t, b)) })
}
