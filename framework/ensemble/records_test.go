package ensemble_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework/ensemble"
)

// service is the name whose records the tests read. The dot keeps search domains out.
const service = "_zookeeper._tcp.example.org."

func newDNS(t *testing.T) *dnsServer {
	t.Helper()
	s, err := newDNSServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// newProvider returns a provider that the test closes.
func newProvider(t *testing.T, opts ...ensemble.Option) *ensemble.SRVProvider {
	t.Helper()
	p, err := ensemble.NewSRVProvider(service, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return p
}

// many returns records that do not fit into an answer over UDP, and their connect string.
func many() (records []net.SRV, connect string) {
	var servers []string
	for i := range 99 {
		host := fmt.Sprintf("zk%02d.example.org", i)
		records = append(records, net.SRV{Target: host + ".", Port: 2181})
		servers = append(servers, host+":2181")
	}
	return records, strings.Join(servers, ",")
}

func srv(target string, port, priority, weight uint16) net.SRV {
	return net.SRV{Target: target, Port: port, Priority: priority, Weight: weight}
}

// TestRecords has a DNS server answer a Start with records of all kinds.
func TestRecords(t *testing.T) {
	all, allConnect := many()
	for name, c := range map[string]struct {
		records  []net.SRV
		truncate bool
		want     string // the connect string, empty if Start returns ErrNoServers
		logged   string // what is said of records that are left out
		text     string // of the error
	}{
		"one record":  {records: []net.SRV{{Target: "zk1.example.org.", Port: 2182}}, want: "zk1.example.org:2182"},
		"no records":  {text: "DNS names no server: lookup " + service},
		"no service":  {records: []net.SRV{{Target: "."}}, text: "DNS names no server: the target \".\" says that the service is not available"},
		"no port":     {records: []net.SRV{{Target: "a."}}, text: "the target \"a.\" has port 0"},
		"one service": {records: []net.SRV{{Target: "."}, {Target: "a.", Port: 1}}, want: "a:1", logged: "not available"},
		"one port":    {records: []net.SRV{{Target: "b."}, {Target: "a.", Port: 1}}, want: "a:1", logged: "has port 0"},
		"one name":    {records: []net.SRV{{Target: "b c.", Port: 1}, {Target: "a.", Port: 1}}, want: "a:1", logged: "invalid names"},
		"priorities": {
			records: []net.SRV{srv("a.", 1, 20, 9), srv("d.", 1, 10, 1), srv("c.", 1, 10, 5), srv("b.", 2, 10, 1), srv("b.", 1, 10, 1), srv("e.", 1, 0, 0)},
			want:    "e:1,c:1,b:1,b:2,d:1,a:1",
		},
		"one server thrice":  {records: []net.SRV{srv("A.example.", 1, 1, 1), srv("a.eXample.", 1, 1, 1), srv("a.example.", 1, 2, 2)}, want: "a.example:1"},
		"more than UDP has":  {records: all, truncate: true, want: allConnect},
		"truncated, one too": {records: all[:1], truncate: true, want: "zk00.example.org:2181"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dns := newDNS(t)
			dns.change(func(s *dnsServer) {
				s.srv[service] = c.records
				s.hosts[service] = loopback // the name exists
				s.truncate = c.truncate
			})
			var log logs
			p := newProvider(t, ensemble.WithResolver(dns.resolver()), ensemble.WithLogger(slog.New(&log)))
			err := p.Start(t.Context())
			if got := p.ConnectString(); got != c.want {
				t.Errorf("the servers are %q, want %q", got, c.want)
			}
			if c.want == "" != errors.Is(err, ensemble.ErrNoServers) || c.want != "" && err != nil {
				t.Errorf("Start: %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("Start: %v, want %q", err, c.text)
			}
			if c.logged == "" {
				log.want(t)
			} else {
				log.want(t, "WARN zookeeper: some SRV records are left out "+c.logged)
			}
			if n := dns.questions("tcp"); c.truncate && n == 0 {
				t.Error("no question came over TCP")
			}
		})
	}
}

// TestNoAnswer has a DNS server that cannot answer, and names that do not exist.
func TestNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(s *dnsServer)
		timeout time.Duration // of Start, 0 for a context that has ended
		want    error
		absent  error // what the error must not match
	}{
		"no such name":   {func(*dnsServer) {}, time.Minute, ensemble.ErrNoServers, nil},
		"server failure": {func(s *dnsServer) { s.code = serverFailure }, time.Minute, nil, ensemble.ErrNoServers},
		"name error":     {func(s *dnsServer) { s.srv[service] = []net.SRV{{Target: "a.", Port: 1}}; s.code = nameError }, time.Minute, ensemble.ErrNoServers, nil},
		"silence":        {func(s *dnsServer) { s.silent = true }, 200 * time.Millisecond, context.DeadlineExceeded, ensemble.ErrNoServers},
		"cancelled":      {func(s *dnsServer) { s.silent = true }, 0, context.Canceled, ensemble.ErrNoServers},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dns := newDNS(t)
			dns.change(c.change)
			ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
			if c.timeout == 0 {
				ctx, cancel = context.WithCancel(t.Context())
				cancel()
			}
			defer cancel()
			p := newProvider(t, ensemble.WithResolver(dns.resolver()))
			err := p.Start(ctx)
			var dnsErr *net.DNSError
			if err == nil || c.want != nil && !errors.Is(err, c.want) || c.absent != nil && errors.Is(err, c.absent) || !errors.As(err, &dnsErr) {
				t.Errorf("Start: %v", err)
			}

			var log logs
			fallback := newProvider(t, ensemble.WithResolver(dns.resolver()), ensemble.WithFallback("a:1", "[::1]:2"), ensemble.WithLogger(slog.New(&log)))
			err = fallback.Start(ctx)
			if got := fallback.ConnectString(); err == nil != (got == "a:1,[::1]:2") || err == nil == (c.timeout < time.Minute) {
				t.Errorf("Start with a fallback: %v, the servers are %q", err, got)
			}
			if err == nil {
				log.want(t, "WARN cannot be read, those of WithFallback a:1,[::1]:2 "+service)
			}
		})
	}
}

// TestRecordsChange has each Start read the records anew.
func TestRecordsChange(t *testing.T) {
	dns := newDNS(t)
	p := newProvider(t, ensemble.WithResolver(dns.resolver()), ensemble.WithFallback("fallback:1"))
	for _, c := range []struct {
		change func(s *dnsServer)
		want   string
	}{
		{func(s *dnsServer) {}, "fallback:1"},
		{func(s *dnsServer) { s.srv[service] = []net.SRV{{Target: "a.", Port: 1}} }, "a:1"},
		{func(s *dnsServer) { s.srv[service] = []net.SRV{{Target: "b.", Port: 1}, {Target: "a.", Port: 1}} }, "a:1,b:1"},
		{func(s *dnsServer) { s.truncate = true }, "a:1,b:1"},
		{func(s *dnsServer) { s.code = serverFailure }, "fallback:1"},
	} {
		dns.change(c.change)
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := p.ConnectString(); got != c.want {
			t.Errorf("the servers are %q, want %q", got, c.want)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
