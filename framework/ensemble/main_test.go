package ensemble_test

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strconv"
	"testing"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// privateDNS is that of the examples. Its _zookeeper._tcp.example.org is an embedded server.
var privateDNS *net.Resolver

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	server, dns, err := startForExamples()
	if err != nil {
		fmt.Fprintln(os.Stderr, "no server for the examples:", err)
		os.Exit(1)
	}
	privateDNS = dns.resolver()
	suite.Main(m, server.Close, dns.Close)
}

func startForExamples() (*curatortest.Server, *dnsServer, error) {
	server, err := curatortest.New()
	if err != nil {
		return nil, nil, err
	}
	dns, err := newDNSServer()
	if err != nil {
		return nil, nil, err
	}
	dns.name("zk1.example.org.", server)
	return server, dns, nil
}

var loopback = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}

// name makes a server the only one of _zookeeper._tcp.example.org, under a name of its own.
func (s *dnsServer) name(host string, server *curatortest.Server) {
	_, port, err := net.SplitHostPort(server.ConnectString())
	if err != nil {
		panic(err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		panic(err)
	}
	s.change(func(s *dnsServer) {
		s.hosts[host] = loopback
		s.srv["_zookeeper._tcp.example.org."] = []net.SRV{{Target: host, Port: uint16(number), Priority: 1}}
	})
}
