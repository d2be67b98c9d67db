package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

// measured runs everything that is measured, once and in virtual time, and returns what came
// of it.
func measured(t *testing.T, look func(e *env, m *suite.Metrics)) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		m := suite.NewMetrics()
		e := newEnv(t, b, framework.WithTracing(m.Option()))
		named := e.lock(e.client, locks.WithName("orders"))
		lease := e.acquire(named)
		synctest.Wait()
		suite.Got(e.lock(e.client).TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		ctx := bounded(t, time.Second)
		suite.Got(named.Acquire(ctx)).Fails(t, context.DeadlineExceeded)
		waiter := e.queue(t.Context(), named, 2)
		synctest.Wait() // it watches the node ahead
		e.release(lease)
		next := e.granted(waiter)
		synctest.Wait()
		e.release(next)
		hit := e.network.On(jute.OpGetData, suite.CutBefore, nil)
		suite.Got(e.client.GetData().ForPath(t.Context(), e.path)).OK(t)
		<-hit
		_, _ = e.client.GetData().ForPath(t.Context(), "/none")
		lost := e.acquire(named)
		synctest.Wait()
		e.network.Expire(t)
		e.lost(lost, locks.LossSuspended)
		suite.Eventually(t, "the next session", func() bool { return e.client.ConnectionState() == state.Reconnected })
		suite.WantErr(t, lost.Release(t.Context()), locks.ErrLockLost)
		held := e.acquire(named)
		waiter = e.queue(t.Context(), e.mutex, 2)
		synctest.Wait()
		look(e, m)
		e.release(held)
		e.release(e.granted(waiter))
	})
}

// TestMetricValues has every attribute that a metric can have, but for what TestDropped
// shows: there is no path, id, token or error text among them.
func TestMetricValues(t *testing.T) {
	measured(t, func(e *env, m *suite.Metrics) {
		want := strings.Split(strings.TrimSpace(metricValues), "\n")
		got := m.Points(e.t)
		for i, p := range got { // the time since the last proof is not quite that of the server's
			if name, value, _ := strings.Cut(p, " "); strings.HasPrefix(name, tracing.MetricLeaseRemaining) {
				if remaining, err := strconv.ParseFloat(value, 64); err != nil || remaining < 0.5 || remaining > 1.75 {
					e.t.Errorf("%s, want between 0.5 and 1.75: seven eighths of the session's 2 s, and the age of a proof", p)
				}
				got[i] = name + " *"
			} else if strings.HasPrefix(name, tracing.MetricLeaseNearest) || strings.HasPrefix(name, tracing.MetricIO) ||
				strings.HasPrefix(name, tracing.MetricEphemeralsSize) || strings.HasPrefix(name, tracing.MetricChildrenSize) {
				// The last two depend on the length of the paths.
				got[i] = name + " *"
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
	})
}

// A session that no server has ended is presumed to be over.
func TestPresumedExpiration(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		m := suite.NewMetrics()
		e := newEnv(t, b, framework.WithTracing(m.Option()))
		heal := e.network.Isolate()
		suite.Eventually(t, "the presumption", func() bool { return e.client.ConnectionState() == state.Lost })
		heal()
		synctest.Wait()
		want := "zookeeper.client.session.expirations{zookeeper.session.expiration.cause=local_deadline} 1"
		if points := m.Points(t); !slices.Contains(points, want) {
			t.Errorf("%q, want %s among them", points, want)
		}
	})
}

// A lease that nobody can release any more is logged and counted, and its lock stays held.
func TestDropped(t *testing.T) {
	var log suite.Log
	server := curatortest.Start(t)
	m := suite.NewMetrics()
	// curatortest's own clients fail tests that leave a lease.
	client, err := framework.NewClient(server.ConnectString(), retry.None(),
		framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), framework.WithTracing(m.Option()))
	if err != nil {
		t.Fatal(err)
	}
	suite.OK(t, client.Start(t.Context()))
	defer func() {
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	mutex := suite.Got(locks.NewInterProcessMutex(client, "/lock", locks.WithName("orders"))).OK(t)
	suite.Got(mutex.Acquire(t.Context())).OK(t)
	suite.Eventually(t, "the lease to be missed", func() bool {
		runtime.GC()
		return slices.Contains(m.Points(t), "curator.lock.dropped{curator.lock.kind=mutex curator.lock.name=orders} 1")
	})
	suite.Eventually(t, "a line in the log", func() bool { return strings.Contains(log.String(), "lock lease dropped without release") })
	if names := server.Children("/lock"); len(names) != 1 {
		t.Errorf("nodes %q", names)
	}
	if want := "curator.lock.held{curator.lock.kind=mutex curator.lock.name=orders} 1"; !slices.Contains(m.Points(t), want) {
		t.Errorf("%q, want %q among them", m.Points(t), want)
	}
}

const metricValues = `
curator.lock.acquire.duration{curator.lock.kind=mutex curator.lock.name=orders curator.lock.outcome=acquired} 4
curator.lock.acquire.duration{curator.lock.kind=mutex curator.lock.name=orders curator.lock.outcome=timeout error.type=timeout} 1
curator.lock.acquire.duration{curator.lock.kind=mutex curator.lock.outcome=not_acquired} 1
curator.lock.contenders{curator.lock.kind=mutex curator.lock.name=orders} 5
curator.lock.contenders{curator.lock.kind=mutex} 2
curator.lock.held{curator.lock.kind=mutex curator.lock.name=orders} 1
curator.lock.hold.duration{curator.lock.end=lost curator.lock.kind=mutex curator.lock.name=orders} 1
curator.lock.hold.duration{curator.lock.end=released curator.lock.kind=mutex curator.lock.name=orders} 2
curator.lock.losses{curator.lock.kind=mutex curator.lock.loss.reason=suspended curator.lock.name=orders} 1
curator.lock.pending{curator.lock.kind=mutex} 1
curator.lock.sequence.remaining{curator.lock.name=orders} 2.147483641e+09
curator.lock.sequence.remaining{} 2.14748364e+09
db.client.operation.duration{db.operation.name=create db.system.name=zookeeper server.address=virtual} 7
db.client.operation.duration{db.operation.name=delete db.system.name=zookeeper server.address=virtual} 4
db.client.operation.duration{db.operation.name=getChildren2 db.system.name=zookeeper server.address=virtual} 1
db.client.operation.duration{db.operation.name=getData db.system.name=zookeeper error.type=not_found server.address=virtual} 1
db.client.operation.duration{db.operation.name=getData db.system.name=zookeeper server.address=virtual} 2
db.client.operation.duration{db.operation.name=multi db.system.name=zookeeper server.address=virtual} 1
db.client.operation.duration{db.operation.name=setWatches db.system.name=zookeeper server.address=virtual} 3
zookeeper.client.children.size{} *
zookeeper.client.connection.attempts{error.type=session_expired server.address=virtual} 1
zookeeper.client.connection.attempts{server.address=virtual} 3
zookeeper.client.connection.ends{error.type=connection_loss server.address=virtual} 2
zookeeper.client.connection.handshake.duration{server.address=virtual} 3
zookeeper.client.connection.io{network.io.direction=receive} *
zookeeper.client.connection.io{network.io.direction=transmit} *
zookeeper.client.retries{db.operation.name=getData error.type=connection_loss} 1
zookeeper.client.session.ephemerals.limit{} 1.048575e+06
zookeeper.client.session.ephemerals.size{} *
zookeeper.client.session.expirations{zookeeper.session.expiration.cause=server} 1
zookeeper.client.session.lease.nearest{} *
zookeeper.client.session.lease.remaining{} *
zookeeper.client.session.proof.duration{server.address=virtual} 3
zookeeper.client.session.transitions{zookeeper.connection.state=connected} 1
zookeeper.client.session.transitions{zookeeper.connection.state=lost} 1
zookeeper.client.session.transitions{zookeeper.connection.state=reconnected} 2
zookeeper.client.session.transitions{zookeeper.connection.state=suspended} 2
zookeeper.client.watch.count{zookeeper.watch.type=data} 3
`

// The retry of a delete in the background is counted when the try has failed, and not when the client is
// connected again. The error of a release after Close is the same as without telemetry.
func TestRetryOfDeleteIsCountedAtOnce(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		metrics := suite.NewMetrics()
		client := s.Client(t, framework.WithTracing(metrics.Option()))
		lease := take(t, mutexOf(t, client))
		s.Inject(curatortest.Rule{Op: "delete", SessionID: client.SessionID(), Do: curatortest.CutBefore()})
		s.Inject(curatortest.Rule{Op: "createSession", Times: 100000, Do: curatortest.CutBefore()})
		ctx := bounded(t, 2*time.Second)
		suite.WantErr(t, lease.Release(ctx), locks.ErrReleasePending)
		if !slices.ContainsFunc(metrics.Points(t), func(p string) bool { return strings.Contains(p, "client.retries{") }) {
			t.Error("the retry is not counted")
		}
		ctx = bounded(t, time.Second)
		_ = client.Close(ctx) // it cannot tell the server
		if err := lease.Release(t.Context()); errors.Is(err, framework.ErrClosed) || !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// What a log and a failed test say of the values of this package.
func TestTexts(t *testing.T) {
	first := locks.Contender{
		Path: "/l/a", Token: 42, SessionID: -1, Since: time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("", 3600)),
		Owner: "line 1\nline 2", Data: "not\nshown", TraceParent: "not shown",
	}
	second := locks.Contender{Path: "/l/b", Since: time.UnixMilli(0)}
	const firstText = `/l/a (token 42, session 0xffffffffffffffff, since 2026-01-02T02:04:05.006Z, owner "line 1\nline 2")`
	const secondText = `/l/b (token 0, session 0x0, since 1970-01-01T00:00:00.000Z, owner "")`
	for _, tt := range []struct {
		value fmt.Stringer
		want  string
	}{
		{locks.LossSuspended, "suspended"},
		{locks.LossDeadline, "lease_deadline"},
		{locks.LossSessionExpired, "session_expired"},
		{locks.LossNodeDeleted, "node_deleted"},
		{locks.LossClosed, "closed"},
		{locks.LossRevoked, "revoked"},
		{locks.LossMaxHold, "max_hold"},
		{locks.LossReason(0), "LossReason(0)"},
		{first, firstText},
		{&second, secondText},
		{locks.Inspection{Path: "/l"}, "/l: nobody holds it or waits for it"},
		{
			&locks.Inspection{Path: "/l", Kind: "mutex", Holders: []locks.Contender{first}, Waiters: []locks.Contender{second, second}},
			"/l: mutex, holders [" + firstText + "], waiters [" + secondText + " " + secondText + "]",
		},
		{locks.Inspection{Path: "/l", Kind: "mutex"}, "/l: mutex, holders [], waiters []"},
	} {
		suite.WantText(t, tt.value, tt.want)
	}
	suite.WantLogged(t, locks.LossDeadline, `"lease_deadline"`)
}
