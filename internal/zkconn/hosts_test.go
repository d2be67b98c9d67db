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
