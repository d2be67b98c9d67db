package framework

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

const defaultPort = "2181"

// parseConnectString reads "zk1:2181,zk2:2181/chroot", or "/chroot" if a provider has the servers.
func parseConnectString(s string, provided bool) (servers []string, chroot string, err error) {
	if scheme, _, found := strings.Cut(s, "://"); found {
		return nil, "", fmt.Errorf("%w: connect string %q: leave %q out; it begins with the first server", ErrInvalidOption, s, scheme+"://")
	}
	hosts, rest, hasChroot := strings.Cut(s, "/")
	if hasChroot && rest != "" {
		chroot = "/" + rest
		if err := validatePath(chroot, false); err != nil {
			return nil, "", fmt.Errorf("%w: connect string %q: chroot: %w", ErrInvalidOption, s, err)
		}
		if server := serverInChroot(chroot); server != "" {
			return nil, "", fmt.Errorf("%w: connect string %q: %q is behind the chroot, which comes once, at the end", ErrInvalidOption, s, server)
		}
	}
	switch {
	case !provided:
		servers, err = parseServers(hosts)
	case hosts != "":
		err = fmt.Errorf("it has servers, which are the ensemble provider's to name")
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: connect string %q: %w", ErrInvalidOption, s, err)
	}
	return servers, chroot, nil
}

// serverInChroot returns the first host:port behind a comma in a chroot: "zk1:2181/app,zk2:2181/app"
// would otherwise be one server with a chroot that does not exist.
func serverInChroot(chroot string) string {
	for _, part := range strings.Split(chroot, ",")[1:] {
		server, _, _ := strings.Cut(part, "/")
		if _, port, err := net.SplitHostPort(server); err == nil && port != "" {
			return server
		}
	}
	return ""
}

// parseServers reads "zk1:2181,zk2:2181".
func parseServers(s string) ([]string, error) {
	var servers []string
	for host := range strings.SplitSeq(s, ",") {
		server, err := parseServer(strings.TrimSpace(host))
		if err != nil {
			return nil, err
		}
		servers = append(servers, server)
	}
	return servers, nil
}

func parseServer(s string) (string, error) {
	if s == "" {
		return "", fmt.Errorf("a server's name is empty")
	}
	if strings.ContainsAny(s, " \t\r\n;") {
		return "", fmt.Errorf("%q: servers are separated by commas", s)
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		if strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
			return "", fmt.Errorf("%q: an IPv6 address needs brackets", s)
		}
		host, port, err = net.SplitHostPort(net.JoinHostPort(strings.Trim(s, "[]"), defaultPort))
	}
	if err != nil {
		return "", err
	}
	if host == "" {
		return "", fmt.Errorf("%q has no valid host name", s)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q has no valid port", s)
	}
	return net.JoinHostPort(host, port), nil
}
