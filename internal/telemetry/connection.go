package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

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
		return metric.WithAttributes(labels{}.with(tracing.AttrWatchType, kind).attributes()...)
	}
	data, children, persistent := kinds("data"), kinds("children"), kinds("persistent")
	sent := metric.WithAttributes(semconv.NetworkIODirectionTransmit)
	received := metric.WithAttributes(semconv.NetworkIODirectionReceive)
	in := &t.connection
	return observe(t.meter, func(_ context.Context, o metric.Observer) error {
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
		o.ObserveInt64(in.ephemerals, int64(stats.Ephemerals))
		if stats.EphemeralLimit > 0 {
			o.ObserveInt64(in.ephemeralsLimit, int64(stats.EphemeralLimit))
		}
		if stats.List > 0 {
			o.ObserveInt64(in.children, int64(stats.List))
		}
		o.ObserveInt64(in.io, stats.Sent, sent)
		o.ObserveInt64(in.io, stats.Received, received)
		n := conn.WatchCounts()
		o.ObserveInt64(in.watches, int64(n.Data), data)
		o.ObserveInt64(in.watches, int64(n.Children), children)
		o.ObserveInt64(in.watches, int64(n.Persistent), persistent)
		return nil
	}, in.leaseRemaining, in.leaseNearest, in.watches, in.outstanding, in.oldest, in.ping, in.ephemerals, in.ephemeralsLimit, in.children, in.io)
}

// states has the names of the connection's states in metrics.
var states = map[state.ConnectionState]string{
	state.Connected: "connected", state.Suspended: "suspended", state.Reconnected: "reconnected",
	state.Lost: "lost", state.ReadOnly: "read_only",
}

// zeroSession adds 0 to the counters of the connection and the session.
func (t *Telemetry) zeroSession() {
	t.zeroes.add(background, t.session.transitions, labels{}, func() {
		for _, name := range states {
			t.session.transitions.Add(background, 0, t.options.of(labels{}.with(tracing.AttrState, name)).add...)
		}
		for _, cause := range []string{tracing.CauseServer, tracing.CauseLocalDeadline} {
			t.session.expirations.Add(background, 0, t.options.of(labels{}.with(tracing.AttrExpirationCause, cause)).add...)
		}
	})
}

// Transition counts a change of the connection's state.
func (t *Telemetry) Transition(s state.ConnectionState, session int64) {
	if t == nil {
		return
	}
	t.zeroSession()
	t.session.transitions.Add(background, 1, t.options.of(labels{}.with(tracing.AttrState, states[s])).add...)
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
	t.session.expirations.Add(background, 1, t.options.of(labels{}.with(tracing.AttrExpirationCause, cause)).add...)
	t.driver.event("session-expired", session)
}

// ServersChanged records that there is another list of servers.
func (t *Telemetry) ServersChanged(session int64) {
	if t != nil {
		t.driver.event("connection-string-changed", session)
	}
}

// Attempted counts an attempt to connect. took is the time of one that succeeded.
func (t *Telemetry) Attempted(server string, err error, took time.Duration) {
	if t == nil {
		return
	}
	t.zeroSession()
	l := serverLabels(server, err)
	t.session.attempts.Add(background, 1, t.options.of(l).add...)
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
