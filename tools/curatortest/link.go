package curatortest

import (
	"slices"
	"time"

	"github.com/go-curator/curator/internal/zkserver/netfault"
)

// Link is a part of the network of an [Ensemble]: the messages between a server and its
// clients, or between servers, in one direction or in both. Methods of [Member] return it, and
// its own methods break it:
//
//	leader.Peers().Silence()                  // a leader alone: nothing passes in either direction
//	leader.From().Reset()                     // deposed, and it does not know
//	follower.From(leader).Delay(time.Second)  // a follower that lags
//	follower.Clients(curatortest.ToClient).Silence()
//	follower.Peers().And(follower.Clients(curatortest.Both)).Silence() // as if unplugged
//
// A direction that is broken more than once works again when every fault has been healed. A
// Link may be used more than once, and by several goroutines. The zero Link is empty: And can
// extend it, and its faults do nothing.
type Link struct {
	tb   TB
	ways []proxyWay
}

// Clients returns the link between clients and this server, in the given direction. The port for
// TLS is part of it: see WithTLS.
func (m *Member) Clients(d Direction) Link {
	m.ensemble.tb.Helper()
	if !checkDirection(m.ensemble.tb, "Clients", d) {
		return Link{tb: m.ensemble.tb}
	}
	link := Link{m.ensemble.tb, []proxyWay{{m.proxy, d.netfault(), clientPort}}}
	if m.secure != nil {
		link.ways = append(link.ways, proxyWay{m.secure, d.netfault(), clientPort})
	}
	return link
}

// netfault returns the direction as proxies and the embedded server name it.
func (d Direction) netfault() netfault.Direction {
	switch d {
	case ToServer:
		return netfault.ToServer
	case ToClient:
		return netfault.ToClient
	default:
		return netfault.Both
	}
}

// To returns the link from this server to others of its ensemble: messages that it sends to
// them, on connections that either of them has opened. Without an argument it is the link to
// all of them. It covers both connections between two servers, for the quorum and for
// elections: see Link.Quorum.
//
// The test fails for a standalone server, for an ensemble WithReconfig, and for a member of
// another ensemble.
func (m *Member) To(others ...*Member) Link {
	m.ensemble.tb.Helper()
	return m.peers(others, func(self, other int) []proxyWay { return m.ensemble.peers.ways(self, other) })
}

// From returns the link from others to this server: messages that they send to it. See To.
func (m *Member) From(others ...*Member) Link {
	m.ensemble.tb.Helper()
	return m.peers(others, func(self, other int) []proxyWay { return m.ensemble.peers.ways(other, self) })
}

// Peers returns the link between this server and others in both directions. See To.
func (m *Member) Peers(others ...*Member) Link {
	m.ensemble.tb.Helper()
	return m.To(others...).And(m.From(others...))
}

// peers returns the link between this server and others, or all other servers if others is empty.
func (m *Member) peers(others []*Member, ways func(self, other int) []proxyWay) Link {
	e := m.ensemble
	e.tb.Helper()
	link := Link{tb: e.tb}
	if e.peers == nil {
		e.tb.Fatalf("the network between ZooKeeper servers: there is only one server, or it was started WithReconfig")
		return link
	}
	self := slices.Index(e.members, m)
	if len(others) == 0 {
		others = slices.Delete(e.Members(), self, self+1)
	}
	for _, other := range others {
		i := slices.Index(e.members, other)
		if i < 0 || i == self {
			e.tb.Fatalf("the network between ZooKeeper servers: each argument must be another server of the same ensemble")
			return link
		}
		link.ways = append(link.ways, ways(self, i)...)
	}
	return link
}

// And returns the link that consists of l and another one.
func (l Link) And(other Link) Link {
	tb := l.tb
	if tb == nil {
		tb = other.tb
	}
	return Link{tb, slices.Concat(l.ways, other.ways)}
}

// Quorum returns the part of l that carries the work of the quorum: proposals, the leader's
// pings, requests that followers forward. A link to clients has no such part.
func (l Link) Quorum() Link { return l.on(quorumPort) }

// Election returns the part of l that carries the votes of elections. A link to clients has no
// such part.
func (l Link) Election() Link { return l.on(electionPort) }

// on returns the part of l that goes to ports of one kind.
func (l Link) on(p port) Link {
	part := Link{tb: l.tb}
	for _, w := range l.ways {
		if w.port == p {
			part.ways = append(part.ways, w)
		}
	}
	return part
}

// Silence lets nothing through until heal is called or the test ends. Connections stay open,
// and neither end notices. As in a real network, where lost packets are sent again, messages
// that were on their way arrive late. New connections seem to be accepted, and are established
// when the fault is healed, if the client still waits then, because connecting takes both
// directions.
func (l Link) Silence() (heal func()) {
	return l.each(func(w proxyWay) func() { return w.proxy.Hold(w.direction) })
}

// Reset ends connections at the end that sends in the direction of l, and refuses new ones,
// until heal is called or the test ends. Messages on their way are lost. The other end does not
// notice: its connection stays open and is silent, and ends when the fault is healed. If l has
// both directions, the connections of both ends end immediately.
//
// Reset is like a network that rejects packets; Silence is like a network that drops them. A
// new connection is accepted and immediately reset, and not refused by the system, because the
// port stays in use.
func (l Link) Reset() (heal func()) {
	return l.each(func(w proxyWay) func() { return w.proxy.Reset(w.direction) })
}

// Delay makes everything take d longer in the direction of l until heal is called or the test
// ends. The order stays, and messages that are sent together take that time once. One
// connection has at most 64 messages or 1 MB on their way. Connecting takes no time. A d below
// zero fails the test. WithLatency is the same for the whole life of a server.
func (l Link) Delay(d time.Duration) (heal func()) {
	if d < 0 && l.tb != nil {
		l.tb.Helper()
		l.tb.Fatalf("delay a link by %v: the delay must not be below 0", d)
		return func() {}
	}
	return l.each(func(w proxyWay) func() { return w.proxy.Delay(w.direction, d) })
}

// inOrder returns a function that calls the given functions in order.
func inOrder(functions []func()) func() {
	return func() {
		for _, f := range functions {
			f()
		}
	}
}

// each calls damage for every way of a link, and returns a function that heals them all.
func (l Link) each(damage func(proxyWay) (heal func())) (heal func()) {
	var heals []func()
	for _, w := range l.ways {
		heals = append(heals, damage(w))
	}
	heal = inOrder(heals)
	if len(heals) > 0 {
		l.tb.Cleanup(heal)
	}
	return heal
}

// Partition lets nothing through between clients and this server in the given direction,
// without closing connections, until heal is called or the test ends. Messages that were on
// their way arrive late. The servers of an ensemble still reach each other: see Isolate. It is
// Clients(d).Silence().
func (m *Member) Partition(d Direction) (heal func()) {
	m.ensemble.tb.Helper()
	return m.Clients(d).Silence()
}

// Isolate lets nothing through between this server and the other ones of its ensemble,
// without closing connections, until heal is called or the test ends. Clients still reach it,
// and it continues to answer them until it notices: a follower that has lost its leader answers
// reads and pings meanwhile, while the others end the sessions of its clients. It notices after
// 20 ticks, or after WithSyncLimit. A standalone server, or one WithReconfig, cannot be
// isolated: the test fails. It is Peers().Silence().
func (m *Member) Isolate() (heal func()) {
	m.ensemble.tb.Helper()
	return m.Peers().Silence()
}
