package zkserver

import (
	"errors"
	"log/slog"
	"net"
	"syscall"
	"time"
)

// Pauses after a connection could not be accepted, and how often the log is told.
const (
	firstAcceptPause  = 5 * time.Millisecond
	maxAcceptPause    = time.Second
	acceptLogInterval = time.Minute
)

// Serve serves the connections that l accepts. It returns ErrServerClosed after Close,
// which closes l, and the listener's error if that fails for good.
//
// If l fails for a while, because the process has too many open files above all, Serve tries
// again: at once when a connection of the server ends, else after a pause, which grows to a
// second. Connections wait meanwhile, as long as the system lets them.
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
	trouble := acceptTrouble{logger: s.config.Logger}
	for {
		nc, err := l.Accept()
		if err != nil {
			if isTemporary(err) && s.awaitRoom(trouble.failed(err)) {
				continue
			}
			return s.leave(l, err)
		}
		trouble.ended()
		if c := s.admit(nc); c != nil {
			go s.run(c)
		}
	}
}

// acceptTrouble counts how often accepting connections has failed in a row.
type acceptTrouble struct {
	logger   *slog.Logger
	failures int
	pause    time.Duration
	logged   time.Time
}

// failed takes note of a failure, and returns how long to wait.
func (t *acceptTrouble) failed(err error) time.Duration {
	if now := time.Now(); t.failures == 0 && now.Sub(t.logged) >= acceptLogInterval {
		t.logged = now
		t.logger.Warn("cannot accept connections, trying on", "error", err)
	}
	t.failures++
	t.pause = min(max(2*t.pause, firstAcceptPause), maxAcceptPause)
	return t.pause
}

// ended takes note of a connection that was accepted.
func (t *acceptTrouble) ended() { t.failures, t.pause = 0, 0 }

// isTemporary tells whether accepting may succeed later. The error of a connection that has failed
// before it was accepted is temporary, too.
func isTemporary(err error) bool {
	for _, errno := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.ECONNRESET,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	var temporary interface{ Temporary() bool }
	return errors.As(err, &temporary) && temporary.Temporary()
}

// awaitRoom waits for a time, or until a connection has ended. It is false after Close.
func (s *Server) awaitRoom(pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.freed:
		return true
	case <-s.done:
		return false
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
	c := newConn(s, s.config, s.clock.now(), nc)
	c.gates = gates{closed: s.done, network: &s.network, running: &s.running}
	c.traffic = &s.traffic
	s.mu.Lock()
	admitted := s.admits()
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
	signal(s.freed)
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
