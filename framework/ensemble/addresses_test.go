package ensemble_test

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestAddressesOfOneName has a name with two addresses, the first of which accepts
// connections and does not serve: the second one must get its turn.
func TestAddressesOfOneName(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"closes":       func(c net.Conn) { c.Close() },
		"says nothing": func(net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			server := curatortest.Start(t)
			_, port, _ := net.SplitHostPort(server.ConnectString())
			idle, err := net.Listen("tcp", "127.0.0.2:"+port)
			if err != nil {
				t.Fatal(err)
			}
			defer idle.Close()
			var accepted atomic.Int64
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					conn, err := idle.Accept()
					if err != nil {
						return
					}
					accepted.Add(1)
					defer conn.Close()
					serve(conn)
				}
			}()
			defer func() { idle.Close(); <-done }()
			dns := newDNS(t)
			dns.change(func(s *dnsServer) {
				s.hosts["zk.example.org."] = []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.1")}
			})
			client, err := framework.NewClient("zk.example.org:"+port, retry.None(), framework.WithSessionTimeout(3*time.Second),
				framework.WithResolver(dns.resolver()))
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := client.BlockUntilConnected(ctx); err != nil {
				t.Errorf("in a minute, and with %d connections to the first address: %v", accepted.Load(), err)
			}
			if err := client.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
