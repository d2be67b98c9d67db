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

// The embedded server's times: with a short tick, sessions can be short as well.
const (
	embeddedTick       = 500 * time.Millisecond
	embeddedMaxSession = 10 * time.Minute
)

// Pauses while the embedded server comes and goes.
const (
	portPause    = 20 * time.Millisecond  // until a port that was just taken answers
	arrivalPause = 50 * time.Millisecond  // for a handshake that is under way
	lingerPause  = 100 * time.Millisecond // between looks at who is still there
)

// keepsNothing is what everybody must know who uses the embedded server.
const keepsNothing = "it is for development on one machine and keeps nothing: its locks and data end with it"

// errCannotServe: the embedded server cannot be started, and that will not change.
var errCannotServe = errors.New("the embedded server cannot be started")

// embedded is the development server at an address: in this process if no other one has
// it.
type embedded struct {
	address string
	notes   *notes

	mu      sync.Mutex
	server  *zkserver.Server // nil while it is not in this process
	serving sync.WaitGroup
	closed  bool
}

// newServer returns an embedded server, whose warnings are noted. Servers follow each other at an address, and
// everything that one of them numbers must be higher than what the one before it did:
// fencing tokens must rise, and clients turn away from a server that knows less than they
// have seen. So the microseconds of the clock are counted on; no server does more than one
// transaction in each. That number fits into the integers that all languages have.
func newServer(notes *notes) *zkserver.Server {
	return zkserver.New(zkserver.Config{
		TickTime:          embeddedTick,
		MaxSessionTimeout: embeddedMaxSession,
		Logger:            slog.New(serverLog{notes: notes}),
		FirstZxid:         time.Since(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)).Microseconds(),
	})
}

// dial connects to the server, and starts it in this process if there is none: also when
// the process ends that had it before.
func (e *embedded) dial(ctx context.Context, network, address string) (net.Conn, error) {
	for {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return conn, err
		}
		switch started, err := e.serve(); {
		case err != nil:
			return nil, err
		case !started: // somebody else was quicker, but does not listen yet
			if err := wait.For(ctx, portPause); err != nil {
				return nil, err
			}
		}
	}
}

// serve starts the server in this process, unless its port is taken.
func (e *embedded) serve() (started bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return false, fmt.Errorf("%w: it was closed", errCannotServe)
	case e.server != nil:
		return true, nil
	}
	listener, err := net.Listen("tcp", e.address) //nolint:noctx // its error is final, the end of a dial is not
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
			e.notes.say("the embedded server takes no connections any more: %v", err)
		}
	})
	e.notes.say("started the embedded server at %s; %s", e.address, keepsNothing)
	return true, nil
}

// leave stops the server, if it is in this process, when nobody else needs it any more,
// or at a signal that asks us to end.
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
	_ = server.Close() // it has no error to tell
	e.serving.Wait()
}

// linger waits until the server has no sessions.
func (e *embedded) linger(ctx context.Context, server *zkserver.Server) error {
	for told := false; !idle(ctx, server); {
		if !told {
			told = true
			e.notes.say("done, but other sessions use the embedded server of this process: waiting for their end; a signal ends them at once")
		}
		if err := wait.For(ctx, lingerPause); err != nil {
			return err
		}
	}
	return nil
}

// idle tells whether a server has no sessions and will not get any: then it lets nobody in
// any more.
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
