package zkconn_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

// names is a DNS, and a network whose servers can be down.
type names struct {
	mu        sync.Mutex
	addresses map[string][]string // by host; a host that is missing has none
	down      []string            // addresses with their ports
	asked     int
}

var errNoSuchHost = errors.New("no such host")

func (n *names) resolve(_ context.Context, host string) (found []netip.Addr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	for _, address := range n.addresses[host] {
		found = append(found, netip.MustParseAddr(address))
	}
	if found == nil {
		err = errNoSuchHost
	}
	return found, err
}

func (n *names) through(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		n.mu.Lock()
		down := slices.Contains(n.down, address)
		n.mu.Unlock()
		if down {
			return nil, errors.New("no route")
		}
		return dial(ctx, network, address)
	}
}

// count returns how many look-ups there were.
func (n *names) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

// says changes what a host stands for, and which servers are down.
func (n *names) says(host string, addresses []string, down ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addresses = map[string][]string{host: addresses}
	n.down = down
}

// named connects to servers that n looks up, and notes in d which are dialed.
func (t *fixture) named(n *names, d *dialed, servers ...string) {
	t.Helper()
	t.open(func(c *zkconn.Config) {
		c.Servers, c.Resolve, c.Dial = servers, n.resolve, d.through(n.through(c.Dial))
	})
}

// TestAddressesTakeTurns has a name with several addresses: each is a server, with its place in the
// order, as long as the name stands for it.
func TestAddressesTakeTurns(t *testing.T) {
	virtual(t, func(t *fixture) {
		const host, server = "zk.example.org", "zk.example.org:2181"
		var n names
		var d dialed
		n.says(host, []string{"10.0.0.1", "::ffff:10.0.0.2", "fd00::3", "10.0.0.1"}, "10.0.0.1:2181", "10.0.0.2:2181", "[fd00::3]:2181")
		t.named(&n, &d, server)
		want := []string{"10.0.0.1:2181", "10.0.0.2:2181", "[fd00::3]:2181"}
		if got := d.took(); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("at once there were dialed %v, want each of %v", got, want)
		}
		time.Sleep(time.Minute)
		lap := d.took()
		for _, address := range want { // one attempt a second, on average
			if n := strings.Count(strings.Join(lap, " "), address); n < 10 {
				t.Errorf("%s was dialed %d times in a minute", address, n)
			}
		}

		n.says(host, []string{"10.0.0.4", "10.0.0.5"})
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := t.conn.Server(); got != server {
			t.Errorf("the server is %q", got)
		}
		last := d.took()
		n.says(host, []string{"10.0.0.5", "10.0.0.6", "10.0.0.4"})
		for range 6 { // the one that is lost is the last to be tried again
			time.Sleep(timeout)
			t.server.Disconnect()
			last = append(last, d.took()...)
			t.do(exists("/"))
		}
		last = last[len(last)-6:]
		if !slices.Equal(last[:3], last[3:]) || len(slices.Compact(slices.Sorted(slices.Values(last)))) != 3 {
			t.Errorf("there were dialed %v, want three in turn", last)
		}
		if got := n.count(); got < 7 {
			t.Errorf("there were %d look-ups", got)
		}
	})
}

// TestNamesWithoutAddress has one name that cannot be looked up, beside a server that is down, and
// an address, which needs no look-up.
func TestNamesWithoutAddress(t *testing.T) {
	virtual(t, func(t *fixture) {
		var n names
		var d dialed
		n.says("b.example.org", []string{"10.0.0.2"}, "10.0.0.2:1", "10.0.0.3:1")
		t.named(&n, &d, "a.example.org:1", "b.example.org:1", "10.0.0.3:1")
		if got := slices.Sorted(slices.Values(d.took())); !slices.Equal(got, []string{"10.0.0.2:1", "10.0.0.3:1"}) {
			t.Errorf("there were dialed %v", got)
		}
		if n.count() != 2 {
			t.Errorf("%d names were looked up", n.count())
		}
		reasons := map[string]bool{}
		for range 60 {
			time.Sleep(time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
			err := t.conn.Ready(ctx)
			cancel()
			reasons[strings.TrimPrefix(err.Error(), "context deadline exceeded: ")] = true
			if strings.Contains(err.Error(), "a.example.org") != errors.Is(err, errNoSuchHost) {
				t.Errorf("error %v", err)
			}
		}
		for _, want := range []string{"a.example.org:1: no such host", "b.example.org:1 (10.0.0.2): no route", "10.0.0.3:1: no route"} {
			if !reasons[want] {
				t.Errorf("the reasons are %v, without %q", reasons, want)
			}
		}
	})
}

// TestRoundOfAddresses has no address answer: all are tried within two thirds of the session
// timeout, and a look-up that does not return is given up.
func TestRoundOfAddresses(t *testing.T) {
	virtual(t, func(t *fixture) {
		var n names
		var d dialed
		n.says("zk", []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"})
		t.open(func(c *zkconn.Config) {
			c.Servers, c.Resolve = []string{"zk:1"}, n.resolve
			c.Dial = d.through(hijack(func(c net.Conn) { readFrame(c) }))
		})
		time.Sleep(timeout * 2 / 3)
		if got := d.took(); len(got) != 4 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != 4 {
			t.Errorf("there were dialed %v", got)
		}
	})
	virtual(t, func(t *fixture) {
		t.open(func(c *zkconn.Config) {
			c.Servers, c.Resolve = []string{"zk:1"}, func(ctx context.Context, _ string) ([]netip.Addr, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), timeout/2)
		defer cancel()
		begin := time.Now()
		_ = t.conn.Ready(ctx)
		if err := t.conn.Ready(ctx); !strings.Contains(err.Error(), "zk:1: context deadline exceeded") {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		t.closeAtOnce(nil)
	})
}

// TestSetServersMeanwhile takes a server off the list at each stage of an attempt at it: the
// attempt ends at once, and the next one is at a server that is listed.
func TestSetServersMeanwhile(t *testing.T) {
	hang := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	stall := func(ctx context.Context, conn net.Conn, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, change := range map[string]func(c *zkconn.Config, old func(address string) bool){
		"look-up": func(c *zkconn.Config, old func(string) bool) {
			c.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
				if old(host) {
					<-ctx.Done()
				}
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, ctx.Err()
			}
		},
		"dial": func(c *zkconn.Config, old func(string) bool) {
			dial := c.Dial
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if old(address) {
					return hang(ctx, network, address)
				}
				return dial(ctx, network, address)
			}
		},
		"TLS": func(c *zkconn.Config, old func(string) bool) {
			c.Secure = func(ctx context.Context, conn net.Conn, server string) (net.Conn, error) {
				if old(server) {
					return stall(ctx, conn, server)
				}
				return conn, nil
			}
		},
		"handshake": func(c *zkconn.Config, old func(string) bool) {
			dial, silent := c.Dial, hijack(func(c net.Conn) { readFrame(c) })
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if old(address) {
					return silent(ctx, network, address)
				}
				return dial(ctx, network, address)
			}
		},
		"session": func(*zkconn.Config, func(string) bool) {},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				t.open(func(c *zkconn.Config) {
					c.Servers = []string{"old:1"}
					change(c, func(address string) bool { return strings.HasPrefix(address, "old") })
				})
				synctest.Wait()
				begin := time.Now()
				for range 3 {
					t.conn.SetServers([]string{"new:1"})
				}
				if _, err := t.conn.Connected(t.Context()); err != nil {
					t.Fatal(err)
				}
				t.conn.EndGone()
				synctest.Wait()
				if took := time.Since(begin); t.conn.Server() != "new:1" || took > 0 {
					t.Errorf("after %v the server is %q", took, t.conn.Server())
				}
			})
		})
	}
}
