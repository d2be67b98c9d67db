package main

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

const defaultPort = "2181"

// ensemble has the parts of a connect string. The client checks whether the string is valid.
type ensemble struct {
	servers   []string // host:port, sorted, without duplicates
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

// String returns the servers in the form of a connect string.
func (e ensemble) String() string { return strings.Join(e.servers, ",") }

// lock returns a name of the lock at path. It is the same for all connect strings with the same
// servers. Of different names of a host it only knows that localhost is 127.0.0.1.
func (e ensemble) lock(path string) string {
	servers := e.String()
	if rest, ok := strings.CutPrefix(servers, "localhost:"); ok {
		servers = "127.0.0.1:" + rest
	}
	if e.namespace != "" {
		path = "/" + e.namespace + path
	}
	return servers + e.chroot + path
}

// isLoopback reports whether only this machine can reach address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
