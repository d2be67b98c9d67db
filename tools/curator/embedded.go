package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkserver"
)

// The times of the embedded server. The shortest session timeout is a multiple of the tick.
const (
	embeddedTick       = 500 * time.Millisecond
	embeddedMaxSession = 10 * time.Minute
)

// Pauses around the start and the end of the embedded server.
const (
	portPause    = 20 * time.Millisecond  // until a port that another process has just bound accepts connections
	arrivalPause = 50 * time.Millisecond  // for the end of a handshake that has begun
	lingerPause  = 100 * time.Millisecond // between polls for the remaining sessions
)

// keepsNothing is the warning that every user of the embedded server gets.
const keepsNothing = "it is for development on one machine, and its locks and data are lost when it ends"

// errCannotServe is returned when the embedded server cannot be started, and another attempt would
// fail, too.
var errCannotServe = errors.New("the embedded server cannot be started")

// embedded is the development server at an address. It runs in this process unless another process
// has the address.
type embedded struct {
	address string
	notes   *notes

	mu      sync.Mutex
	server  *zkserver.Server // nil while the server is not in this process
	serving sync.WaitGroup
	closed  bool
}

// newServer returns an embedded server that writes its warnings to notes.
//
// When a server ends, another process may start one at the same address. The zxids of the new
// server must be higher than those of the old one, because fencing tokens must rise, and because
// a server refuses a client that has seen a higher zxid than its own. So a server starts with the
// time in microseconds as its zxid, and no server makes more than one transaction in a
// microsecond. The number is below 2^53, so that JavaScript can represent it, too.
func newServer(notes *notes) *zkserver.Server {
	return zkserver.New(zkserver.Config{
		TickTime:          embeddedTick,
		MaxSessionTimeout: embeddedMaxSession,
		Logger:            slog.New(serverLog{notes: notes}),
		FirstZxid:         time.Since(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)).Microseconds(),
	})
}

// dial connects to the server. It starts the server in this process if none runs, also when the
// process in which it ran has ended.
func (e *embedded) dial(ctx context.Context, network, address string) (net.Conn, error) {
	for {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return conn, err
		}
		switch started, err := e.serve(); {
		case err != nil:
			return nil, err
		case !started: // another process has bound the port, but does not listen yet
			if err := wait.For(ctx, portPause); err != nil {
				return nil, err
			}
		}
	}
}

// serve starts the server in this process, unless another process has the port.
func (e *embedded) serve() (started bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return false, fmt.Errorf("%w: it was closed", errCannotServe)
	case e.server != nil:
		return true, nil
	}
	listener, err := net.Listen("tcp", e.address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%w: %w", errCannotServe, err)
	}
	server := newServer(e.notes)
	e.server = server
	e.serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, zkserver.ErrServerClosed) {
			e.notes.say("the embedded server does not accept connections any more: %v", err)
		}
	})
	e.notes.say("started the embedded server at %s; %s", e.address, keepsNothing)
	return true, nil
}

// leave stops the server, if it runs in this process, as soon as no other session uses it, or a
// signal asks this process to end.
func (e *embedded) leave(ctx context.Context, sigs *signals) {
	if e == nil {
		return
	}
	e.mu.Lock()
	server := e.server
	e.closed = server == nil
	e.mu.Unlock()
	if server == nil {
		return
	}
	_, _ = sigs.until(ctx, func(ctx context.Context) error { return e.linger(ctx, server) })
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	_ = server.Close() // its error is always nil
	e.serving.Wait()
}

// linger waits until the server has no sessions.
func (e *embedded) linger(ctx context.Context, server *zkserver.Server) error {
	for told := false; !idle(ctx, server); {
		if !told {
			told = true
			e.notes.say("finished, but other sessions use the embedded server of this process: waiting until they end; a signal such as Ctrl-C stops the server at once")
		}
		if err := wait.For(ctx, lingerPause); err != nil {
			return err
		}
	}
	return nil
}

// idle reports whether a server has no sessions. If so, the server refuses new connections from
// then on.
func idle(ctx context.Context, server *zkserver.Server) bool {
	if len(server.Sessions()) > 0 {
		return false
	}
	accept := server.Refuse()
	if err := wait.For(ctx, arrivalPause); err == nil && len(server.Sessions()) > 0 {
		accept()
		return false
	}
	return true
}
