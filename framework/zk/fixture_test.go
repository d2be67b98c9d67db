package zk_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	driver "github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/internal/suite"
)

// connectString is that of the examples' server.
var connectString string

func TestMain(m *testing.M) { suite.MainWithServer(m, &connectString) }

const sessionTimeout = suite.SessionTimeout

var world = zk.WorldACL(zk.PermAll)

// api is what a Conn of ours and one of the driver have in common.
type api interface {
	AddAuth(scheme string, auth []byte) error
	Children(path string) ([]string, *zk.Stat, error)
	ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error)
	Close()
	Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error)
	CreateContainer(path string, data []byte, flag int32, acl []zk.ACL) (string, error)
	CreateProtectedEphemeralSequential(path string, data []byte, acl []zk.ACL) (string, error)
	CreateTTL(path string, data []byte, flag int32, acl []zk.ACL, ttl time.Duration) (string, error)
	Delete(path string, version int32) error
	Exists(path string) (bool, *zk.Stat, error)
	ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error)
	Get(path string) ([]byte, *zk.Stat, error)
	GetACL(path string) ([]zk.ACL, *zk.Stat, error)
	GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error)
	IncrementalReconfig(joining, leaving []string, version int64) (*zk.Stat, error)
	Multi(ops ...any) ([]zk.MultiResponse, error)
	Reconfig(members []string, version int64) (*zk.Stat, error)
	Server() string
	SessionID() int64
	Set(path string, data []byte, version int32) (*zk.Stat, error)
	SetACL(path string, acl []zk.ACL, version int32) (*zk.Stat, error)
	State() zk.State
	Sync(path string) (string, error)
}

var (
	_ api = (*zk.Conn)(nil)
	_ api = (*driver.Conn)(nil)
)

// oneServer is a HostProvider that looks nothing up.
type oneServer struct{ server string }

func (s *oneServer) Init(servers []string) error { s.server = servers[0]; return nil }
func (s *oneServer) Len() int                    { return 1 }
func (s *oneServer) Next() (string, bool)        { return s.server, false }
func (s *oneServer) Connected()                  {}

// rounds is oneServer that says after each attempt that all servers have been tried in vain.
type rounds struct {
	oneServer

	mu    sync.Mutex
	tries int
}

func (r *rounds) Next() (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries++
	return r.server, r.tries > 1
}

func (r *rounds) Connected() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries = 0
}

// network returns a network to the backend, on which nobody is.
func network(t *testing.T, b *suite.Backend) *suite.Network {
	t.Helper()
	client, n := b.Client(t)
	if err := client.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return n
}

func dialer(n *suite.Network) zk.Dialer {
	return func(network, address string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		return n.Dial(ctx, network, address)
	}
}

// connect returns a Conn of ours with a network of its own.
func connect(t *testing.T, b *suite.Backend) (*zk.Conn, <-chan zk.Event, *suite.Network) {
	t.Helper()
	n := network(t, b)
	c, ch, err := zk.Connect([]string{b.ConnectString()}, b.SessionTimeout(),
		zk.WithDialer(dialer(n)), zk.WithHostProvider(&rounds{}), zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, ch, n
}

// connectDriver returns a Conn of the driver with a network of its own.
func connectDriver(t *testing.T, b *suite.Backend) (*driver.Conn, <-chan zk.Event, *suite.Network) {
	t.Helper()
	return followDriver(t, b, nil)
}

// followDriver is connectDriver, and has the driver tell each event to a function: of the events on its channel it drops
// those for which there is no room at once.
func followDriver(t *testing.T, b *suite.Backend, tell func(zk.Event)) (*driver.Conn, <-chan zk.Event, *suite.Network) {
	t.Helper()
	n := network(t, b)
	c, ch, err := driver.Connect([]string{b.ConnectString()}, b.SessionTimeout(), driver.WithEventCallback(tell),
		driver.WithDialer(dialer(n)), driver.WithHostProvider(&rounds{}), driver.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, ch, n
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// named are the driver's errors, by their names.
var named = map[string]error{
	"ErrConnectionClosed": zk.ErrConnectionClosed, "ErrAPIError": zk.ErrAPIError, "ErrNoNode": zk.ErrNoNode,
	"ErrNoAuth": zk.ErrNoAuth, "ErrBadVersion": zk.ErrBadVersion, "ErrNodeExists": zk.ErrNodeExists,
	"ErrNoChildrenForEphemerals": zk.ErrNoChildrenForEphemerals, "ErrNotEmpty": zk.ErrNotEmpty,
	"ErrSessionExpired": zk.ErrSessionExpired, "ErrInvalidACL": zk.ErrInvalidACL, "ErrAuthFailed": zk.ErrAuthFailed,
	"ErrClosing": zk.ErrClosing, "ErrSessionMoved": zk.ErrSessionMoved, "ErrReconfigDisabled": zk.ErrReconfigDisabled,
	"ErrBadArguments": zk.ErrBadArguments, "ErrInvalidPath": zk.ErrInvalidPath, "ErrNoServer": zk.ErrNoServer,
	"ErrShortBuffer": zk.ErrShortBuffer,
}

// word shows an error: a value of the driver's by its name, because it is compared by ==.
func word(err error) string {
	for name, is := range named {
		if err == is {
			return name
		}
	}
	if errors.Is(err, zk.ErrInvalidFlags) {
		return "wraps ErrInvalidFlags: " + err.Error()
	}
	return fmt.Sprint(err)
}

// next returns the event of a channel, which must come.
func next(t *testing.T, ch <-chan zk.Event) (e zk.Event) {
	t.Helper()
	ok := true
	select {
	case e, ok = <-ch:
	case <-time.After(20 * time.Second):
		t.Fatal("no event comes")
	}
	if !ok {
		t.Fatal("the channel is closed")
	}
	return e
}

// await reads events of the session until one is a state, and returns their states.
func await(t *testing.T, ch <-chan zk.Event, s zk.State) (states []zk.State) {
	t.Helper()
	for {
		e := next(t, ch)
		if e.Type != zk.EventSession {
			continue
		}
		if states = append(states, e.State); e.State == s {
			return states
		}
	}
}
