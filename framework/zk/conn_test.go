package zk_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	driver "github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
)

// The events of a session are those of the driver, in its order: at the beginning, when a connection ends, when the session
// has expired, and at the end.
func TestSessionEvents(t *testing.T) {
	tell := func(t *testing.T, c api, ch <-chan zk.Event, n *suite.Network) (all []string) {
		note := func(what string, s zk.State) {
			all = append(all, what)
			for e := (zk.Event{}); e.Type != zk.EventSession || e.State != s; {
				e = next(t, ch)
				all = append(all, fmt.Sprint(e.Type, e.State, e.Path, e.Err, e.Server != ""))
			}
			if now := c.State(); s != zk.StateExpired && now != s {
				t.Errorf("%s: %v, now %v", what, s, now)
			}
		}
		note("begin", zk.StateHasSession)
		n.Cut()
		note("cut", zk.StateHasSession)
		if _, _, _, err := c.GetW("/"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, _, _, err := c.ChildrenW("/"); err != nil {
				t.Fatal(err)
			}
		}
		n.Expire(t)
		note("expire", zk.StateExpired)
		note("another", zk.StateHasSession)
		c.Close()
		note("close", zk.StateDisconnected)
		if e, open := <-ch; open {
			t.Errorf("behind the end: %v", e)
		}
		return all
	}
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		ours, ch, n := connect(t, b)
		got := tell(t, ours, ch, n)
		all := make(chan zk.Event, 100)
		theirs, ch, n := followDriver(t, b, func(e zk.Event) { all <- e })
		go func() {
			defer close(all)
			for range ch { // the driver closes it at its end
			}
		}()
		if want := tell(t, theirs, all, n); !slices.Equal(got, want) {
			t.Errorf("ours:   %q\ndriver: %q", got, want)
		}
	})
}

// Attempts that fail are told as the driver tells them: one that reaches no server, and one whose handshake fails.
func TestFailedAttempts(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, ch, _ := connect(t, b)
		await(t, ch, zk.StateHasSession)
		accept := b.Server().Refuse()
		b.Server().Disconnect()
		time.Sleep(sessionTimeout / 4)
		synctest.Wait()
		if s := c.State(); s == zk.StateHasSession || c.SessionID() == 0 || c.Server() == "" {
			t.Errorf("%v, session %#x, server %q", s, c.SessionID(), c.Server())
		}
		accept()
		states := await(t, ch, zk.StateHasSession)
		if states[0] != zk.StateDisconnected || states[1] != zk.StateConnecting || slices.Contains(states, zk.StateExpired) {
			t.Errorf("%v", states)
		}
	})
}

// Of the session's events that nobody reads 1,024 are kept, and always the last. Nobody is blocked.
func TestUnreadEvents(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, ch, n := connect(t, b)
		for range 500 { // four events each
			if _, _, err := c.Exists("/"); err != nil {
				t.Fatal(err)
			}
			n.Cut()
			time.Sleep(time.Second)
			synctest.Wait()
		}
		c.Close()
		if len(ch) != 1024 {
			t.Errorf("%d are kept", len(ch))
		}
		var last zk.Event
		for e := range ch {
			last = e
		}
		if last.Type != zk.EventSession || last.State != zk.StateDisconnected {
			t.Errorf("the last is %v", last)
		}
	})
}

// Events of nodes are on the channel once for each message of a server, and are dropped when six wait, as in the driver.
func TestNodeEventsOnTheChannel(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, ch, _ := connect(t, b)
		makeAll(t, c, "/n")
		await(t, ch, zk.StateHasSession)
		set := func() {
			for range 3 {
				if _, _, _, err := c.GetW("/n"); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.Set("/n", nil, -1); err != nil {
				t.Fatal(err)
			}
		}
		set()
		synctest.Wait()
		if e := <-ch; e.Type != zk.EventNodeDataChanged || e.Path != "/n" || e.State != zk.StateSyncConnected || len(ch) != 0 {
			t.Errorf("%v, and %d more", e, len(ch))
		}
		for range 10 {
			set()
		}
		synctest.Wait()
		if len(ch) != 6 {
			t.Errorf("%d wait", len(ch))
		}
	})
}

// An EventCallback gets each event in order, and may block, or call the Conn: nobody waits for it.
func TestCallback(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		n := network(t, b)
		var mu sync.Mutex
		var got []zk.State
		hold := make(chan struct{})
		var c *zk.Conn
		c, ch, err := zk.Connect([]string{b.ConnectString()}, sessionTimeout, zk.WithDialer(dialer(n)),
			zk.WithHostProvider(&oneServer{}), zk.WithLogger(silent{}), zk.WithEventCallback(func(e zk.Event) {
				<-hold
				if e.State == zk.StateHasSession {
					_, _, _ = c.Exists("/") // it may fail behind Close
				}
				mu.Lock()
				defer mu.Unlock()
				got = append(got, e.State)
			}))
		if err != nil {
			t.Fatal(err)
		}
		await(t, ch, zk.StateHasSession)
		if _, _, err := c.Exists("/"); err != nil {
			t.Fatal(err)
		}
		close(hold)
		synctest.Wait()
		c.Close()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if want := []zk.State{zk.StateConnecting, zk.StateConnected, zk.StateHasSession, zk.StateDisconnected}; !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
	})
}

// An answer that is too large fails its call as in the driver, and the connection goes on. A request that is too large is
// refused.
func TestTooLarge(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime, func(t *testing.T, b *suite.Backend) {
		n := network(t, b)
		var log lines
		c, _, err := zk.Connect([]string{b.ConnectString()}, sessionTimeout, zk.WithDialer(dialer(n)), zk.WithHostProvider(&oneServer{}),
			zk.WithLogger(&log), zk.WithMaxBufferSize(1024), zk.WithMaxConnBufferSize(4096), zk.WithLogInfo(false))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if _, err := c.Create("/big", make([]byte, 2000), 0, world); err != nil {
			t.Fatal(err)
		}
		session := c.SessionID()
		if _, _, err := c.Get("/big"); err != zk.ErrConnectionClosed {
			t.Error(err)
		}
		if want := "received packet from server with length 2088, which exceeds max buffer size 1024"; !slices.Contains(log.all(), want) {
			t.Errorf("logged %q", log.all())
		}
		if _, err := c.Create("/larger", make([]byte, 4096), 0, world); err != zk.ErrShortBuffer {
			t.Error(err)
		}
		if _, _, err := c.Exists("/big"); err != nil || c.SessionID() != session || n.Requests(jute.OpExists) == 0 {
			t.Error(err)
		}
	})
}

// lines is a Logger that keeps what it gets.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) Printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, fmt.Sprintf(format, args...))
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.text)
}

// What was not made by Connect or NewConn refuses, and nothing panics that does not in the driver.
func TestRefused(t *testing.T) {
	for name, c := range map[string]*zk.Conn{"nil": nil, "zero": {}} {
		for kind, call := range calls {
			if said := call(c, "/x"); said == "" {
				t.Error(name, kind)
			}
		}
		c.Close()
		c.SetLogger(nil)
		if c.State() != zk.StateDisconnected || c.SessionID() != 0 || c.Server() != "" || c.Client() != nil {
			t.Error(name)
		}
		if err := zk.NewLock(c, "/l", nil).Lock(); err != zk.ErrConnectionClosed {
			t.Error(name, err)
		}
	}
	stopped, err := framework.NewClient("127.0.0.1", retry.None())
	if err != nil {
		t.Fatal(err)
	}
	for name, client := range map[string]*framework.Client{"nil": nil, "zero": {}, "latent": stopped} {
		if c, ch, err := zk.NewConn(client); c != nil || ch != nil || err == nil {
			t.Error(name, err)
		}
	}
	connects := map[string]func(servers []string) error{
		"ours":   func(servers []string) error { _, _, err := zk.Connect(servers, time.Second); return err },
		"driver": func(servers []string) error { _, _, err := driver.Connect(servers, time.Second); return err },
	}
	for _, servers := range [][]string{nil, {}, {"a:b:c"}, {"[::1"}} {
		if o, d := connects["ours"](servers), connects["driver"](servers); o == nil || d == nil || o.Error() != d.Error() {
			t.Errorf("%q\nours:   %v\ndriver: %v", servers, o, d)
		}
	}
	if _, _, err := zk.Connect([]string{"127.0.0.1:1"}, time.Second, nil); err == nil {
		t.Error("a nil option")
	}
}
