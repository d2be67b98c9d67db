package telemetry

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/go-curator/curator/tracing"
)

// instruments are the metrics of one client.
type instruments struct {
	options optionCache
	zeroes  zeroes
	meter   metric.Meter

	operationDuration metric.Float64Histogram
	retries           metric.Int64Counter
	connection        connectionInstruments
	session           sessionInstruments
	lock              lockInstruments
	leader            leaderInstruments
	queue             queueInstruments
	cache             *cacheInstruments
	atomicTries       metric.Int64Histogram
	recreations       metric.Int64Counter
}

// The boundaries of the histograms. The first are those of the conventions for databases.
var (
	operationBounds = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	acquireBounds   = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300}
	holdBounds      = []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400}
	contenderBounds = []float64{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}
)

func newInstruments(m metric.Meter) *instruments {
	return &instruments{
		options: optionCache{all: map[labels]options{}},
		zeroes:  zeroes{done: map[labels]bool{}},
		meter:   m,
		operationDuration: made(m.Float64Histogram(tracing.MetricOperationDuration, metric.WithUnit("s"),
			metric.WithDescription("Duration of database client operations."), metric.WithExplicitBucketBoundaries(operationBounds...))),
		retries: made(m.Int64Counter(tracing.MetricRetries, metric.WithUnit("{retry}"),
			metric.WithDescription("Repeated tries of operations."))),
		connection: newConnectionInstruments(m),
		session:    newSessionInstruments(m),
		lock:       newLockInstruments(m),
		leader:     newLeaderInstruments(m),
		queue:      newQueueInstruments(m),
		cache:      newCacheInstruments(m),
		atomicTries: made(m.Int64Histogram(tracing.MetricAtomicTries, metric.WithUnit("{try}"),
			metric.WithDescription("Tries of a change of an atomic value."), metric.WithExplicitBucketBoundaries(contenderBounds...))),
		recreations: made(m.Int64Counter(tracing.MetricNodeRecreations, metric.WithUnit("{creation}"),
			metric.WithDescription("Creations of kept nodes after the first one."))),
	}
}

// connectionInstruments are the metrics of a connection.
type connectionInstruments struct {
	leaseRemaining, leaseNearest metric.Float64ObservableGauge
	watches                      metric.Int64ObservableUpDownCounter
	outstanding                  metric.Int64ObservableUpDownCounter
	oldest, ping                 metric.Float64ObservableGauge
	ephemerals, ephemeralsLimit  metric.Int64ObservableGauge
	children                     metric.Int64ObservableGauge
	io                           metric.Int64ObservableCounter
	ends                         metric.Int64Counter
	handshake, proof             metric.Float64Histogram
}

func newConnectionInstruments(m metric.Meter) connectionInstruments {
	return connectionInstruments{
		leaseRemaining: made(m.Float64ObservableGauge(tracing.MetricLeaseRemaining, metric.WithUnit("s"),
			metric.WithDescription("Time until leases end unless the session is proved again; while it is in use."))),
		leaseNearest: made(m.Float64ObservableGauge(tracing.MetricLeaseNearest, metric.WithUnit("s"),
			metric.WithDescription("The least that this time was since it was collected last."))),
		watches: made(m.Int64ObservableUpDownCounter(tracing.MetricWatches, metric.WithUnit("{watch}"),
			metric.WithDescription("Watches that servers have for the client."))),
		outstanding: made(m.Int64ObservableUpDownCounter(tracing.MetricOutstanding, metric.WithUnit("{request}"),
			metric.WithDescription("Requests that wait to be written or answered."))),
		oldest: made(m.Float64ObservableGauge(tracing.MetricOldestRequest, metric.WithUnit("s"),
			metric.WithDescription("How long the oldest request waits for its answer."))),
		ping: made(m.Float64ObservableGauge(tracing.MetricPingDuration, metric.WithUnit("s"),
			metric.WithDescription("How long the last ping took."))),
		ephemerals: made(m.Int64ObservableGauge(tracing.MetricEphemeralsSize, metric.WithUnit("By"),
			metric.WithDescription("What the paths of the session's ephemeral nodes take in the transaction that ends it; at most."))),
		ephemeralsLimit: made(m.Int64ObservableGauge(tracing.MetricEphemeralsLimit, metric.WithUnit("By"),
			metric.WithDescription("The servers' jute.maxbuffer, above which that transaction may end them."))),
		children: made(m.Int64ObservableGauge(tracing.MetricChildrenSize, metric.WithUnit("By"),
			metric.WithDescription("The largest list of children that was read since it was collected last."))),
		io: made(m.Int64ObservableCounter(tracing.MetricIO, metric.WithUnit("By"),
			metric.WithDescription("Bytes that were sent and received."))),
		ends: made(m.Int64Counter(tracing.MetricDisconnects, metric.WithUnit("{connection}"),
			metric.WithDescription("Connections that ended, and why."))),
		handshake: made(m.Float64Histogram(tracing.MetricHandshakeDuration, metric.WithUnit("s"),
			metric.WithDescription("From the connection to the session."), metric.WithExplicitBucketBoundaries(operationBounds...))),
		proof: made(m.Float64Histogram(tracing.MetricProofDuration, metric.WithUnit("s"),
			metric.WithDescription("How long the requests took that prove the session."), metric.WithExplicitBucketBoundaries(operationBounds...))),
	}
}

// sessionInstruments are the metrics of sessions.
type sessionInstruments struct{ attempts, transitions, expirations metric.Int64Counter }

func newSessionInstruments(m metric.Meter) sessionInstruments {
	return sessionInstruments{
		attempts: made(m.Int64Counter(tracing.MetricConnectionAttempts, metric.WithUnit("{attempt}"),
			metric.WithDescription("Attempts to connect to a server."))),
		transitions: made(m.Int64Counter(tracing.MetricSessionTransitions, metric.WithUnit("{transition}"),
			metric.WithDescription("Changes of the connection's state."))),
		expirations: made(m.Int64Counter(tracing.MetricSessionExpirations, metric.WithUnit("{session}"),
			metric.WithDescription("Sessions that ended without being closed."))),
	}
}

// lockInstruments are the metrics of locks.
type lockInstruments struct {
	acquireDuration, holdDuration metric.Float64Histogram
	held, pending                 metric.Int64UpDownCounter
	losses, dropped               metric.Int64Counter
	contenders                    metric.Int64Histogram
	sequenceRemaining             metric.Int64Gauge
}

func newLockInstruments(m metric.Meter) lockInstruments {
	return lockInstruments{
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

// queueInstruments are the metrics of queues.
type queueInstruments struct {
	duration    metric.Float64Histogram
	redelivered metric.Int64Counter
}

func newQueueInstruments(m metric.Meter) queueInstruments {
	return queueInstruments{
		duration: made(m.Float64Histogram(tracing.MetricQueueProcessDuration, metric.WithUnit("s"),
			metric.WithDescription("How long nodes of a queue were worked on."), metric.WithExplicitBucketBoundaries(acquireBounds...))),
		redelivered: made(m.Int64Counter(tracing.MetricQueueRedelivered, metric.WithUnit("{node}"),
			metric.WithDescription("Nodes of a queue that were handed out and are to be handed out again."))),
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

// observe has fn observe the instruments until stop is called.
func observe(m metric.Meter, fn metric.Callback, instruments ...metric.Observable) (stop func()) {
	registration, err := m.RegisterCallback(fn, instruments...)
	if err != nil {
		otel.Handle(err)
		return func() {}
	}
	return func() {
		if err := registration.Unregister(); err != nil {
			otel.Handle(err)
		}
	}
}

// made reports the error of an instrument, which can be used even then.
func made[I any](instrument I, err error) I {
	if err != nil {
		otel.Handle(err)
	}
	return instrument
}

// labels are all attributes that metrics can have, so that no path, id, token or error text becomes
// one. Empty ones are left out.
type labels struct {
	kind      string        // of a lock
	nameKey   attribute.Key // whose name it is
	name      string        // the user's
	valueKey  attribute.Key // what the value says
	value     string        // one of a closed set
	system    string
	operation string
	server    string
	errorType string
}

// with returns the labels with a value of a closed set.
func (l labels) with(key attribute.Key, value string) labels {
	l.valueKey, l.value = key, value
	return l
}

func (l labels) attributes() []attribute.KeyValue {
	var attrs []attribute.KeyValue
	add := func(key attribute.Key, value string) {
		if value != "" {
			attrs = append(attrs, key.String(value))
		}
	}
	add(tracing.AttrLockKind, l.kind)
	add(l.nameKey, l.name)
	add(l.valueKey, l.value)
	add(semconv.DBSystemNameKey, l.system)
	add(semconv.DBOperationNameKey, l.operation)
	add(semconv.ServerAddressKey, l.server)
	add(semconv.ErrorTypeKey, l.errorType)
	return attrs
}

// options are labels in the form that instruments take.
type options struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

// optionCache has the options of all labels that were used; there are few.
type optionCache struct {
	mu  sync.RWMutex
	all map[labels]options
}

func (c *optionCache) of(l labels) options {
	c.mu.RLock()
	o, ok := c.all[l]
	c.mu.RUnlock()
	if ok {
		return o
	}
	set := metric.WithAttributeSet(attribute.NewSet(l.attributes()...))
	o = options{add: []metric.AddOption{set}, record: []metric.RecordOption{set}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[l] = o
	return o
}

// maxName is the longest name in metrics, in bytes.
const maxName = 128

// CheckName returns an error unless the name, which a user has set with the named option, may
// become an attribute of metrics.
func CheckName(option, name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%s(%q) is no text of one line and 1 to %d bytes", option, name, maxName)
	}
	return nil
}

// system is the db.system.name of operations.
const system = "zookeeper"

// zeroes knows which counters have a sample with 0. A counter that begins with 1 is one for which Prometheus
// sees no increase.
type zeroes struct {
	mu   sync.RWMutex
	done map[labels]bool
}

// add calls zero once for the labels of a lock or a queue, or none for the session, as soon as counter is
// enabled. A program may install its SDK later than it makes the client, and until then zero would be lost.
func (z *zeroes) add(ctx context.Context, counter metric.Int64Counter, l labels, zero func()) {
	if !counter.Enabled(ctx) {
		return
	}
	z.mu.RLock()
	done := z.done[l]
	z.mu.RUnlock()
	if done {
		return
	}
	zero() // twice does no harm
	z.mu.Lock()
	defer z.mu.Unlock()
	z.done[l] = true
}
