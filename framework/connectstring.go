package framework

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

const defaultPort = "2181"

// parseConnectString reads "zk1:2181,zk2:2181/chroot", or "/chroot" if the servers are
// provided by somebody else.
func parseConnectString(s string, provided bool) (servers []string, chroot string, err error) {
	hosts, rest, hasChroot := strings.Cut(s, "/")
	if hasChroot && rest != "" {
		chroot = "/" + rest
		if err := validatePath(chroot, false); err != nil {
			return nil, "", fmt.Errorf("%w: connect string %q: chroot: %w", ErrInvalidOption, s, err)
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
	if host == "" || strings.ContainsAny(host, " \t\r\n") {
		return "", fmt.Errorf("%q has no valid host name", s)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q has no valid port", s)
	}
	return net.JoinHostPort(host, port), nil
}
