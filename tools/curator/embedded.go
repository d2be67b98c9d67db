package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkserver"
	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/settings"
)

func (p *program) serverCommand() *cobra.Command {
	listen := settings.DefaultConnect
	cmd := &cobra.Command{
		Use:   "server [--listen ADDR]",
		Short: "Run the embedded ZooKeeper server, for development",
		Long: `Runs the embedded ZooKeeper server until SIGINT or SIGTERM, and then exits with
0. It is the server that "curator lock --embedded" starts if none runs. It is
for development on one machine: it is not part of an ensemble and stores nothing
on a disk, so its locks and data are lost when it ends.

It prints one line when it is ready. It exits with 69 if it cannot listen.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.Usagef("curator server takes no arguments, got %q", args[0])
			}
			if given := p.settings.Given(); len(given) > 0 {
				return console.Usagef("curator server does not take %s: it is a server itself", given[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), listen) },
	}
	cmd.Flags().StringVar(&listen, "listen", listen, "listen at `ADDR`, host:port; port 0 is any free port")
	return cmd
}

// serve runs a server until a signal asks this process to end.
func (p *program) serve(ctx context.Context, address string) error {
	if err := checkListen(address); err != nil {
		return err
	}
	sigs := console.Listen()
	defer sigs.Stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return console.Exitf(console.ExitUnavailable, "cannot listen at %s: the address is in use", address)
	case errors.Is(err, fs.ErrPermission):
		return console.Exitf(console.ExitForbidden, "cannot listen at %s: not permitted", address)
	case err != nil:
		return console.Exitf(console.ExitUnavailable, "cannot listen: %v", err)
	}
	if bound := listener.Addr().String(); !settings.IsLoopback(bound) {
		p.Notes.Say("%s can be reached from other machines, and the embedded server accepts every client", bound)
	}
	defer listener.Close()
	if _, err := fmt.Fprintf(p.Stdout, "%s embedded ZooKeeper server; %s\n", listener.Addr(), keepsNothing); err != nil {
		return err // run reports the error of stdout
	}
	_, err = sigs.Until(ctx, func(ctx context.Context) error { return serveUntil(ctx, newServer(p.Notes), listener) })
	return err
}

// serveUntil serves until ctx ends.
func serveUntil(ctx context.Context, server *zkserver.Server, listener net.Listener) error {
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = server.Close() // its error is always nil
	})
	if err := server.Serve(listener); !errors.Is(err, zkserver.ErrServerClosed) {
		return err
	}
	<-closed // Close returns when all connections have ended
	return nil
}

// checkListen returns an error unless address is host:port with a number as the port.
func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return console.Usagef("--listen %q is not host:port", address)
	}
	return nil
}

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

// embedded is the development server at an address. It runs in this process unless another process
// has the address.
type embedded struct {
	address string
	notes   *console.Notes

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
func newServer(notes *console.Notes) *zkserver.Server {
	return zkserver.New(zkserver.Config{
		TickTime:          embeddedTick,
		MaxSessionTimeout: embeddedMaxSession,
		Logger:            slog.New(serverLog{notes: notes}),
		FirstZxid:         time.Since(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)).Microseconds(),
	})
}

// Dial connects to the server. It starts the server in this process if none runs, also when the
// process in which it ran has ended.
func (e *embedded) Dial(ctx context.Context, network, address string) (net.Conn, error) {
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
		return false, fmt.Errorf("%w: it was closed", settings.ErrCannotServe)
	case e.server != nil:
		return true, nil
	}
	listener, err := net.Listen("tcp", e.address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%w: %w", settings.ErrCannotServe, err)
	}
	server := newServer(e.notes)
	e.server = server
	e.serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, zkserver.ErrServerClosed) {
			e.notes.Say("the embedded server does not accept connections any more: %v", err)
		}
	})
	e.notes.Say("started the embedded server at %s; %s", e.address, keepsNothing)
	return true, nil
}

// Leave stops the server, if it runs in this process, as soon as no other session uses it, or a
// signal asks this process to end.
func (e *embedded) Leave(ctx context.Context, sigs *console.Signals) {
	e.mu.Lock()
	server := e.server
	e.closed = server == nil
	e.mu.Unlock()
	if server == nil {
		return
	}
	_, _ = sigs.Until(ctx, func(ctx context.Context) error { return e.linger(ctx, server) })
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
			e.notes.Say("finished, but other sessions use the embedded server of this process: waiting until they end; a signal such as Ctrl-C stops the server at once")
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

// serverLog writes the embedded server's warnings to notes.
type serverLog struct {
	notes *console.Notes
	attrs []slog.Attr
}

var _ slog.Handler = serverLog{}

// Enabled reports whether a record is a warning or an error.
func (serverLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle writes a record as one note.
func (l serverLog) Handle(_ context.Context, r slog.Record) error {
	text := strings.Builder{}
	write := func(a slog.Attr) bool {
		fmt.Fprintf(&text, "; %s: %v", a.Key, a.Value)
		return true
	}
	for _, a := range l.attrs {
		write(a)
	}
	r.Attrs(write)
	l.notes.Say("the embedded server: %s%s", r.Message, &text)
	return nil
}

// WithAttrs returns a handler that adds attrs to each record.
func (l serverLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return serverLog{l.notes, append(slices.Clip(l.attrs), attrs...)}
}

// WithGroup returns the handler itself: the server uses no groups.
func (l serverLog) WithGroup(string) slog.Handler { return l }
