package telemetry

import (
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

// instruments are the metrics of one client.
type instruments struct {
	options optionCache
	meter   metric.Meter

	operationDuration metric.Float64Histogram
	acquireDuration   metric.Float64Histogram
	holdDuration      metric.Float64Histogram
	held, pending     metric.Int64UpDownCounter
	losses, dropped   metric.Int64Counter
	contenders        metric.Int64Histogram
	sequenceRemaining metric.Int64Gauge
	transitions       metric.Int64Counter
	expirations       metric.Int64Counter
	attempts, retries metric.Int64Counter
	recreations       metric.Int64Counter
	connection        connectionInstruments
	atomicTries       metric.Int64Histogram
	queueDuration     metric.Float64Histogram
	queueRedelivered  metric.Int64Counter
	leader            leaderInstruments
	cache             *cacheInstruments
}

// The boundaries of the histograms. The first are those of the conventions for databases.
var (
	operationBounds = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	acquireBounds   = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300}
	holdBounds      = []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400}
	contenderBounds = []float64{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}
)

func newInstruments(provider metric.MeterProvider) *instruments {
	m := provider.Meter(tracing.ScopeName,
		metric.WithInstrumentationVersion(version), metric.WithSchemaURL(semconv.SchemaURL))
	return &instruments{
		options: optionCache{all: map[labels]options{}},
		meter:   m,
		operationDuration: made(m.Float64Histogram(tracing.MetricOperationDuration, metric.WithUnit("s"),
			metric.WithDescription("Duration of database client operations."), metric.WithExplicitBucketBoundaries(operationBounds...))),
		acquireDuration: made(m.Float64Histogram(tracing.MetricAcquireDuration, metric.WithUnit("s"),
			metric.WithDescription("How long acquires took, granted or not."), metric.WithExplicitBucketBoundaries(acquireBounds...))),
		holdDuration: made(m.Float64Histogram(tracing.MetricHoldDuration, metric.WithUnit("s"),
			metric.WithDescription("How long locks were held."), metric.WithExplicitBucketBoundaries(holdBounds...))),
		held: made(m.Int64UpDownCounter(tracing.MetricHeld, metric.WithUnit("{lock}"),
			metric.WithDescription("Locks that are held."))),
		pending: made(m.Int64UpDownCounter(tracing.MetricPending, metric.WithUnit("{request}"),
			metric.WithDescription("Acquires on their way."))),
		losses: made(m.Int64Counter(tracing.MetricLosses, metric.WithUnit("{loss}"),
			metric.WithDescription("Locks that were lost while they were held."))),
		dropped: made(m.Int64Counter(tracing.MetricDropped, metric.WithUnit("{lease}"),
			metric.WithDescription("Leases that became unreachable without release; their locks stay held."))),
		contenders: made(m.Int64Histogram(tracing.MetricContenders, metric.WithUnit("{contender}"),
			metric.WithDescription("Contenders of a lock, the own one included, when one joins them."), metric.WithExplicitBucketBoundaries(contenderBounds...))),
		sequenceRemaining: made(m.Int64Gauge(tracing.MetricSequenceRemaining, metric.WithUnit("{create}"),
			metric.WithDescription("Numbers that are left for nodes of the lock."))),
		transitions: made(m.Int64Counter(tracing.MetricSessionTransitions, metric.WithUnit("{transition}"),
			metric.WithDescription("Changes of the connection's state."))),
		expirations: made(m.Int64Counter(tracing.MetricSessionExpirations, metric.WithUnit("{session}"),
			metric.WithDescription("Sessions that ended without being closed."))),
		attempts: made(m.Int64Counter(tracing.MetricConnectionAttempts, metric.WithUnit("{attempt}"),
			metric.WithDescription("Attempts to connect to a server."))),
		retries: made(m.Int64Counter(tracing.MetricRetries, metric.WithUnit("{retry}"),
			metric.WithDescription("Repeated tries of operations."))),
		recreations: made(m.Int64Counter(tracing.MetricNodeRecreations, metric.WithUnit("{creation}"),
			metric.WithDescription("Creations of kept nodes after the first one."))),
		connection: newConnectionInstruments(m),
		atomicTries: made(m.Int64Histogram(tracing.MetricAtomicTries, metric.WithUnit("{try}"),
			metric.WithDescription("Tries of a change of an atomic value."), metric.WithExplicitBucketBoundaries(contenderBounds...))),
		queueDuration: made(m.Float64Histogram(tracing.MetricQueueProcessDuration, metric.WithUnit("s"),
			metric.WithDescription("How long nodes of a queue were worked on."), metric.WithExplicitBucketBoundaries(acquireBounds...))),
		queueRedelivered: made(m.Int64Counter(tracing.MetricQueueRedelivered, metric.WithUnit("{node}"),
			metric.WithDescription("Nodes of a queue that were handed out and are to be handed out again."))),
		leader: newLeaderInstruments(m),
		cache:  newCacheInstruments(m),
	}
}

// leaderInstruments are the metrics of elections.
type leaderInstruments struct {
	status      metric.Int64UpDownCounter
	transitions metric.Int64Counter
}

func newLeaderInstruments(m metric.Meter) leaderInstruments {
	return leaderInstruments{
		status: made(m.Int64UpDownCounter(tracing.MetricLeaderStatus, metric.WithUnit("{leader}"),
			metric.WithDescription("Whether this process leads: 1, else 0."))),
		transitions: made(m.Int64Counter(tracing.MetricLeaderTransitions, metric.WithUnit("{transition}"),
			metric.WithDescription("Beginnings and ends of terms of this process."))),
	}
}

// cacheInstruments are the metrics of caches.
type cacheInstruments struct {
	nodes  metric.Int64ObservableUpDownCounter
	events metric.Int64Counter
	stale  metric.Float64ObservableGauge

	// observing is not taken by the observation: an SDK makes callers of RegisterCallback and
	// Unregister wait for a collection that calls us.
	observing sync.Mutex
	stop      func() // ends the observation; nil if nothing is followed; guarded by observing

	mu       sync.Mutex
	followed map[CacheState]string // with their names
}

func newCacheInstruments(m metric.Meter) *cacheInstruments {
	return &cacheInstruments{
		nodes: made(m.Int64ObservableUpDownCounter(tracing.MetricCacheNodes, metric.WithUnit("{node}"),
			metric.WithDescription("Nodes in caches."))),
		events: made(m.Int64Counter(tracing.MetricCacheEvents, metric.WithUnit("{event}"),
			metric.WithDescription("Nodes that were created, changed or deleted in caches."))),
		stale: made(m.Float64ObservableGauge(tracing.MetricCacheStale, metric.WithUnit("s"),
			metric.WithDescription("How long caches have not been able to follow the servers."))),
		followed: map[CacheState]string{},
	}
}

// CacheState is the part of a cache that is observed.
type CacheState interface {
	Len() int
	Stale() (since time.Time, stale bool)
}

// made reports the error of an instrument, which can be used even then.
func made[I any](instrument I, err error) I {
	if err != nil {
		otel.Handle(err)
	}
	return instrument
}

// states has the names of the connection's states in metrics.
var states = map[state.ConnectionState]string{
	state.Connected: "connected", state.Suspended: "suspended", state.Reconnected: "reconnected",
	state.Lost: "lost", state.ReadOnly: "read_only",
}

// zeroSession adds 0 to the counters of the connection and the session.
func (t *Telemetry) zeroSession() {
	t.zeroes.add(background, t.transitions, zeroKey{of: tracing.MetricSessionTransitions}, func() {
		for _, name := range states {
			t.transitions.Add(background, 0, t.options.of(labels{state: name}).add...)
		}
		for _, cause := range []string{tracing.CauseServer, tracing.CauseLocalDeadline} {
			t.expirations.Add(background, 0, t.options.of(labels{expirationCause: cause}).add...)
		}
	})
}

// Transition counts a change of the connection's state.
func (t *Telemetry) Transition(s state.ConnectionState, session int64) {
	if t == nil {
		return
	}
	t.zeroSession()
	t.transitions.Add(background, 1, t.options.of(labels{state: states[s]}).add...)
	switch {
	case s.IsConnected():
		t.connected.Store(true)
	case s == state.Suspended && t.connected.Load():
		t.driver.event("Disconnected", session)
	case s == state.Lost:
		t.driver.event("Expired", session)
	}
}

// Expired counts the end of a session. presumed says that no server has reported it.
func (t *Telemetry) Expired(session int64, presumed bool) {
	if t == nil {
		return
	}
	t.zeroSession()
	cause := tracing.CauseServer
	if presumed {
		cause = tracing.CauseLocalDeadline
	}
	t.expirations.Add(background, 1, t.options.of(labels{expirationCause: cause}).add...)
	t.driver.event("session-expired", session)
}

// ServersChanged records that there is another list of servers.
func (t *Telemetry) ServersChanged(session int64) {
	if t != nil {
		t.driver.event("connection-string-changed", session)
	}
}
