package zk

import (
	"context"
	"errors"
	"fmt"
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
	holding  atomic.Bool // the session has an ephemeral sequential node of this Conn, or had one

	follower follower
	closing  sync.Once
	closed   atomic.Bool
}

// follower is how the session layer tells a Conn of its events.
type follower struct {
	listener *zkconn.Listener
	observer *zkconn.Observer
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
	if err := c.hostProvider.Init(servers); err != nil {
		return nil, nil, err
	}
	if c.log.logger.Load() == nil { // an option may have called SetLogger
		c.log.set(c.logger)
	}
	c.log.info, c.own = c.logInfo, true
	sessionTimeout = min(max(sessionTimeout, 10*time.Millisecond), 24*time.Hour)
	client, err := framework.NewClient("127.0.0.1", policy(), c.clientOptions(sessionTimeout, &c.log)...)
	if err == nil {
		err = client.Start(zkconn.WithSettings(context.Background(), c.sessionSettings))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("zk: %w", err)
	}
	c.begin(client, sessionTimeout)
	return c, c.eventChan, nil
}

// NewConn returns a Conn on the session of a client, which must be started. Its paths are those of the client: below its
// chroot and namespace. Close leaves the client open. The channel begins with the state of now.
//
// A call waits for a connection as those of Connect do, whatever the client's retry policy and connection timeout
// are.
func NewConn(client *framework.Client) (*Conn, <-chan Event, error) {
	api := zkclient.Of(client)
	if _, err := api.Conn(); err != nil {
		return nil, nil, fmt.Errorf("zk: %w", err)
	}
	_, timeout := api.Opened().Session()
	c := newConn(&settings{})
	c.log.set(nil)
	c.begin(client, max(timeout, time.Second))
	return c, c.eventChan, nil
}

func newConn(s *settings) *Conn {
	return &Conn{settings: s, eventChan: make(chan Event, maxUnread)}
}

// begin connects the Conn with its client, which was started with a session timeout.
func (c *Conn) begin(client *framework.Client, sessionTimeout time.Duration) {
	c.client, c.api = client, zkclient.Of(client)
	c.conn = c.api.Opened()
	c.events.channel, c.events.callback, c.events.run = c.eventChan, c.callback, c.api.Callback
	c.bounds = bounds{conn: c.conn, asked: sessionTimeout, base: zkconn.FailFast(c.api.Life(), 2*sessionTimeout)}
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
	if e.Kind == zkconn.DeadlinePassed && c.holding.Load() {
		// Others may be ahead in the queue soon. The driver's API has one way to say so: the session is over.
		c.conn.GiveUp(e.Session)
	}
	c.tell(c.progress.take(e, c.conn.State() == state.ReadOnly))
}

func (c *Conn) tell(events []Event) {
	for _, ev := range events {
		c.events.session(ev)
	}
}

// Client returns the client on the session of this Conn, for recipes and for operations with a context. It is
// closed by Close, unless NewConn was given it.
func (c *Conn) Client() *framework.Client {
	if c == nil {
		return nil
	}
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
	if c.holding.Swap(false) {
		c.conn.Unuse()
	}
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

// path returns the server's path. The driver's rules are checked before, and those of the client, which are stricter,
// with a chroot or namespace only.
func (c *Conn) path(p string, sequential bool) (string, error) {
	if err := validatePath(p, sequential); err != nil {
		return "", err
	}
	root := c.root()
	switch {
	case c == nil:
		return "", ErrConnectionClosed
	case root == "":
		return p, nil
	case p == "/" && !sequential:
		return root, nil
	}
	return root + p, nil
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

// made notes that the session has an ephemeral node. So it is presumed over when no server has answered for its timeout.
func (c *Conn) made(sequential bool) {
	if c.isClosed() {
		return
	}
	c.conn.PresumeAtTimeout()
	if sequential {
		c.hold()
	}
}

// hold notes that the session has an ephemeral sequential node: a place in a queue, such as that of a lock or an
// election. For other ephemeral nodes, most of which announce something, an outage that the session survives must
// not cost the session.
func (c *Conn) hold() {
	if !c.holding.Load() && !c.holding.Swap(true) {
		c.conn.Use()
	}
}
