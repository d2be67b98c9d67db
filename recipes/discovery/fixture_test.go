package discovery_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/discovery"
)

type (
	instance = discovery.ServiceInstance[string]
	registry = discovery.ServiceDiscovery[string]
)

// fixture is a backend with a client, whose network can fail, and a registry of it, and with an
// operator whose network is sound.
type fixture struct {
	t        *testing.T
	b        *suite.Backend
	base     string
	client   *framework.Client
	network  *suite.Network
	operator *framework.Client
	log      *logRecorder
	registry *registry
}

func newFixture(t *testing.T, b *suite.Backend, opts ...discovery.Option) *fixture {
	t.Helper()
	f := &fixture{t: t, b: b, base: b.Path("services"), log: &logRecorder{}}
	f.operator, _ = b.Client(t)
	f.client, f.network = b.Client(t, framework.WithLogger(slog.New(f.log)))
	for _, client := range []*framework.Client{f.client, f.operator} {
		suite.OK(f.t, client.BlockUntilConnected(t.Context()))
	}
	f.registry = f.newRegistry(f.client, opts...)
	return f
}

// newRegistry returns a registry of a client, which is closed at the end of the test.
func (f *fixture) newRegistry(client *framework.Client, opts ...discovery.Option) *registry {
	f.t.Helper()
	r := suite.Got(discovery.NewServiceDiscovery(client, f.base, discovery.JSON[string](discovery.WithEnabledKey()), opts...)).OK(f.t)
	f.t.Cleanup(func() {
		err := r.Close(context.WithoutCancel(f.t.Context()))
		if err != nil && !errors.Is(err, framework.ErrClosed) && !errors.Is(err, context.DeadlineExceeded) { // what the test has seen
			f.t.Errorf("Close: %v", err)
		}
	})
	return r
}

func (f *fixture) start() {
	f.t.Helper()
	suite.OK(f.t, f.registry.Start(f.t.Context()))
}

// of returns an instance of the service orders.
func of(id, payload string) instance {
	return instance{Name: "orders", ID: id, Address: "10.0.0.7", Port: 8080, Payload: payload, Registered: time.UnixMilli(1).UTC()}
}

func (f *fixture) register(i instance) instance {
	f.t.Helper()
	got := suite.Got(f.registry.Register(f.t.Context(), i)).OK(f.t)
	return got
}

func (f *fixture) path(id string) string { return paths.Make(f.base, "orders", id) }

// payloads lists the instances of orders as the operator sees them, as id=payload.
func (f *fixture) payloads() []string {
	f.t.Helper()
	suite.OK(f.t, f.operator.Sync().ForPath(f.t.Context(), "/"))
	instances := suite.Got(f.newQuery().QueryForInstances(f.t.Context(), "orders")).OK(f.t)
	return texts(instances)
}

// newQuery returns a registry of the operator that only looks instances up.
func (f *fixture) newQuery() *registry {
	f.t.Helper()
	r := suite.Got(discovery.NewServiceDiscovery(f.operator, f.base, discovery.JSON[string]())).OK(f.t)
	return r
}

func texts(instances []instance) []string {
	list := []string{}
	for _, i := range instances {
		list = append(list, i.ID+"="+i.Payload)
	}
	return list
}

// until waits until these instances of orders are registered, and no others.
func (f *fixture) until(want ...string) {
	f.t.Helper()
	var got []string
	defer func() {
		if f.t.Failed() {
			f.t.Logf("registered: %q", got)
		}
	}()
	suite.Eventually(f.t, "the instances "+strings.Join(want, " "), func() bool {
		got = f.payloads()
		return slices.Equal(got, want)
	})
}

// untilOwned is until one instance is registered, by the client's session of now.
func (f *fixture) untilOwned(id, payload string) framework.Stat {
	f.t.Helper()
	var stat framework.Stat
	suite.Eventually(f.t, "the node of this session", func() bool {
		there := suite.Got(f.operator.CheckExists().StoringStatIn(&stat).ForPath(f.t.Context(), f.path(id))).OK(f.t)
		return there && stat.EphemeralOwner == f.client.SessionID() && stat.EphemeralOwner != 0
	})
	f.until(id + "=" + payload)
	return stat
}

// ended waits until no instance is registered, and fails if a watch of the client is left.
func (f *fixture) ended() {
	f.t.Helper()
	suite.OK(f.t, f.registry.Close(f.t.Context()))
	f.until()
	if f.b.Virtual {
		synctest.Wait()
	}
	conn, err := zkclient.Of(f.client).Conn()
	if err == nil && conn.Watches() > 0 {
		f.t.Errorf("%d watches are left", conn.Watches())
	}
}

// service makes the parent of the instances, so that a create is the first request.
func (f *fixture) service() {
	f.t.Helper()
	suite.Got(f.operator.Create().CreatingParentsIfNeeded().ForPath(f.t.Context(), paths.Make(f.base, "orders"))).OK(f.t)
}

func (f *fixture) delete(id string) {
	f.t.Helper()
	suite.OK(f.t, f.operator.Delete().ForPath(f.t.Context(), f.path(id)))
}

func (f *fixture) deleteService() {
	f.t.Helper()
	suite.OK(f.t, f.tryDeleteService())
}

// deleteServiceMeanwhile is deleteService for the callbacks of a network.
func (f *fixture) deleteServiceMeanwhile() {
	f.t.Helper()
	suite.Check(f.t, f.tryDeleteService())
}

func (f *fixture) tryDeleteService() error {
	return f.operator.Delete().DeletingChildrenIfNeeded().ForPath(f.t.Context(), paths.Make(f.base, "orders"))
}

// write has the operator write into a node, and make it if it is missing.
func (f *fixture) write(id, data string) {
	f.t.Helper()
	suite.Got(f.operator.Create().CreatingParentContainersIfNeeded().OrSetData().WithData([]byte(data)).ForPath(f.t.Context(), f.path(id))).OK(f.t)
}

// each runs a test in virtual time and on a real server.
func each(t *testing.T, test func(f *fixture), opts ...discovery.Option) {
	suite.EachOf(t, some, func(t *testing.T, b *suite.Backend) { test(newFixture(t, b, opts...)) })
}

// virtual runs a test in virtual time.
func virtual(t *testing.T, test func(f *fixture), opts ...discovery.Option) {
	t.Helper()
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) { test(newFixture(t, b, opts...)) })
}

// logRecorder keeps what is logged of instances.
type logRecorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *logRecorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *logRecorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *logRecorder) WithGroup(string) slog.Handler            { return r }

func (r *logRecorder) Handle(_ context.Context, record slog.Record) error {
	if !strings.Contains(record.Message, "an instance of a service") {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "path" {
			r.lines = append(r.lines, a.Value.String())
		}
		return true
	})
	return nil
}

// take returns the paths of the instances that were left out, and forgets them.
func (r *logRecorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}
