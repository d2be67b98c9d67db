package zkserver

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/zkserver/valve"
)

// ErrServerClosed is what Serve returns after Close.
var ErrServerClosed = errors.New("server closed")

// traffic counts the messages that went in and out.
type traffic struct {
	received, sent int64
}

// Server is a ZooKeeper server in memory. It is made by New.
type Server struct {
	config Config
	clock  *clock
	done   chan struct{} // closed by Close
	wg     sync.WaitGroup

	network link        // what every connection passes
	running valve.Valve // shut while the server is paused
	pauses  atomic.Int32

	mu        sync.Mutex
	store     *store
	conns     map[*conn]struct{} // all that are not closed yet, those that are gone included
	listeners map[net.Listener]struct{}
	links     map[int64]*link // of the sessions that were ever partitioned
	rules     []*rule
	nextReap  time.Time // when containers and timed nodes are looked at
	refusing  int       // how many callers of Refuse want connections refused
	started   bool      // its own goroutines run
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
		store:     newStore(config, clock),
		conns:     map[*conn]struct{}{},
		listeners: map[net.Listener]struct{}{},
		links:     map[int64]*link{},
		nextReap:  clock.now().Add(config.ContainerCheckInterval),
	}
}

// Serve serves the connections that l accepts. It returns ErrServerClosed after Close,
// which closes l, and the listener's error if that fails.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		l.Close()
		return ErrServerClosed
	}
	s.listeners[l] = struct{}{}
	s.startClocks()
	s.wg.Add(1)
	s.mu.Unlock()
	defer s.wg.Done()
	for {
		nc, err := l.Accept()
		if err != nil {
			return s.leave(l, err)
		}
		if c := s.admit(nc); c != nil {
			go s.run(c)
		}
	}
}

// leave stops serving a listener that has failed, and returns why.
func (s *Server) leave(l net.Listener, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
	if s.closed {
		return ErrServerClosed
	}
	return err
}

// ServeConn serves one connection and closes it. It returns at the connection's end.
func (s *Server) ServeConn(nc net.Conn) {
	if c := s.admit(nc); c != nil {
		s.run(c)
	}
}

// admit takes a connection in, to be passed to run. If it is refused, it is closed and
// the result is nil.
func (s *Server) admit(nc net.Conn) *conn {
	c := newConn(s, nc)
	s.mu.Lock()
	admitted := !s.closed && s.refusing == 0
	if admitted {
		s.conns[c] = struct{}{}
		s.startClocks()
		s.wg.Add(1)
	}
	s.mu.Unlock()
	if !admitted {
		nc.Close()
		return nil
	}
	return c
}

// run serves a connection that was admitted.
func (s *Server) run(c *conn) {
	defer s.wg.Done()
	c.serve()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// startClocks starts the goroutines of the server itself. The caller holds the lock.
func (s *Server) startClocks() {
	if s.started {
		return
	}
	s.started = true
	s.wg.Go(s.expireSessions)
	s.wg.Go(s.reapNodes)
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
		c.end()
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
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
	}
	c.session = nil
	s.store.forget(c)
}

// cut ends a connection at once. The caller holds the lock.
func (s *Server) cut(c *conn) {
	s.disconnect(c)
	c.end()
}

// finish ends a connection when what is in its queue has been sent. The caller holds the
// lock.
func (s *Server) finish(c *conn) {
	s.disconnect(c)
	c.out.close()
}
