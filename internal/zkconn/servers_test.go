package zkconn_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

// dialed notes which addresses are tried, of one server with many.
type dialed struct {
	mu        sync.Mutex
	addresses []string
}

func (d *dialed) through(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		d.mu.Lock()
		d.addresses = append(d.addresses, address)
		d.mu.Unlock()
		return dial(ctx, network, address)
	}
}

func (d *dialed) took() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	addresses := d.addresses
	d.addresses = nil
	return addresses
}

// TestSetServers replaces the list: a session moves only if its server is no more on it.
func TestSetServers(t *testing.T) {
	virtual(t, func(t *fixture) {
		var d dialed
		t.open(func(c *zkconn.Config) { c.Servers, c.Dial = []string{"a:1"}, d.through(c.Dial) })
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d.took()
		for _, step := range []struct {
			servers []string
			dials   []string
		}{
			{[]string{"a:1", "b:1"}, nil},
			{[]string{"c:1"}, []string{"c:1"}},
			{[]string{"[::1]:1", "[::1]:1"}, []string{"[::1]:1"}},
		} {
			time.Sleep(timeout) // the connection holds
			t.conn.SetServers(step.servers)
			if got := d.took(); !slices.Equal(got, step.dials) {
				t.Errorf("with %v there were dialed %v", step.servers, got)
			}
			t.do(exists("/"))
			if id, _ := t.conn.Session(); id != session {
				t.Errorf("the session is 0x%x, was 0x%x", id, session)
			}
		}
	})
}

// TestPace has no server answer: all are tried in each lap, the first one without a pause
// and then with pauses that grow, are by chance, and are short again when a connection held.
func TestPace(t *testing.T) {
	virtual(t, func(t *fixture) {
		var d dialed
		servers := []string{"a:1", "b:1", "c:1"}
		t.open(func(c *zkconn.Config) {
			c.Servers = servers
			c.Dial = d.through(func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") })
		})
		first := d.took()
		if slices.Sort(first); !slices.Equal(first, servers) {
			t.Errorf("the first lap was %v", first)
		}
		time.Sleep(time.Minute)
		lap := d.took()
		// A pause is from nothing to two seconds, one on average.
		if n := len(lap); n < 40 || n > 120 {
			t.Errorf("%d attempts in a minute", n)
		}
		for _, server := range servers {
			if !slices.Contains(lap, server) {
				t.Errorf("%s was not tried", server)
			}
		}
	})
}

// TestPaceOfShortConnections has a server accept every session and close it at once: it must
// not be asked without a pause for ever.
func TestPaceOfShortConnections(t *testing.T) {
	virtual(t, func(t *fixture) {
		var d dialed
		t.open(func(c *zkconn.Config) {
			dial := c.Dial
			c.Dial = d.through(func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				if err == nil {
					time.AfterFunc(time.Millisecond, func() { conn.Close() })
				}
				return conn, err
			})
		})
		time.Sleep(time.Minute)
		if n := len(d.took()); n > 120 {
			t.Errorf("%d connections in a minute", n)
		}
	})
}

// TestCrowd has more requests wait for a stopped server than memory is to be spent on.
func TestCrowd(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		resume := t.server.Pause()
		calls := make([]*zkconn.Call, 100_000)
		for i := range calls {
			calls[i] = exists("/")
		}
		many := make(chan error)
		go func() { many <- t.conn.Do(t.Context(), 0, calls...) }()
		synctest.Wait()
		err := t.conn.Do(t.Context(), 0, exists("/"))
		if t.want(err, zkconn.ErrThrottled); sent(err) {
			t.Error("it was sent")
		}
		resume()
		if err := <-many; err != nil {
			t.Fatal(err)
		}
		t.do(exists("/"))
	})
}

// TestPreferServers has an ensemble name its servers itself: these come first, in turn, and
// those of the configuration only when all of them have failed.
func TestPreferServers(t *testing.T) {
	virtual(t, func(t *fixture) {
		var d dialed
		var down sync.Map // addresses
		t.open(func(c *zkconn.Config) {
			dial := c.Dial
			c.Servers, c.Dial = []string{"a:1"}, d.through(func(ctx context.Context, network, address string) (net.Conn, error) {
				if _, ok := down.Load(address); ok {
					return nil, errors.New("no route")
				}
				return dial(ctx, network, address)
			})
		})
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.took()
		cut := func(after time.Duration) []string {
			t.Helper()
			time.Sleep(after)
			t.server.Disconnect()
			got := d.took()
			t.do(exists("/"))
			return got
		}
		t.conn.PreferServers([]string{"b:1", "c:1"})
		if got := d.took(); len(got) != 0 {
			t.Errorf("a connection that works was given up for %v", got)
		}
		first := cut(timeout)                        // the connection holds
		t.conn.PreferServers([]string{"c:1", "b:1"}) // no news
		got := slices.Concat(first, cut(timeout), cut(0), cut(0))
		if len(got) != 4 || got[0] == got[1] || got[0] != got[2] || got[1] != got[3] || slices.Contains(got, "a:1") {
			t.Errorf("there were dialed %v, want b and c in turn", got)
		}

		down.Store("b:1", true)
		down.Store("c:1", true)
		for range 2 { // the second time from a server that is not preferred
			got = cut(timeout)
			if last := got[len(got)-1]; len(got) != 3 || got[0] == got[1] || last != "a:1" {
				t.Errorf("there were dialed %v, want b and c and then a", got)
			}
		}
		t.conn.PreferServers([]string{"d:1", "a:1"})
		down.Store("a:1", true)
		if got = cut(timeout); got[len(got)-1] != "d:1" {
			t.Errorf("there were dialed %v, want d at last", got)
		}
		lap := func() []string { // with no server up
			time.Sleep(timeout)
			t.server.Disconnect()
			got := d.took()
			down.Clear()
			if _, err := t.conn.Connected(t.Context()); err != nil {
				t.Fatal(err)
			}
			d.took()
			return slices.Sorted(slices.Values(got))
		}
		down.Store("d:1", true)
		if got := lap(); !slices.Equal(got, []string{"a:1", "d:1"}) {
			t.Errorf("a lap is %v, want a and d once each", got)
		}
		t.conn.PreferServers([]string{"d:1"})
		time.Sleep(timeout)
		t.conn.SetServers([]string{"e:1"})
		if got := d.took(); !slices.Equal(got, []string{"e:1"}) {
			t.Errorf("there were dialed %v, want e", got)
		}
		down.Store("e:1", true)
		if got := lap(); !slices.Equal(got, []string{"e:1"}) {
			t.Errorf("a lap is %v, want e alone", got)
		}
	})
}
