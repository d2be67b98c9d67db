package main

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

const defaultPort = "2181"

// ensemble is what a connect string names. Whether it is a valid one is for the client to
// say.
type ensemble struct {
	servers   []string // host:port, sorted, each once
	chroot    string
	namespace string
}

func parseEnsemble(connect string) ensemble {
	hosts, chroot, found := strings.Cut(connect, "/")
	e := ensemble{}
	if found && chroot != "" {
		e.chroot = "/" + chroot
	}
	for host := range strings.SplitSeq(hosts, ",") {
		host = strings.TrimSpace(host)
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)
		}
		e.servers = append(e.servers, host)
	}
	slices.Sort(e.servers)
	e.servers = slices.Compact(e.servers)
	return e
}

// String returns the servers as a connect string has them.
func (e ensemble) String() string { return strings.Join(e.servers, ",") }

// lock names the lock at path in a way that the connect strings of the same servers share,
// but for several names of one host.
func (e ensemble) lock(path string) string {
	servers := e.String()
	if rest, ok := strings.CutPrefix(servers, "localhost:"); ok { // but this one
		servers = "127.0.0.1:" + rest
	}
	if e.namespace != "" {
		path = "/" + e.namespace + path
	}
	return servers + e.chroot + path
}

// isLoopback tells whether only this machine can reach address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
