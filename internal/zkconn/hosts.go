package zkconn

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/wait"
)

// hosts is the driver's list of servers. It keeps names, which are resolved for every
// attempt, and paces the attempts: the driver itself pauses only after a failed lap and
// not at all when connections open and break at once.
//
// There are two lists: what the user gave, and in front of it what the ensemble itself said,
// if it did. The names that an ensemble has for its servers may mean nothing here, as from
// outside a container's network. So each lap that fails goes on through the user's.
type hosts struct {
	mu       sync.Mutex
	servers  []string // the ones to use
	given    []string // by the user; what of it is not among servers is their reserve
	reserve  []string
	next     int
	tries    int // since a server has accepted a session
	failures int // attempts since a connection held
	backoff  *backoff.ExponentialBackOff
	stopped  bool
}

var _ zk.HostProvider = (*hosts)(nil)

func newHosts(n int) *hosts {
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(50*time.Millisecond),
		backoff.WithMaxInterval(time.Second),
		backoff.WithRandomizationFactor(1), // full jitter: from nothing to twice the interval
		backoff.WithMaxElapsedTime(0))
	return &hosts{backoff: b, servers: make([]string, 0, n)}
}

// Init takes the servers, which the driver has shuffled.
func (h *hosts) Init(servers []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.servers = append(h.servers, servers...)
	h.given = h.servers
	return nil
}

// set replaces all servers. It tells whether the one given, to which there is a
// connection, is still among them. The new ones have not failed yet.
func (h *hosts) set(servers []string, used string) (stays bool) {
	servers = shuffled(servers)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.servers, h.given, h.reserve = servers, servers, nil
	h.next, h.tries, h.failures = 0, 0, 0
	return slices.Contains(servers, used)
}

// prefer puts servers in front of those that the user gave. A list that is known already
// keeps its order, and the place in it: the next attempt shall be at the next server.
func (h *hosts) prefer(servers []string) {
	servers = shuffled(servers)
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Equal(slices.Sorted(slices.Values(servers)), slices.Sorted(slices.Values(h.servers))) {
		return
	}
	h.servers, h.reserve, h.next = servers, nil, 0
	for _, server := range h.given {
		if !slices.Contains(servers, server) {
			h.reserve = append(h.reserve, server)
		}
	}
}

func shuffled(servers []string) []string {
	servers = slices.Clone(servers)
	rand.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] })
	return servers
}

// Len returns the number of servers.
func (h *hosts) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lap()
}

// lap returns how many attempts there are until all servers were tried; h.mu is held.
func (h *hosts) lap() int { return len(h.servers) + len(h.reserve) }

// Next returns the next server. It never announces a completed lap, at which the driver
// pauses for a second: pacing is ours.
func (h *hosts) Next() (server string, retryStart bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.tries%h.lap() - len(h.servers)
	h.tries++
	if i >= 0 {
		return h.reserve[i], false
	}
	server = h.servers[h.next]
	h.next = (h.next + 1) % len(h.servers)
	return server, false
}

// Connected is the driver's word for a completed handshake. For the pace it counts how long
// the connection holds, see ended.
func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tries = 0
}

// ended notes the end of a connection or of an attempt at one.
func (h *hosts) ended(held bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if held {
		h.failures = 0
		h.backoff.Reset()
		return
	}
	h.failures++
}

// stop ends the attempts.
func (h *hosts) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
}

// pause returns how long to wait before the next attempt: nothing for the first lap.
func (h *hosts) pause() (d time.Duration, stopped bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failures < h.lap() {
		return 0, h.stopped
	}
	return h.backoff.NextBackOff(), h.stopped
}

// dial is the driver's dialer.
func (c *Conn) dial(network, address string, _ time.Duration) (net.Conn, error) {
	pause, stopped := c.hosts.pause()
	if stopped {
		<-c.life.Done() // Close, or rejected credentials: the driver cannot be stopped otherwise
	}
	if wait.For(c.life, pause) != nil {
		return newCloseStub(false), nil
	}
	ctx, cancel := context.WithTimeout(c.life, c.handshakeTimeout())
	defer cancel()
	raw, err := c.cfg.Dial(ctx, network, address)
	if err != nil {
		c.hosts.ended(false)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.life.Err() == nil {
			c.lastErr = because(address, err)
			c.push(Event{Kind: Attempted, Server: address, Err: err})
		}
		return nil, err
	}
	w := newMuxConn(c, &c.shared, c.cfg.SyncProof, raw, address)
	c.mu.Lock()
	c.dialed = w
	closed := c.closed
	c.mu.Unlock()
	if closed {
		w.fail(ErrClosed)
	}
	return w, nil
}
