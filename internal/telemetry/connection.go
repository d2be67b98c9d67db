package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tracing"
)

// connectionInstruments are those of a connection and its session.
type connectionInstruments struct {
	leaseRemaining, leaseNearest metric.Float64ObservableGauge
	watches                      metric.Int64ObservableUpDownCounter
	outstanding                  metric.Int64ObservableUpDownCounter
	oldest, ping                 metric.Float64ObservableGauge
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

// Connection is the part of a *zkconn.Conn that is observed.
type Connection interface {
	Session() (id int64, timeout time.Duration)
	Deadline(session int64) (deadline time.Time, ok bool)
	InUse() bool
	Stats() zkconn.Stats
	WatchCounts() zkconn.WatchCounts
}

// Follow adds the state of a connection to the metrics until stop is called.
func (t *Telemetry) Follow(conn Connection) (stop func()) {
	if t == nil {
		return func() {}
	}
	kinds := func(kind string) metric.ObserveOption {
		return metric.WithAttributes(labels{watchedType: kind}.attributes()...)
	}
	data, children, persistent := kinds("data"), kinds("children"), kinds("persistent")
	sent := metric.WithAttributes(labels{ioDirection: "transmit"}.attributes()...)
	received := metric.WithAttributes(labels{ioDirection: "receive"}.attributes()...)
	in := &t.connection
	registration, err := t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		id, _ := conn.Session()
		stats := conn.Stats()
		if deadline, ok := conn.Deadline(id); ok && conn.InUse() {
			o.ObserveFloat64(in.leaseRemaining, max(0, time.Until(deadline).Seconds()))
			o.ObserveFloat64(in.leaseNearest, max(0, stats.Nearest.Seconds()))
		}
		o.ObserveInt64(in.outstanding, int64(stats.Outstanding))
		o.ObserveFloat64(in.oldest, stats.Oldest.Seconds())
		if stats.Ping > 0 {
			o.ObserveFloat64(in.ping, stats.Ping.Seconds())
		}
		o.ObserveInt64(in.io, stats.Sent, sent)
		o.ObserveInt64(in.io, stats.Received, received)
		n := conn.WatchCounts()
		o.ObserveInt64(in.watches, int64(n.Data), data)
		o.ObserveInt64(in.watches, int64(n.Children), children)
		o.ObserveInt64(in.watches, int64(n.Persistent), persistent)
		return nil
	}, in.leaseRemaining, in.leaseNearest, in.watches, in.outstanding, in.oldest, in.ping, in.io)
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

// Attempted counts an attempt to connect. took is the time of one that succeeded.
func (t *Telemetry) Attempted(server string, err error, took time.Duration) {
	if t == nil {
		return
	}
	t.zeroSession()
	l := serverLabels(server, err)
	t.attempts.Add(background, 1, t.options.of(l).add...)
	if err == nil {
		t.connection.handshake.Record(background, took.Seconds(), t.options.of(l).record...)
	}
}

// Disconnected counts the end of a connection.
func (t *Telemetry) Disconnected(server string, err error) {
	if t != nil {
		t.connection.ends.Add(background, 1, t.options.of(serverLabels(server, err)).add...)
	}
}

// Proved records how long a request took that was to prove the session.
func (t *Telemetry) Proved(server string, err error, took time.Duration) {
	if t != nil {
		t.zeroSession() // an SDK may have been installed since the connection was made
		t.connection.proof.Record(background, took.Seconds(), t.options.of(serverLabels(server, err)).record...)
	}
}

func serverLabels(server string, err error) labels {
	host, _ := splitHostPort(server)
	kind := ErrorType(err)
	if kind == typeOther { // the network's
		kind = typeConnectionLoss
	}
	return labels{server: host, errorType: kind}
}
