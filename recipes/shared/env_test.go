package shared_test

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/shared"
)

var _ locks.LeaseCount = (*shared.Count)(nil)

const seed = 7

// env is a count on a client with faults, and a writer whose network is sound.
type env struct {
	t       *testing.T
	path    string
	client  *framework.Client
	network *suite.Network
	count   *shared.Count
	writer  *framework.Client

	mu   sync.Mutex
	told []int // to a listener
}

// newEnv makes a count that creates its node unless opts say otherwise.
func newEnv(t *testing.T, b *suite.Backend, opts ...shared.Option) *env {
	t.Helper()
	return newEnvOn(t, b, nil, opts...)
}

func newEnvOn(t *testing.T, b *suite.Backend, clientOpts []framework.Option, opts ...shared.Option) *env {
	t.Helper()
	e := &env{t: t, path: b.Path("count")}
	e.writer, _ = b.Client(t)
	e.client, e.network = b.Client(t, clientOpts...)
	suite.OK(t, e.client.BlockUntilConnected(t.Context()))
	e.count = e.newCount(opts...)
	e.count.CountListenable().Add(func(_ context.Context, n int) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.told = append(e.told, n)
	})
	return e
}

// newCount returns a count at the path, which the test closes.
func (e *env) newCount(opts ...shared.Option) *shared.Count {
	e.t.Helper()
	count := suite.Got(shared.NewCount(e.client, e.path, seed, opts...)).OK(e.t)
	e.t.Cleanup(func() { e.closeCount(context.WithoutCancel(e.t.Context()), count) })
	return count
}

// onServers runs test with a reader, which leaves the creation of the node to the test.
func onServers(t *testing.T, test func(e *env)) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) { test(newEnv(t, b, shared.WithoutCreate())) })
}

func (e *env) start() {
	e.t.Helper()
	suite.OK(e.t, e.count.Start(e.t.Context()))
}

func (e *env) close(ctx context.Context) {
	e.t.Helper()
	e.closeCount(ctx, e.count)
}

func (e *env) closeCount(ctx context.Context, count *shared.Count) {
	e.t.Helper()
	suite.OK(e.t, count.Close(ctx))
}

// write sets the node's data, and makes the node if there is none.
func (e *env) write(data []byte) framework.Stat {
	e.t.Helper()
	var stat framework.Stat
	suite.Got(e.writer.Create().OrSetData().CreatingParentsIfNeeded().WithData(data).StoringStatIn(&stat).ForPath(e.t.Context(), e.path)).OK(e.t)
	return stat
}

func (e *env) set(count int32) framework.Stat {
	e.t.Helper()
	return e.write(binary.BigEndian.AppendUint32(nil, uint32(count)))
}

// onServer returns the number that the server has.
func (e *env) onServer() int {
	e.t.Helper()
	data := suite.Got(e.writer.GetData().ForPath(e.t.Context(), e.path)).OK(e.t)
	if len(data) != 4 {
		e.t.Fatalf("the node has the data %q", data)
	}
	return int(int32(binary.BigEndian.Uint32(data)))
}

func (e *env) delete() {
	e.t.Helper()
	suite.OK(e.t, e.writer.Delete().DeletingChildrenIfNeeded().ForPath(e.t.Context(), e.path))
}

func (e *env) until(count int) {
	e.t.Helper()
	suite.Eventually(e.t, "the count", func() bool { return e.count.Count() == count })
}

func (e *env) untilConnected() {
	e.t.Helper()
	suite.Eventually(e.t, "a connection", func() bool { return e.client.ConnectionState().IsConnected() })
}

// wantWatches fails if the client has other than n watches.
func (e *env) wantWatches(n int) {
	e.t.Helper()
	conn := suite.Got(zkclient.Of(e.client).Conn()).OK(e.t)
	if got := conn.Watches(); got != n {
		e.t.Fatalf("the client has %d watches, want %d", got, n)
	}
}

// newEnvAt is newEnv at another's path.
func newEnvAt(t *testing.T, b *suite.Backend, path string) *env {
	t.Helper()
	e := newEnv(t, b)
	count := suite.Got(shared.NewCount(e.client, path, seed)).OK(e.t)
	t.Cleanup(func() { e.closeCount(context.WithoutCancel(t.Context()), count) })
	e.path, e.count = path, count
	return e
}
