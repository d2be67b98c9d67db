// Package zkconn is the session layer. It owns the driver, github.com/go-zookeeper/zk, and adds the features that the
// driver lacks. Only driver.go uses the driver; package framework/zk imports it for its data types and errors.
//
// The driver connects, opens and resumes the session and sends pings. All its traffic passes
// through a [muxConn], the net.Conn of its dialer. The muxConn sets a deadline for the
// handshake, checks frames before the driver gets them, and adds our requests to the driver's
// session, with xids at and below -1000. It takes their replies and all watch events out of the
// stream. So every request has a context and is bound to its connection and session. It is known
// whether it was sent, and several can be sent in one write.
//
// # Goroutines
//
// The driver has one that connects and, for each connection, two that send and receive.
// Each muxConn has one that writes and, while it is read-only, two more that look for a server
// with a quorum. A [Conn] has one, the monitor, which checks the clock, asks for proofs and
// delivers events to subscribers in order, and one while the user's SASL mechanism runs.
// [Conn.Close] joins all of them, the goroutine of a mechanism only until its context ends.
//
// Mutexes are taken in the order Conn.mu, muxConn.mu, subscriptions.mu; all others are taken last. No I/O
// happens and no code of users runs while one of them is held. On the driver's goroutines the only code of users is
// Config.OnLoss, and the reads of a connection that a user's dialer has made.
package zkconn

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/zkconn/hosts"
	"github.com/go-curator/curator/state"
)

// Config says how to connect. Order, Auth, SASL, Secure, Resolve, Asleep, LossMargin, UnusedLossPercent,
// MaxBuffer, MaxInFlight and the flags may be zero; all others must be set.
type Config struct {
	Servers           []string    // host:port
	Order             hosts.Order // decides which server is next, in place of Servers; nil for none
	SessionTimeout    time.Duration
	ConnectionTimeout time.Duration // how long a call waits for a connection
	LossMargin        time.Duration // zero is an eighth of the negotiated timeout
	LossPercent       int           // after this part of its timeout without an answer the session is presumed over
	UnusedLossPercent int           // LossPercent of a session that nobody relies on, see Use; zero for that of all
	ReadOnly          bool          // use a server without a quorum while there is no other
	FailFast          bool          // a call waits no longer for a connection when all servers have been tried in vain
	SyncProof         bool          // prove the session by two syncs, without a write (S9)
	MaxRequest        int           // bytes
	MaxReply          int           // bytes
	MaxBuffer         int           // the servers' jute.maxbuffer, bytes; zero to refuse no ephemeral nodes
	MaxInFlight       int           // calls of Do, DoAtQuorum, Start and Subscribe that are sent at a time; zero for any number
	Auth              []Auth
	SASL              SASL // authenticates every connection before anything else is sent; nil for none
	Dial              func(ctx context.Context, network, address string) (net.Conn, error)
	// Secure puts TLS on a connection to a server, host:port as it is in Servers; nil means no TLS.
	Secure func(ctx context.Context, conn net.Conn, server string) (net.Conn, error)
	// Resolve looks up a host. Each of its addresses is dialed as a server of its own. It must return
	// when ctx ends. If it is nil, Dial gets names.
	Resolve hosts.Resolve
	Logger  *slog.Logger
	// Asleep is how long the machine has slept, from any beginning; nil asks the system.
	Asleep func() time.Duration
	// OnEvent is called for every event, in order and one at a time. It must not block.
	OnEvent func(Event)
	// OnLoss is called for every StateChanged, DeadlinePassed and SessionEnded, too, in order and one at a
	// time: before OnEvent, and before a call ends because of it. It is for those who rely on the session. It
	// may be called on any goroutine, also the driver's. It must not block, and must not wait for a call. It
	// may be nil.
	OnLoss func(Event)
}

// Conn is a connection to an ensemble: one session after the other, each over one
// connection after the other. It is safe for concurrent use.
type Conn struct {
	cfg     Config
	driver  *driver
	hosts   *hosts.List
	dialer  hosts.Dialer
	reports reports
	shared  // with its connections

	life        context.Context // ends with Close
	endLife     context.CancelFunc
	monitorDone chan struct{}
	presumes    atomic.Bool  // see PresumeAtTimeout
	epoch       atomic.Int64 // see Epoch

	mu      sync.Mutex
	link    link
	session session
	auth    auth
	end     ending
}

// ending is why there will be no connection, and what is certain of sessions that have ended. The lock of the Conn guards
// it, and done the last field.
type ending struct {
	sessions endedSessions
	fatal    error // rejected credentials
	why      error // what is known beyond that, or nil
	closed   bool
	done     chan struct{} // closed at the end of Close
	err      error         // of Close
}

// reason returns why a call cannot be answered, nil if it can be. sent says that the server may have the call.
func (e *ending) reason(sent bool) error {
	switch {
	case e.closed:
		return &TransportError{Err: ErrClosed, Sent: sent}
	case e.fatal != nil:
		return &TransportError{Err: e.fatal, Detail: e.why, Sent: sent}
	}
	return nil
}

// explain returns err, with the reason if Close or rejected credentials ended the connection.
func (c *Conn) explain(err error) error {
	lost, ok := errors.AsType[*TransportError](err)
	if !ok {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if why := c.end.reason(lost.Sent); why != nil {
		return why
	}
	return err
}

// whyNotSent returns why a call for session cannot be sent now or later; c.mu is held.
func (c *Conn) whyNotSent(session int64) error {
	if err := c.end.reason(false); err != nil {
		return err
	}
	if session != 0 && (c.session.id != session || c.session.over) {
		return &TransportError{Err: ErrSessionExpired}
	}
	return nil
}

// Session returns the current session's id and negotiated timeout; zero without one.
func (c *Conn) Session() (id int64, timeout time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session.over {
		return 0, c.session.timeout
	}
	return c.session.id, c.session.timeout
}

// State returns the connection's state.
func (c *Conn) State() state.ConnectionState {
	c.mu.Lock() // within a change it may be another one
	defer c.mu.Unlock()
	s, _ := c.reports.current()
	return s
}

// SetServers replaces the list of servers, host:port, which must not be empty. If the server in use
// is not in the new list, its connection is ended, and the session moves to another server. An
// attempt to connect to a server that is not in the new list is ended, too.
func (c *Conn) SetServers(servers []string) {
	c.hosts.Set(servers)
	c.endGone()
}

// endGone ends connections to servers that are no more on the list. There may be one to a new server already, which stays.
func (c *Conn) endGone() {
	c.mu.Lock()
	w, dialed := c.link.mux, c.link.dialed
	c.mu.Unlock()
	for _, w := range []*muxConn{w, dialed} {
		if w != nil && c.hosts.IsGone(w.attempt) {
			w.fail(hosts.ErrGone)
		}
	}
}

// PreferServers sets a list of servers, host:port, that are tried first. It must not be empty. The
// servers of Config or SetServers are tried when the whole list has failed. It is for a list that
// comes from the ensemble itself, and never ends a connection. SetServers undoes it.
func (c *Conn) PreferServers(servers []string) { c.hosts.Prefer(servers) }

// Timeout returns the timeout of the session, or without a session the one that will be asked for.
func (c *Conn) Timeout() time.Duration {
	if granted := c.granted.Load(); granted > 0 {
		return time.Duration(granted)
	}
	return c.cfg.SessionTimeout
}

// handshakeTimeout is how long a server has for the handshake. It is so short that the other servers
// can be tried before the session is over.
func (c *Conn) handshakeTimeout() time.Duration {
	timeout := c.Timeout()
	total := timeout * 2 / 3
	return max(min(timeout/3, total/time.Duration(c.hosts.Size())), 100*time.Millisecond)
}

// Use says that somebody relies on the session, or waits to, until Unuse. As long as somebody
// does, proofs are asked for (S2).
func (c *Conn) Use() { c.lease.Use() }

// Unuse undoes one Use.
func (c *Conn) Unuse() { c.lease.Unuse() }

// InUse tells whether somebody relies on the session, or did until a moment ago.
func (c *Conn) InUse() bool { return c.lease.InUse() }

// Margin returns how long before the earliest end of the session at the servers its deadline is.
func (c *Conn) Margin() time.Duration { return c.lease.Margin() }

// Deadline returns when belief in the session must end unless there is another proof before (S4).
// It is in the past when nobody has used the session for a while, see Use. ok is false when the
// session is over already.
func (c *Conn) Deadline(session int64) (deadline time.Time, ok bool) {
	return c.lease.Deadline(session)
}

// Unwatch gives a watch back. For a watch that has fired it does nothing. After Unwatch has returned,
// the watch's function is not called.
func (c *Conn) Unwatch(watch *Watch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	watch.over.Store(true)
	if unset := watch.unset.Load(); unset != nil {
		(*unset)(watch)
	}
}

// Observe calls fn when a connection has ended or begins: with WatchSuspended when the connection in
// use has ended, and with WatchReset before any reply or event of the next one. Replies that fail with
// a connection come between the two. WatchClosed is the last event: the client is closed. fn is called
// with locks of this package held: it must only pass the event on. connected tells whether there is a
// connection now; if not, the first one is reported by WatchReset.
func (c *Conn) Observe(fn func(EventType)) (o *Observer, connected bool) {
	o = &Observer{fn}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link.observers == nil {
		c.link.observers = map[*Observer]struct{}{}
	}
	c.link.observers[o] = struct{}{}
	return o, c.link.mux != nil
}

// Unobserve removes an observer: when it returns, its function is not called any more.
func (c *Conn) Unobserve(o *Observer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.link.observers, o)
}

// Listen calls fn for every event from now on, as Config.OnEvent is called, and behind it. server is the one in use
// now, "" without a connection.
func (c *Conn) Listen(fn func(Event)) (l *Listener, server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l = c.reports.listen(fn)
	if c.link.mux != nil {
		server = c.link.mux.server
	}
	return l, server
}

// Unlisten removes a listener. Events that are just delivered may still be told.
func (c *Conn) Unlisten(l *Listener) { c.reports.unlisten(l) }
