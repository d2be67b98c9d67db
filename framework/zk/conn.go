package zk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// Conn is a session with an ensemble. It is safe for concurrent use.
type Conn struct {
	hooks
	*settings // of Connect
	eventChan chan Event

	client *framework.Client
	api    *zkclient.Client
	conn   *zkconn.Conn
	own    bool // the client is ours to close

	log      logging
	events   events
	progress progress
	bounds   bounds
	watchers watchers
	reliance reliance

	follower follower
	closing  sync.Once
	closed   atomic.Bool
}

// follower is how the session layer tells a Conn of its events.
type follower struct {
	listener *zkconn.Listener
	observer *zkconn.Observer
	begun    chan struct{} // closed when the first events have been told: no other comes before
}

// ConnectWithDialer is Connect with WithDialer. It is deprecated, as in the driver.
func ConnectWithDialer(servers []string, sessionTimeout time.Duration, dialer Dialer) (*Conn, <-chan Event, error) {
	return Connect(servers, sessionTimeout, WithDialer(dialer))
}

// Connect opens a session with servers, host or host:port, and returns at once: calls wait for a connection themselves.
// The channel gets the events of the session and of watched nodes, and is closed at the end of Close.
func Connect(servers []string, sessionTimeout time.Duration, options ...connOption) (*Conn, <-chan Event, error) {
	if len(servers) == 0 {
		return nil, nil, errors.New("zk: server list must not be empty")
	}
	c := newConn(&settings{logInfo: true, maxRequest: defaultBufferSize})
	for _, o := range options {
		if o == nil {
			return nil, nil, errors.New("zk: an option is nil")
		}
		o(c)
	}
	c.attach(c)
	if c.hostProvider == nil {
		c.hostProvider = NewDNSHostProvider()
	}
	servers = FormatServers(servers)
	rand.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] }) // clients spread
	if err := c.hostProvider.Init(servers); err != nil {
		return nil, nil, err
	}
	if c.log.logger.Load() == nil { // an option may have called SetLogger
		c.log.set(c.logger)
	}
	c.log.info, c.own = c.logInfo, true
	sessionTimeout = min(max(sessionTimeout, 10*time.Millisecond), maxTimeout)
	client, err := framework.NewClient("127.0.0.1", policy(), c.clientOptions(sessionTimeout, &c.log)...)
	if err == nil {
		err = client.Start(zkconn.WithSettings(context.Background(), func(cfg *zkconn.Config) {
			c.sessionSettings(cfg, c.follower.begun)
		}))
	}
	if err != nil {
		close(c.follower.begun)
		return nil, nil, fmt.Errorf("zk: %w", err)
	}
	c.begin(client)
	return c, c.eventChan, nil
}

// NewConn returns a Conn on the session of a client, which must be started. Its paths are those of the client: below its
// chroot and namespace. Close leaves the client open. The channel begins with the state of now.
//
// A call waits for a connection as those of Connect do, whatever the client's retry policy and connection timeout
// are; but a protected create is repeated by that policy. A lock, or another place in a queue, has the session given
// up at its deadline, for all who use the client.
func NewConn(client *framework.Client) (*Conn, <-chan Event, error) {
	api := zkclient.Of(client)
	_, err := api.Conn()
	if err == nil {
		_, err = api.ServerPath("/") // it may be a view with a namespace that is none
	}
	if err != nil {
		return nil, nil, fmt.Errorf("zk: %w", err)
	}
	c := newConn(&settings{})
	c.log.set(nil)
	c.begin(client)
	if _, err := api.Conn(); err != nil { // nobody may tell of that any more
		c.end()
		return nil, nil, fmt.Errorf("zk: %w", err)
	}
	return c, c.eventChan, nil
}

func newConn(s *settings) *Conn {
	return &Conn{settings: s, eventChan: make(chan Event, maxUnread), follower: follower{begun: make(chan struct{})}}
}

// begin connects the Conn with its client, which was started.
func (c *Conn) begin(client *framework.Client) {
	defer close(c.follower.begun)
	c.client, c.api = client, zkclient.Of(client)
	c.conn = c.api.Opened()
	c.events.channel, c.events.callback, c.events.run = c.eventChan, c.callback, c.api.Callback
	c.bounds.start(c.api.Life(), c.conn)
	c.reliance.conn = c.conn
	c.watchers = watchers{events: &c.events, shown: c.shown, kept: !c.own, all: map[*watcher]struct{}{}}
	var server string
	c.follower.listener, server = c.conn.Listen(c.told)
	if server != "" {
		c.tell(c.progress.begin(server, c.conn.State() == state.ReadOnly))
	}
	c.follower.observer, _ = c.conn.Observe(func(e zkconn.EventType) {
		if e == zkconn.WatchClosed { // by whoever closes the client
			c.end()
		}
	})
}

// told is called by the session layer, one event after the other.
func (c *Conn) told(e zkconn.Event) {
	<-c.follower.begun
	if e.Kind == zkconn.DeadlinePassed && c.reliance.onPlace(e.Session) {
		// Others may be ahead in the queue soon. The driver's API has one way to say so: the session is over.
		c.conn.GiveUp(e.Session)
	}
	if e.Kind == zkconn.Attempted && e.Err != nil && c.own {
		c.log.printf("failed to connect to %s: %v", e.Target, e.Err)
	}
	c.tell(c.progress.take(e, c.conn.State() == state.ReadOnly))
	if e.Kind == zkconn.SessionEnded {
		c.events.ended()
		c.reliance.ended(e.Session)
	}
}

func (c *Conn) tell(events []Event) {
	for _, ev := range events {
		c.events.session(ev)
	}
}

// Client returns the client on the session of this Conn, for recipes and for operations with a context. It is
// closed by Close, unless NewConn was given it.
func (c *Conn) Client() *framework.Client {
	if c == nil || c.conn == nil {
		return nil
	}
	c.reliance.share()
	return c.client
}

// Close ends the session and the Conn. It waits for the server to confirm that, for a second at most. All calls that
// wait return ErrConnectionClosed, all watches get EventNotWatching with ErrClosing, and the channel of events is
// closed behind the last StateDisconnected. Only the first Close does something.
//
// With a client of NewConn the session goes on, with its ephemeral nodes.
func (c *Conn) Close() {
	if c == nil || c.conn == nil {
		return
	}
	c.closing.Do(func() {
		c.closed.Store(true)
		if c.own {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(c.api.Life()), time.Second)
			defer cancel()
			if err := c.client.Close(ctx); err != nil {
				c.log.printf("close: %v", err)
			}
		} else {
			c.conn.Unlisten(c.follower.listener)
			c.conn.Unobserve(c.follower.observer)
			for w := range c.watchers.present() {
				c.conn.Unwatch(&w.Watch)
			}
		}
		c.end()
	})
}

// end tells all who wait that the Conn is closed. It may be called with locks of the session layer, and more than once.
func (c *Conn) end() {
	c.closed.Store(true)
	c.watchers.end()
	_, server := c.progress.now(false)
	c.progress.take(zkconn.Event{Kind: zkconn.Disconnected}, false)
	c.events.close(Event{Type: EventSession, State: StateDisconnected, Server: server})
	c.reliance.close()
	c.bounds.cancel()
}

// isClosed tells whether Close was called. A Conn that was not made here is like one that is closed.
func (c *Conn) isClosed() bool {
	return c == nil || c.conn == nil || c.closed.Load()
}

// State returns the state of the session.
func (c *Conn) State() State {
	if c.isClosed() {
		return StateDisconnected
	}
	s := c.conn.State()
	if s == state.ReadOnly {
		return StateConnectedReadOnly
	}
	now, _ := c.progress.now(s.IsConnected())
	return now
}

// SessionID returns the id of the session, 0 without one.
func (c *Conn) SessionID() int64 {
	if c == nil || c.conn == nil {
		return 0
	}
	id, _ := c.conn.Session()
	return id
}

// Server returns the server in use, or the one that was tried last.
func (c *Conn) Server() string {
	if c == nil || c.conn == nil {
		return ""
	}
	if server := c.conn.Server(); server != "" {
		return server
	}
	_, server := c.progress.now(false)
	return server
}

// SetLogger sets where is logged from now on. With a client of NewConn, it logs only what WithLogger of that does not.
func (c *Conn) SetLogger(l Logger) {
	if c != nil {
		c.log.set(l)
	}
}

// path returns the server's path for one that the driver takes.
func (c *Conn) path(p string, sequential bool) (string, error) {
	if err := validatePath(p, sequential); err != nil {
		return "", err
	}
	if c == nil {
		return "", ErrConnectionClosed
	}
	return c.full(p, sequential), nil
}

// full returns the server's path. What is no path stays as it is: the server refuses it.
func (c *Conn) full(p string, sequential bool) string {
	if c.root() == "" || !strings.HasPrefix(p, "/") {
		return p
	}
	return c.api.Full(p, sequential)
}

// shown returns a path of the server's as the program knows it.
func (c *Conn) shown(full string) string {
	if c.root() == "" {
		return full
	}
	return c.api.ClientPath(full)
}

// root is what the chroot and the namespace of the client put before every path.
func (c *Conn) root() string {
	if c == nil || c.api == nil {
		return ""
	}
	return c.api.Root()
}

// made notes that an ephemeral node is made, or is about to be, in a session.
func (c *Conn) made(session int64, sequential bool) {
	if !c.isClosed() {
		c.reliance.made(session, sequential)
	}
}

// bounds ends calls: none outlives two session timeouts, or the Conn. Calls that begin within an eighth of the timeout
// share a context, so that a call need not make one.
type bounds struct {
	conn   *zkconn.Conn
	base   context.Context // ends with the Conn
	cancel context.CancelFunc

	current atomic.Pointer[bound]
	mu      sync.Mutex
}

type bound struct {
	ctx   context.Context
	until time.Time // the last moment at which a call may begin with it
}

// start begins the life of the bounds, which ends with that of the client or by cancel.
func (b *bounds) start(life context.Context, conn *zkconn.Conn) {
	b.conn = conn
	b.base, b.cancel = context.WithCancel(zkconn.FailFast(life, 24*time.Hour)) // each context has a deadline before that
}

// next returns the context of a call that begins now.
func (b *bounds) next() context.Context {
	now := time.Now()
	if current := b.current.Load(); current != nil && now.Before(current.until) {
		return current.ctx
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if current := b.current.Load(); current != nil && now.Before(current.until) {
		return current.ctx
	}
	timeout := b.conn.Timeout()
	ctx, cancel := context.WithDeadline(b.base, now.Add(2*timeout))
	context.AfterFunc(ctx, cancel) // the deadline ends it, or the Conn
	b.current.Store(&bound{ctx, now.Add(timeout / 8)})
	return ctx
}
