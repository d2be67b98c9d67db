// Package zkserver is a ZooKeeper server in memory. It speaks the wire protocol and answers
// like a standalone ZooKeeper 3.8.0, or like a later release: the same replies, error codes, Stat fields,
// sequence numbers and watch events, in the same order. docs/embedded-server.md has its requests, its limits,
// its differences from ZooKeeper, the oddities of ZooKeeper that it shares, and the tests.
//
// The state of the server is in package tree, which has no network and no clock.
//
// A [Server] is safe for concurrent use. One mutex guards its state, and no input or output
// happens under it: messages to a connection go into a queue, and the connection's own
// goroutine writes them, so a client that does not read delays no others. A request takes
// memory as its bytes arrive, not by its announced length.
//
// The server uses only the time of package time, so a Server that is made inside a bubble of
// testing/synctest, and serves connections without sockets, uses virtual time.
// [Server.AdvanceClock] moves its clock ahead.
//
// [Server.Inject], [Server.Partition], [Server.Pause] and other methods make faults.
//
// [Server.Close] ends every connection and returns when every goroutine has ended.
package zkserver

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/netfault"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// ErrServerClosed is what Serve returns after Close.
var ErrServerClosed = errors.New("server closed")

// pause is a Pause that has not ended.
type pause struct{ release func() }

// Server is a ZooKeeper server in memory. It is made by New.
type Server struct {
	config Config
	clock  *clock
	done   chan struct{} // closed by Close
	freed  chan struct{} // has something when a connection has ended
	wg     sync.WaitGroup

	network link          // what every connection passes
	running netfault.Gate // shut while the server is paused

	mu        sync.Mutex
	state     *tree.State
	conns     map[*conn]struct{} // all that are not closed yet, those that are gone included
	holders   map[int64]*conn    // the connections of sessions that have one
	listeners map[net.Listener]struct{}
	links     map[int64]*link // of the sessions that were ever partitioned
	rules     rules
	pauses    map[*pause]struct{} // those that have not ended
	nextReap  time.Time           // when containers and timed nodes are looked at
	refusing  int                 // how many callers of Refuse want connections refused
	started   bool                // its own goroutines run
	stopped   bool                // between Stop and Start
	closed    bool
	traffic   traffic
}

// New returns a Server without data. It starts nothing: Serve and ServeConn do.
func New(config Config) *Server {
	config = config.withDefaults()
	clock := newClock()
	return &Server{
		config:    config,
		clock:     clock,
		done:      make(chan struct{}),
		freed:     make(chan struct{}, 1),
		state:     tree.New(clock.now(), config.tree()),
		conns:     map[*conn]struct{}{},
		holders:   map[int64]*conn{},
		listeners: map[net.Listener]struct{}{},
		links:     map[int64]*link{},
		pauses:    map[*pause]struct{}{},
		nextReap:  clock.now().Add(config.ContainerCheckInterval),
	}
}

// Close ends every connection, closes the listeners and returns when every goroutine of
// the server has ended. It can be called more than once. Its error is nil.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	var listeners []net.Listener
	for l := range s.listeners {
		listeners = append(listeners, l)
	}
	for c := range s.conns {
		c.gone = true
		c.sever()
	}
	s.mu.Unlock()
	if first {
		close(s.done)
	}
	for _, l := range listeners {
		l.Close() // Accept returns, whatever this does
	}
	s.wg.Wait()
	return nil
}

// say tells the log of what requests have exceeded. The caller does not hold the lock.
func (s *Server) say(exceeded []tree.Exceeded) {
	for _, e := range exceeded {
		s.config.Logger.Warn("quota exceeded, and not enforced", "path", e.Path, "limit", e.Limit, "used", e.Used, "max", e.Max)
	}
}

// lose takes a connection out of the state: nothing comes from it any more.
func (s *Server) lose(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	finishing := c.gone
	s.disconnect(c)
	if !finishing {
		c.end()
	}
}

// disconnect makes a connection one that no request comes from and no watch tells
// anything. It does not close it. The caller holds the lock.
func (s *Server) disconnect(c *conn) {
	c.gone = true
	if sess := c.client.Session; sess != nil && s.holders[sess.ID()] == c {
		delete(s.holders, sess.ID())
	}
	c.client.Session = nil
	s.state.Forget(&c.client)
}

// cut ends a connection at once. The caller holds the lock.
func (s *Server) cut(c *conn) {
	s.disconnect(c)
	c.end()
}

// sever is cut for what somebody else does than the server, which may be paused. The caller
// holds the lock.
func (s *Server) sever(c *conn) {
	s.disconnect(c)
	c.sever()
}

// admits tells whether new connections are served. The caller holds the lock.
func (s *Server) admits() bool { return !s.closed && !s.stopped && s.refusing == 0 }

// finish ends a connection when what is in its queue has been sent. The caller holds the
// lock.
func (s *Server) finish(c *conn) {
	s.disconnect(c)
	c.out.close()
}

// Get returns a node's data and Stat, and whether there is one.
func (s *Server) Get(path string) ([]byte, jute.Stat, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Get(path)
}

// Children returns the names of a node's children, sorted; none if there is no such node.
func (s *Server) Children(path string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Children(path)
}

// Watches returns how many watches there are.
func (s *Server) Watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Watches()
}

// Sessions returns the ids of the sessions, sorted.
func (s *Server) Sessions() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Sessions()
}

// SetSequence sets the number that the next sequential child of a node gets. Its Cversion
// changes with it. It is false if there is no such node.
func (s *Server) SetSequence(path string, next int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.SetSequence(path, next)
}

// Create makes a persistent node with an open ACL, in a transaction of its own, as a client's
// request would. It returns the code of the answer.
func (s *Server) Create(path string, data []byte) jute.Code {
	s.mu.Lock()
	reply := s.state.Create(s.clock.now(), path, data)
	s.mu.Unlock()
	s.say(reply.Exceeded)
	return reply.Code
}

// clock is the server's only clock: that of package time, as far ahead as it was moved.
type clock struct {
	start time.Time // ticks are counted from here

	mu    sync.Mutex
	ahead time.Duration
	moved chan struct{} // closed by the next advance
}

func newClock() *clock { return &clock{start: time.Now(), moved: make(chan struct{})} }

// now returns the time.
func (c *clock) now() time.Time { return c.start.Add(c.elapsed()) }

// elapsed returns how long ago the clock was made.
func (c *clock) elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.start) + c.ahead
}

// until returns how long it is until t, and a channel that is closed when that is no
// longer so.
func (c *clock) until(t time.Time) (time.Duration, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Until(t) - c.ahead, c.moved
}

// advance moves the clock ahead.
func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
	close(c.moved)
	c.moved = make(chan struct{})
}
