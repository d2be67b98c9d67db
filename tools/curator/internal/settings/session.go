package settings

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/output"
)

const (
	// ConnectTimeout bounds the wait for the first connection.
	ConnectTimeout = 15 * time.Second
	// retryDelay is the pause between attempts of a request while there is no connection.
	retryDelay = 200 * time.Millisecond
	// CloseTimeout bounds the wait for the confirmation of a session's end.
	CloseTimeout = 2 * time.Second
)

// Session is a client of the ensemble of the settings, for one command.
type Session struct {
	*console.Console
	Settings *Settings
	Ensemble Ensemble
	Client   *framework.Client
	Signals  *console.Signals // nil until the command listens to them

	dialer *dialer
}

// Server is how a Session reaches a server that this process may have to start.
type Server struct {
	// Dial connects to it, nil is by TCP. An error that matches ErrCannotServe is final.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Embeds says that the command has the flag --embedded.
	Embeds bool
}

// ErrCannotServe is returned by Server.Dial when the server cannot be started, and another attempt would
// fail, too.
var ErrCannotServe = errors.New("the embedded server cannot be started")

// NewSession returns a session that is not started, after it has checked all that can be checked
// without a server.
func NewSession(c *console.Console, set *Settings, server Server, opts ...framework.Option) (*Session, error) {
	s := &Session{Console: c, Settings: set, Ensemble: set.Ensemble()}
	s.dialer = &dialer{servers: s.Ensemble.Servers, server: server, opaque: set.TLS}
	options, err := set.Options()
	if err != nil {
		return nil, console.Usagef("%v", err)
	}
	options = append(options,
		framework.WithConnectionTimeout(ConnectTimeout),
		framework.WithErrorPolicy(state.SessionErrorPolicy()),
		framework.WithDialer(s.dialer.dial),
		framework.WithLogger(slog.New(slog.DiscardHandler))) // commands report what the user must know
	s.Client, err = framework.NewClient(set.Connect, retry.Forever(retryDelay), append(options, opts...)...)
	if err != nil {
		return nil, console.Usagef("%v", err)
	}
	return s, nil
}

// Connect starts the client and waits for the first connection.
func (s *Session) Connect(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ctx, connected := s.dialer.whileConnecting(ctx)
	defer connected()
	err := s.Client.Start(ctx)
	if err == nil {
		err = s.Client.BlockUntilConnected(ctx)
	}
	var cause *hopeless
	switch {
	case err == nil:
		return nil
	case errors.As(context.Cause(ctx), &cause):
		return console.Exitf(console.ExitUnavailable, "%v", cause)
	case errors.Is(err, context.DeadlineExceeded):
		return console.Exitf(console.ExitUnavailable, "no ZooKeeper server answered at %s within %v: %v", s.Ensemble, timeout, err)
	}
	return s.Explain(err)
}

// Close ends the session.
func (s *Session) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CloseTimeout)
	defer cancel()
	return s.Client.Close(ctx)
}

// Explain returns an Exit with the code for err.
func (s *Session) Explain(err error) error {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
	var known *console.Exit
	switch {
	case errors.As(err, &known):
		return err
	case is(framework.ErrNoAuth, framework.ErrAuthFailed):
		return console.Exitf(console.ExitForbidden, "%v", err)
	case is(framework.ErrNoNode) && s.Ensemble.chroot != "":
		return console.Usagef("the chroot %s of %s does not exist", s.Ensemble.chroot, s.Ensemble)
	case is(locks.ErrKindMismatch, framework.ErrInvalidPath, framework.ErrInvalidACL, framework.ErrInvalidOption,
		framework.ErrNoChildrenForEphemerals):
		return console.Usagef("%v", err)
	case is(framework.ErrNotReadOnly):
		return console.Exitf(console.ExitUnavailable, "%v: the server has no quorum, and serves reads only", err)
	case is(framework.ErrConnectionLoss, framework.ErrSessionExpired, context.DeadlineExceeded, context.Canceled):
		return console.Exitf(console.ExitUnavailable, "%v", err)
	}
	return console.Exitf(console.ExitInternal, "%v", err)
}

// TellStates logs each connection state until stop is called.
func (s *Session) TellStates() (stop func()) {
	return s.Client.ConnectionStateListenable().Add(func(_ context.Context, now state.ConnectionState) {
		switch now {
		case state.Connected, state.Reconnected, state.ReadOnly:
			s.Notes.Say("session %s: %v to %s, timeout %v", output.Hex(s.Client.SessionID()), now, s.Client.Server(), s.Client.SessionTimeout())
		default:
			s.Notes.Say("session %s: %v", output.Hex(s.Client.SessionID()), now)
		}
	})
}

const defaultPort = "2181"

// Ensemble has the parts of a connect string. The client checks whether the string is valid.
type Ensemble struct {
	Servers   []string // host:port, sorted, without duplicates
	chroot    string
	namespace string
}

// Ensemble returns the parts of the connect string and the namespace.
func (s *Settings) Ensemble() Ensemble {
	e := parseEnsemble(s.Connect)
	e.namespace = s.Namespace
	return e
}

func parseEnsemble(connect string) Ensemble {
	hosts, chroot, found := strings.Cut(connect, "/")
	e := Ensemble{}
	if found && chroot != "" {
		e.chroot = "/" + chroot
	}
	for host := range strings.SplitSeq(hosts, ",") {
		host = strings.TrimSpace(host)
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)
		}
		e.Servers = append(e.Servers, host)
	}
	slices.Sort(e.Servers)
	e.Servers = slices.Compact(e.Servers)
	return e
}

// String returns the servers in the form of a connect string.
func (e Ensemble) String() string { return strings.Join(e.Servers, ",") }

// Lock returns a name of the lock at path. It is the same for all connect strings with the same
// servers. Of different names of a host it only knows that localhost is 127.0.0.1.
func (e Ensemble) Lock(path string) string {
	servers := e.String()
	if rest, ok := strings.CutPrefix(servers, "localhost:"); ok {
		servers = "127.0.0.1:" + rest
	}
	if e.namespace != "" {
		path = "/" + e.namespace + path
	}
	return servers + e.chroot + path
}

// IsLoopback reports whether only this machine can reach address.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
