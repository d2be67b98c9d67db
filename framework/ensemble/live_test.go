package ensemble_test

import (
	"net"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/ensemble"
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
		framework.WithDialer((&net.Dialer{Resolver: resolver}).DialContext))
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
