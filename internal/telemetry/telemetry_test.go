package telemetry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

// instrumentsGolden is what dashboards and alerts rely on.
const instrumentsGolden = `
curator.cache.events Sum[int64] {event} monotonic
curator.cache.nodes Sum[int64] {node}
curator.cache.stale Gauge[float64] s
curator.leader.status Sum[int64] {leader}
curator.leader.transitions Sum[int64] {transition} monotonic
curator.lock.acquire.duration Histogram[float64] s
curator.lock.contenders Histogram[int64] {contender}
curator.lock.dropped Sum[int64] {lease} monotonic
curator.lock.held Sum[int64] {lock}
curator.lock.hold.duration Histogram[float64] s
curator.lock.losses Sum[int64] {loss} monotonic
curator.lock.pending Sum[int64] {request}
curator.lock.sequence.remaining Gauge[int64] {create}
curator.node.recreations Sum[int64] {creation} monotonic
curator.queue.process.duration Histogram[float64] s
curator.queue.redelivered Sum[int64] {node} monotonic
db.client.operation.duration Histogram[float64] s
zookeeper.client.children.size Gauge[int64] By
zookeeper.client.connection.attempts Sum[int64] {attempt} monotonic
zookeeper.client.connection.ends Sum[int64] {connection} monotonic
zookeeper.client.connection.handshake.duration Histogram[float64] s
zookeeper.client.connection.io Sum[int64] By monotonic
zookeeper.client.connection.ping.duration Gauge[float64] s
zookeeper.client.requests.oldest Gauge[float64] s
zookeeper.client.requests.outstanding Sum[int64] {request}
zookeeper.client.retries Sum[int64] {retry} monotonic
zookeeper.client.session.ephemerals.limit Gauge[int64] By
zookeeper.client.session.ephemerals.size Gauge[int64] By
zookeeper.client.session.expirations Sum[int64] {session} monotonic
zookeeper.client.session.lease.nearest Gauge[float64] s
zookeeper.client.session.lease.remaining Gauge[float64] s
zookeeper.client.session.proof.duration Histogram[float64] s
zookeeper.client.session.transitions Sum[int64] {transition} monotonic
zookeeper.client.watch.count Sum[int64] {watch}
`

func TestInstruments(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	tel := New(Config{Settings: tracing.NewSettings(tracing.WithMeterProvider(provider))})
	ctx, conn, lock := t.Context(), new(zkconn.Conn), tel.Lock(tracing.KindMutex, "", "")
	_, a := tel.Acquire(ctx, lock, false)
	a.Enqueued(0, 1, 7)
	a.Granted(1, false)
	tel.Closed(ctx, lock, tel.Opened(ctx, lock), time.Second, "revoked")
	tel.Dropped(lock)
	_, processing := tel.Process(ctx, tel.Queue("queue", "", ""))
	processing.End(tracing.OutcomePutBack, nil)
	tel.Candidate(tracing.RecipeLatch, "", "").Elected(ctx, 1, time.Now()).End(ctx, time.Now(), "")
	tel.Recreated(ctx, "workers")
	cache := tel.Cache("config", "", noCache{})
	cache.Changed(1)
	defer cache.Follow()()
	_, op := tel.Operation(ctx, conn, Op{Name: "create"})
	op.End(1, nil)
	tel.Retry(ctx, "create", 2, zkconn.ErrConnectionLoss)
	tel.Transition(state.Lost, 1)
	tel.Expired(1, true)
	tel.Attempted("host:1", nil, time.Second)
	tel.Disconnected("host:1", zkconn.ErrConnectionLoss)
	tel.Proved("host:1", nil, time.Second)
	defer tel.Follow(connection{})()

	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range all.ScopeMetrics[0].Metrics {
		line := fmt.Sprintf("%s %s %s", m.Name, strings.TrimPrefix(fmt.Sprintf("%T", m.Data), "metricdata."), m.Unit)
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && sum.IsMonotonic {
			line += " monotonic"
		}
		if m.Description == "" {
			t.Errorf("%s has no description", m.Name)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(instrumentsGolden), "\n"), lines); diff != "" {
		t.Errorf("instruments (-want +got):\n%s", diff)
	}
	if scope := all.ScopeMetrics[0].Scope; scope.Name != tracing.ScopeName || scope.Version == "" || scope.SchemaURL == "" {
		t.Errorf("scope %+v", scope)
	}
}

// noCache is a cache without nodes.
type noCache struct{}

func (noCache) Len() int                 { return 0 }
func (noCache) Stale() (time.Time, bool) { return time.Time{}, false }

// connection is one with a session and a watch.
type connection struct{}

func (connection) Session() (int64, time.Duration)  { return 1, time.Second }
func (connection) Deadline(int64) (time.Time, bool) { return time.Now().Add(time.Hour), true }
func (connection) InUse() bool                      { return true }
func (connection) Stats() zkconn.Stats              { return zkconn.Stats{Ping: 1, EphemeralLimit: 1, List: 1} }
func (connection) WatchCounts() zkconn.WatchCounts  { return zkconn.WatchCounts{Data: 1} }

// TestNobodyListens measures the hooks of a program without an SDK.
func TestNobodyListens(t *testing.T) {
	if otel.GetTracerProvider() != noProvider {
		t.Fatal("somebody has set a tracer provider")
	}
	tel, conn, ctx := New(Config{}), new(zkconn.Conn), t.Context()
	op := Op{Name: "getData", Path: "/path", Prefix: "/namespace"}
	if n := testing.AllocsPerRun(1000, func() {
		_, o := tel.Operation(ctx, conn, op)
		o.End(1, nil)
	}); n != 0 {
		t.Errorf("an operation allocates %v times", n)
	}
	var off *Telemetry
	if n := testing.AllocsPerRun(1000, func() {
		ctx, a := off.Acquire(ctx, Lock{}, false)
		_, o := off.Operation(ctx, conn, op)
		o.End(1, nil)
		a.Granted(1, false)
	}); n != 0 {
		t.Errorf("what is turned off allocates %v times", n)
	}
}

func TestErrorType(t *testing.T) {
	for want, err := range map[string]error{
		"":                 nil,
		typeConnectionLoss: &zkconn.TransportError{Err: zkconn.ErrConnectionLoss, Detail: errors.New("EOF")},
		typeSessionExpired: zkconn.ErrSessionExpired,
		typeSessionMoved:   zkconn.ErrSessionMoved,
		typeNoAuth:         fmt.Errorf("create /a: %w", zkconn.ErrNoAuth),
		typeAuthFailed:     zkconn.ErrAuthFailed,
		typeNotFound:       zkconn.ErrNoNode,
		typeExists:         zkconn.ErrNodeExists,
		typeBadVersion:     zkconn.ErrBadVersion,
		typeTooLarge:       fmt.Errorf("%w: 2 MB", zkconn.ErrTooLarge),
		typeTimeout:        fmt.Errorf("%w: %w", context.DeadlineExceeded, zkconn.ErrConnectionLoss),
		typeCanceled:       fmt.Errorf("%w: %w", context.Canceled, zkconn.ErrConnectionLoss),
		typeClosed:         &zkconn.TransportError{Err: context.Canceled, Detail: zkconn.ErrClosed},
		typeOther:          errors.New("/secret"),
	} {
		if got := ErrorType(err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

// Nobody's node may make a waiter fail, or cost it much.
func FuzzParseOwner(f *testing.F) {
	f.Add([]byte("10.1.2.3\nowner=a\nhost=b\npid=3\ntraceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
	f.Add([]byte("__REVOKE__"))
	f.Add([]byte("\n=\n\n=="))
	tel := New(Config{})
	f.Fuzz(func(t *testing.T, data []byte) {
		o := layout.ParseOwner(data)
		if text := o.String(); len(text) > len(data)+len(" on , pid -9223372036854775808") || strings.ContainsAny(text, "\x1b\n") {
			t.Errorf("%q is of %q", data, text)
		}
		tel.link(t.Context(), o)
	})
}

// collecting is a meter that collects whenever a callback comes or goes, as an SDK may.
type collecting struct {
	noop.Meter
	times *int
}

type collectingProvider struct {
	noop.MeterProvider
	meter collecting
}

func (p collectingProvider) Meter(string, ...metric.MeterOption) metric.Meter { return p.meter }

func (m collecting) RegisterCallback(fn metric.Callback, _ ...metric.Observable) (metric.Registration, error) {
	r := registered{callback: fn, times: m.times}
	return r, r.Unregister()
}

type registered struct {
	noop.Registration
	callback metric.Callback
	times    *int
}

func (r registered) Unregister() error {
	*r.times++
	return r.callback(context.Background(), noop.Observer{})
}

// A cache comes and goes while metrics are collected.
func TestCacheIsFollowedDuringCollection(t *testing.T) {
	times := 0
	provider := collectingProvider{meter: collecting{times: &times}}
	tel := New(Config{Settings: tracing.NewSettings(tracing.WithMeterProvider(provider))})
	tel.Cache("config", "", noCache{}).Follow()()
	if times != 2 {
		t.Errorf("there were %d collections", times)
	}
}
