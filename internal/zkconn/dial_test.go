package zkconn_test

import (
	"context"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

// The user's functions may end the goroutine that calls them, as t.FailNow does: that is a failed attempt,
// and Close returns.
func TestUserEndsGoroutine(t *testing.T) {
	for name, spoil := range map[string]func(c *zkconn.Config, first func() bool){
		"WithDialer": func(c *zkconn.Config, first func() bool) {
			dial := c.Dial
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if first() {
					runtime.Goexit()
				}
				return dial(ctx, network, address)
			}
		},
		"the TLS configuration": func(c *zkconn.Config, first func() bool) {
			c.Secure = func(_ context.Context, conn net.Conn, _ string) (net.Conn, error) {
				if first() {
					runtime.Goexit()
				}
				return conn, nil
			}
		},
		"WithResolver": func(c *zkconn.Config, first func() bool) {
			dial, server := c.Dial, c.Servers[0]
			c.Servers = []string{"zk.example.org:1"}
			c.Resolve = func(context.Context, string) ([]netip.Addr, error) {
				if first() {
					runtime.Goexit()
				}
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			}
			c.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) { return dial(ctx, network, server) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				var calls atomic.Int32
				t.open(func(c *zkconn.Config) { spoil(c, func() bool { return calls.Add(1) == 1 }) })
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
				defer cancel()
				if err := t.conn.Ready(ctx); err == nil || !strings.Contains(err.Error(), name+": the function has ended its goroutine") {
					t.Errorf("error %v", err)
				}
				t.do(exists("/"))
				if err := t.conn.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
