package ensemble_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/ensemble"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestClientMoves has the records name another server, and the first one end. The other one
// does not know the session, but has seen more than the first: it does not turn the client
// away.
func TestClientMoves(t *testing.T) {
	first, second := curatortest.Start(t), curatortest.Start(t)
	writer := second.Client(t)
	for _, path := range []string{"/second", "/second/a", "/second/b", "/second/c", "/second/d", "/second/e", "/second/f", "/second/g"} {
		if _, err := writer.Create().ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	dns := newDNS(t)
	dns.name("zk1.example.org.", first)
	resolver := dns.resolver()
	p, err := ensemble.NewSRVProvider("_zookeeper._tcp.example.org.", ensemble.WithResolver(resolver))
	if err != nil {
		t.Fatal(err)
	}
	client := curatortest.NewClient(t, "", framework.WithEnsembleProvider(p),
		framework.WithResolver(resolver))
	wantExists := func(want bool) {
		t.Helper()
		if exists, err := client.CheckExists().ForPath(t.Context(), "/second"); err != nil || exists != want {
			t.Fatalf("/second exists: %v, %v; want %v", exists, err, want)
		}
	}
	wantExists(false)
	session := client.SessionID()
	dns.name("zk2.example.org.", second)
	dns.change(func(s *dnsServer) { delete(s.hosts, "zk1.example.org.") })
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	wantExists(true)
	if id := client.SessionID(); id == session || id == 0 {
		t.Errorf("the session is 0x%x, was 0x%x", id, session)
	}
}

// TestClientStays has the records change under a connection that works, which is left alone,
// and DNS fail while there is none: the client lives on the last answer.
func TestClientStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		r := &registry{targets: []string{"a"}}
		p, err := ensemble.NewSRVProvider(service, ensemble.WithResolver(r))
		if err != nil {
			t.Fatal(err)
		}
		// Of one goroutine, which dials at other times than these are read or written.
		var dialed []string
		down := ""
		client := curatortest.NewClient(t, "", framework.WithEnsembleProvider(p),
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				dialed = append(dialed, address)
				if address == down {
					return nil, errors.New("no route")
				}
				return server.DialContext(ctx, network, address)
			}))
		for _, step := range []struct {
			change func(r *registry)
			cut    bool
			want   string // what is dialed last
		}{
			{names("a"), false, "a:2181"},
			{names("b"), false, ""},
			{names("b"), true, "b:2181"}, // a is down from now on
			{func(r *registry) { r.err, r.targets = errors.New("no news"), nil }, true, "b:2181"},
			{names(), true, "b:2181"},
			{func(r *registry) { r.hang = true }, true, "b:2181"},
		} {
			r.says(step.change)
			if step.cut {
				down = "a:2181"
				server.Disconnect()
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if !client.ConnectionState().IsConnected() {
				t.Errorf("a minute later the client is %v", client.ConnectionState())
			}
			if last := strings.Join(dialed[max(0, len(dialed)-1):], ""); last != step.want {
				t.Errorf("dialed %v, want %q last", dialed, step.want)
			}
			dialed = nil
		}
	})
}

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
