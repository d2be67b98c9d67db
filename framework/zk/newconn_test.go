package zk_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/internal/suite"
)

// A Conn on a client that exists has its session, and paths below its namespace. Its Close leaves the client open.
func TestNewConn(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		client, n := b.Client(t)
		ns := client.UsingNamespace(b.Path("ns")[1:])
		if _, err := ns.Create().CreatingParentsIfNeeded().ForPath(t.Context(), "/made"); err != nil {
			t.Fatal(err)
		}
		c, ch, err := zk.NewConn(ns)
		if err != nil {
			t.Fatal(err)
		}
		if e := next(t, ch); e.State != zk.StateHasSession || e.Server == "" || c.State() != zk.StateHasSession || c.Client() != ns {
			t.Errorf("%v, %v", e, c.State())
		}
		p, err := c.Create("/made/x-", []byte("1"), zk.FlagSequence, world)
		sync, err2 := c.Sync("/made")
		made, err3 := c.Multi(&zk.CreateRequest{Path: "/made/m", Acl: world}, &zk.CheckVersionRequest{Path: "/made", Version: 0})
		if err != nil || err2 != nil || err3 != nil || p != "/made/x-0000000000" || sync != "/made" || made[0].String != "/made/m" {
			t.Error(p, err, sync, err2, made, err3)
		}
		_, _, changed, err := c.ChildrenW("/made")
		if err != nil {
			t.Fatal(err)
		}
		_, _, waiting, err := c.GetW("/made/m")
		if err != nil {
			t.Fatal(err)
		}
		n.Cut()
		if err := client.Delete().ForPath(t.Context(), b.Path("ns")+"/made/x-0000000000"); err != nil {
			t.Fatal(err)
		}
		if e := next(t, changed); e.Type != zk.EventNodeChildrenChanged || e.Path != "/made" {
			t.Errorf("%v", e)
		}
		l := zk.NewLock(c, "/lock", world)
		if err := l.Lock(); err != nil {
			t.Fatal(err)
		}
		c.Close()
		c.Close()
		if e := next(t, waiting); e.Type != zk.EventNotWatching || e.Err != zk.ErrClosing {
			t.Errorf("%v", e)
		}
		for range ch { // it ends
		}
		if _, _, err := c.Get("/made"); err != zk.ErrConnectionClosed {
			t.Error(err)
		}
		if _, err := ns.GetData().ForPath(t.Context(), "/made/m"); err != nil || suite.Watches(t, client) != 0 {
			t.Error(err, suite.Watches(t, client))
		}
	})
}

// A Conn on a view stays below its namespace, whatever a program gives it, and there is none on a view without a namespace.
func TestNamespaceHolds(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		if c, _, err := zk.NewConn(client.UsingNamespace("/bad")); c != nil || !errors.Is(err, framework.ErrInvalidPath) {
			t.Errorf("%v", err)
		}
		for _, p := range []string{"/app", "/app2", "/app2/x"} {
			if _, err := client.Create().ForPath(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		c, _, err := zk.NewConn(client.UsingNamespace("app"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, p := range []string{"2/x", "", "2"} {
			if _, err := c.Multi(&zk.DeleteRequest{Path: p, Version: -1}); err == nil {
				t.Errorf("%q is deleted", p)
			}
		}
		if _, err := c.Multi(&zk.CheckVersionRequest{Path: "/", Version: 0}); err != nil {
			t.Error(err)
		}
		if err := c.Delete("/", -1); err != nil { // as /app is the program's root
			t.Error(err)
		}
	})
}

// Close ends the calls that wait, and a Lock that is just being taken, also when the client stays open, and does not wait for
// a Dialer or a HostProvider that do not return.
func TestCloseEndsCalls(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		shared, _, err := zk.NewConn(client)
		if err != nil {
			t.Fatal(err)
		}
		stuck := make(chan struct{})
		defer close(stuck)
		dialing, _, err := zk.Connect([]string{"127.0.0.1:1"}, sessionTimeout, zk.WithLogger(silent{}), zk.WithDialer(
			func(string, string, time.Duration) (net.Conn, error) { <-stuck; return nil, net.ErrClosed }), zk.WithHostProvider(&oneServer{}))
		if err != nil {
			t.Fatal(err)
		}
		asking, _, err := zk.Connect([]string{"127.0.0.1:1"}, sessionTimeout, zk.WithLogger(silent{}), zk.WithHostProvider(stuckProvider{stuck}))
		if err != nil {
			t.Fatal(err)
		}
		b.Server().Refuse()
		b.Server().Disconnect()
		synctest.Wait()
		var calls sync.WaitGroup
		for _, c := range []*zk.Conn{shared, dialing, asking} {
			calls.Go(func() {
				if _, _, err := c.Get("/"); err != zk.ErrConnectionClosed {
					t.Error(err)
				}
			})
			calls.Go(func() {
				if err := zk.NewLock(c, "/l", world).Lock(); err != zk.ErrConnectionClosed {
					t.Error(err)
				}
			})
			synctest.Wait()
			began := time.Now()
			c.Close()
			calls.Wait()
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("Close took %v", took)
			}
		}
	})
}

// stuckProvider never names a server.
type stuckProvider struct{ stuck chan struct{} }

func (p stuckProvider) Init([]string) error  { return nil }
func (p stuckProvider) Len() int             { return 1 }
func (p stuckProvider) Next() (string, bool) { <-p.stuck; return "127.0.0.1:1", false }
func (p stuckProvider) Connected()           {}

// When the client of a Conn is closed, so is the Conn.
func TestClientIsClosed(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		c, ch, err := zk.NewConn(client)
		if err != nil {
			t.Fatal(err)
		}
		_, _, watch, err := c.GetW("/")
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if e := next(t, watch); e.Type != zk.EventNotWatching || e.Err != zk.ErrClosing {
			t.Errorf("%v", e)
		}
		for range ch {
		}
		if _, _, err := c.Get("/"); err != zk.ErrConnectionClosed || c.State() != zk.StateDisconnected {
			t.Error(err, c.State())
		}
		c.Close()
	})
}
