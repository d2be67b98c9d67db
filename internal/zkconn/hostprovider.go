package zkconn

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"
)

// hostProvider is the list of servers. It paces the attempts: the driver itself pauses only after a
// failed round, and not at all when connections open and break at once.
//
// There are two lists: the user's, and before it the ensemble's own, if that is known. The names that
// an ensemble has for its servers may be useless here, for example outside of a container's network.
// So each round that fails goes on through the user's list.
//
// The lists have names. At the beginning of each round the names are looked up, and each address is a
// server of its own.
type hostProvider struct {
	resolve resolveFunc // nil: names are left alone
	order   Order       // decides in place of the lists; nil for none

	mu sync.Mutex
	serverLists
	round    roundEnd
	due      bool     // the names are to be resolved before the next attempt
	targets  []target // what servers stands for, in the order of the attempts
	others   []target // what fallback stands for
	next     int      // of targets
	tries    int      // since the beginning of the round
	failures int      // attempts since a connection held
	backoff  *backoff.ExponentialBackOff
	stopped  bool
	current  *attempt // the newest; nil before the first
	named    named    // by order
	unpaused int      // with an order: attempts since the last pause
}

// serverLists are the names of the servers.
type serverLists struct {
	servers    []string // the ones to use
	configured []string // by the user
	fallback   []string // those of configured that are not among servers
	version    int      // of the lists
}

// An attempt is one try to have a connection, and that connection if it succeeds.
type attempt struct {
	target target
	last   bool // of a round: no server was not tried
	probed bool // the connection was tried for deadlines, see checkDeadlines
	cancel context.CancelCauseFunc
	gone   bool // its server was taken off the list; guarded by hosts.mu
}

// errServerGone is why a connection or an attempt ends whose server was taken off the list.
var errServerGone = errors.New("the server is no more on the list")

func newHostProvider(servers []string, resolve resolveFunc) *hostProvider {
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(50*time.Millisecond),
		backoff.WithMaxInterval(time.Second),
		backoff.WithRandomizationFactor(1), // full jitter: from nothing to twice the interval
		backoff.WithMaxElapsedTime(0))
	servers = slices.Clone(servers)
	return &hostProvider{
		resolve: resolve, backoff: b, serverLists: serverLists{servers: servers, configured: servers}, due: true,
	}
}

// set replaces all servers, and tells whether the one of the newest attempt is still among
// them. If it is not, the attempt ends. The new servers have not failed yet.
func (h *hostProvider) set(servers []string) (stays bool) {
	servers = slices.Clone(servers)
	h.mu.Lock()
	h.servers, h.configured, h.fallback = servers, servers, nil
	h.version++
	h.due, h.targets, h.others, h.failures = true, nil, nil, 0
	a := h.current
	stays = a == nil || slices.Contains(servers, a.target.server)
	if !stays {
		a.gone = true
	}
	h.mu.Unlock()
	if !stays {
		a.cancel(errServerGone) // it may have contexts of a user's below it
	}
	return stays
}

// isGone tells whether the server of an attempt was taken off the list since it began.
func (h *hostProvider) isGone(a *attempt) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return a != nil && a.gone
}

// trying returns the server of the newest attempt, the zero target while it is looked up.
func (h *hostProvider) trying() target {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current == nil {
		return target{}
	}
	return h.current.target
}

// prefer puts servers before those of the user. If they are the servers that are used already, nothing
// changes: the next attempt goes to the next server.
func (h *hostProvider) prefer(servers []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Equal(slices.Sorted(slices.Values(servers)), slices.Sorted(slices.Values(h.servers))) {
		return
	}
	h.servers, h.fallback = slices.Clone(servers), nil
	h.version++
	h.due, h.targets, h.others = true, nil, nil
	for _, server := range h.configured {
		if !slices.Contains(servers, server) {
			h.fallback = append(h.fallback, server)
		}
	}
}

// size returns how many attempts make a round, in which all servers are tried.
func (h *hostProvider) size() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.perRound()
}

// perRound is size; h.mu is held. Before names are resolved each counts once.
func (h *hostProvider) perRound() int {
	switch {
	case h.order != nil:
		return max(h.named.size, 1)
	case len(h.targets) == 0:
		return len(h.servers) + len(h.fallback)
	}
	return len(h.targets) + len(h.others)
}

// begin begins an attempt. A round begins with the look-up of the names, which may take as long as
// bound says.
func (h *hostProvider) begin(ctx context.Context, bound time.Duration) (context.Context, *attempt) {
	if h.order != nil {
		return h.beginOrdered(ctx)
	}
	for {
		attemptCtx, cancel := context.WithCancelCause(ctx)
		h.mu.Lock()
		a := &attempt{cancel: cancel}
		h.current = a
		if !h.due {
			a.target, a.last = h.take()
			h.mu.Unlock()
			return attemptCtx, a
		}
		version, servers, fallback := h.version, h.servers, h.fallback
		h.mu.Unlock()

		lookUps, end := context.WithTimeout(attemptCtx, bound)
		targets := expand(lookUps, h.resolve, slices.Concat(servers, fallback))
		end()
		cancel(nil)
		h.mu.Lock()
		if h.version == version { // else these are the addresses of another list
			h.begun(slices.Concat(targets[:len(servers)]...), slices.Concat(targets[len(servers):]...))
		}
		h.mu.Unlock()
	}
}

// begun notes the addresses of a round that begins; h.mu is held. Known addresses keep their order, and
// the round begins with the next of them, not with the one that was lost just now.
func (h *hostProvider) begun(targets, others []target) {
	var known []target
	if len(h.targets) > 0 {
		known = slices.Concat(h.targets[h.next:], h.targets[:h.next])
	}
	h.targets, h.others = inOrder(known, targets), inOrder(nil, others)
	h.due, h.next, h.tries = false, 0, 0
}

// inOrder returns targets without duplicates: first those that are known, in their order, then the
// others in random order, so that clients spread.
func inOrder(known, targets []target) []target {
	var ordered, rest []target
	for _, t := range known {
		if i := slices.IndexFunc(targets, t.is); i >= 0 {
			ordered = append(ordered, targets[i])
		}
	}
	for _, t := range targets {
		if !slices.ContainsFunc(ordered, t.is) && !slices.ContainsFunc(rest, t.is) {
			rest = append(rest, t)
		}
	}
	rand.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return append(ordered, rest...)
}

// take returns the next server, and whether it is the last of its round; h.mu is held.
func (h *hostProvider) take() (t target, last bool) {
	i := h.tries - len(h.targets)
	h.tries++
	last = h.tries >= h.perRound()
	h.due = last
	if i >= 0 {
		return h.others[i], last
	}
	t = h.targets[h.next]
	h.next = (h.next + 1) % len(h.targets)
	return t, last
}

// ended notes the end of an attempt or of its connection. held says that the connection lasted for a
// while. An attempt whose server was taken off the list is no failure.
func (h *hostProvider) ended(a *attempt, held bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case held:
		h.failures = 0
		h.backoff.Reset()
	case a == nil || !a.gone:
		h.failures++
	}
}

// stop ends the attempts.
func (h *hostProvider) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
}

// pause returns how long to wait before the next attempt: nothing for the first round.
func (h *hostProvider) pause() (d time.Duration, stopped bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failures < h.perRound() || h.goesOn() {
		return 0, h.stopped
	}
	return h.backoff.NextBackOff(), h.stopped
}

// goOn undoes connected for the newest attempt, whose connection was of no use: the round goes on with the
// servers that were not tried.
func (h *hostProvider) goOn(a *attempt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a != nil && a == h.current && len(h.targets) > 0 {
		h.due = a.last
	}
}

// known returns the addresses of all servers, nil while they are not known.
func (h *hostProvider) known() []target {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.targets) < h.named.size {
		return nil
	}
	return slices.Concat(h.targets, h.others)
}

// connected notes that a server has accepted a session: the next attempt begins a round.
func (h *hostProvider) connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.due = true
}

// driverHosts is what the driver sees of hosts. Which server is next is decided when it is dialed,
// behind the pause: the list may have changed meanwhile.
type driverHosts struct {
	*hostProvider
	life context.Context
}

var _ zk.HostProvider = driverHosts{}

// Init is given the servers that hosts has.
func (h driverHosts) Init([]string) error { return nil }

// Len returns the number of servers.
func (h driverHosts) Len() int { return h.size() }

// Next returns what stands in the driver's messages. It never announces a completed round, at which the driver
// pauses for a second: pacing is ours.
func (h driverHosts) Next() (server string, retryStart bool) { return "the next server", false }

// Connected is called by the driver after a handshake. For the pace only the connection's duration
// counts, see ended.
func (h driverHosts) Connected() {
	if h.order != nil {
		h.orderConnected(h.life)
	}
	h.connected()
}
