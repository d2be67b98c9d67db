package framework

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn"
)

// Ensemble is the configuration of an ensemble, read from a server; see Client.CurrentEnsemble.
// A server without an ensemble has the zero value.
//
// Java: QuorumVerifier.
type Ensemble struct {
	// Version rises with every reconfiguration. It is zero before the first one.
	Version int64
	// Servers are the members, ordered by their id.
	Servers []EnsembleServer
}

// EnsembleServer is a member of an Ensemble. Java: QuorumPeer.QuorumServer.
type EnsembleServer struct {
	ID int64
	// Observer says that the server has no vote.
	Observer bool
	// Addresses are the server's addresses for the other servers, at least one.
	Addresses []PeerAddress
	// ClientAddress is host:port for clients, "" if the configuration does not have it. The
	// host may mean every interface, such as 0.0.0.0.
	ClientAddress string
}

// PeerAddress is an address of a server for the other servers of its ensemble.
type PeerAddress struct {
	Host         string
	QuorumPort   int // of the leader, for its followers
	ElectionPort int
}

// clone returns a copy that shares nothing with e.
func (e Ensemble) clone() Ensemble {
	e.Servers = slices.Clone(e.Servers)
	for i := range e.Servers {
		e.Servers[i].Addresses = slices.Clone(e.Servers[i].Addresses)
	}
	return e
}

// clientServers returns the addresses of the servers for clients, or nil if one is not known: an
// incomplete list would be worse than the user's.
func (e Ensemble) clientServers() []string {
	var servers []string
	for _, s := range e.Servers {
		if s.ClientAddress == "" {
			return nil
		}
		host, port, err := net.SplitHostPort(s.ClientAddress)
		if err != nil {
			return nil // it was written by parseClientAddress
		}
		if !unspecified(host) {
			servers = append(servers, s.ClientAddress)
			continue
		}
		for _, a := range s.Addresses {
			servers = append(servers, net.JoinHostPort(a.Host, port))
		}
	}
	slices.Sort(servers)
	return slices.Compact(servers)
}

// unspecified tells whether a host stands for every interface of its machine.
func unspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsUnspecified()
}

// parseEnsemble reads a configuration: lines such as
//
//	server.1=zk1:2888:3888:participant;0.0.0.0:2181
//	version=100000000
//
// Others, of weights and groups, are about votes.
func parseEnsemble(data []byte) (Ensemble, error) {
	var e Ensemble
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		id, isServer := strings.CutPrefix(key, "server.")
		var err error
		switch {
		case key == "version":
			e.Version, err = strconv.ParseInt(value, 16, 64)
		case isServer:
			var s EnsembleServer
			s, err = parseEnsembleServer(id, value)
			e.Servers = append(e.Servers, s)
		}
		if err != nil {
			return Ensemble{}, fmt.Errorf("configuration of the ensemble: %q: %w", strings.TrimSpace(line), err)
		}
	}
	slices.SortStableFunc(e.Servers, func(a, b EnsembleServer) int { return cmp.Compare(a.ID, b.ID) })
	return e, nil
}

// parseEnsembleServer reads "host:port:port[:role]|...;[host:]port".
func parseEnsembleServer(id, value string) (EnsembleServer, error) {
	var s EnsembleServer
	var err error
	if s.ID, err = strconv.ParseInt(id, 10, 64); err != nil {
		return s, err
	}
	addresses, client, hasClient := strings.Cut(value, ";")
	for address := range strings.SplitSeq(addresses, "|") {
		a, role, err := parsePeerAddress(address)
		if err != nil {
			return s, err
		}
		switch strings.ToLower(role) {
		case "observer":
			s.Observer = true
		case "participant", "":
		default:
			return s, fmt.Errorf("the role %q is unknown", role)
		}
		s.Addresses = append(s.Addresses, a)
	}
	if hasClient {
		s.ClientAddress, err = parseClientAddress(client)
	}
	return s, err
}

// parsePeerAddress reads "host:port:port[:role]".
func parsePeerAddress(s string) (a PeerAddress, role string, err error) {
	host, rest, err := cutHost(s)
	if err != nil {
		return a, "", err
	}
	ports := strings.Split(rest, ":")
	if len(ports) == 3 {
		role = ports[2]
		ports = ports[:2]
	}
	if len(ports) != 2 {
		return a, "", fmt.Errorf("%q is not host:port:port", s)
	}
	a.Host = host
	if a.QuorumPort, err = parsePort(ports[0]); err != nil {
		return a, "", err
	}
	a.ElectionPort, err = parsePort(ports[1])
	return a, role, err
}

// parseClientAddress reads "[host:]port" and returns host:port.
func parseClientAddress(s string) (string, error) {
	host, port := "0.0.0.0", s
	if strings.Contains(s, ":") {
		var err error
		if host, port, err = cutHost(s); err != nil {
			return "", err
		}
	}
	if _, err := parsePort(port); err != nil {
		return "", err
	}
	return net.JoinHostPort(host, port), nil
}

// cutHost takes the host off "host:rest" or "[host]:rest".
func cutHost(s string) (host, rest string, err error) {
	bracketed, isIPv6 := strings.CutPrefix(s, "[")
	if isIPv6 {
		host, rest, _ = strings.Cut(bracketed, "]:")
	} else {
		host, rest, _ = strings.Cut(s, ":")
	}
	if rest == "" || host == "" || strings.ContainsAny(host, "[]/, \t\r\n") {
		return "", "", fmt.Errorf("%q has no valid host", s)
	}
	return host, rest, nil
}

func parsePort(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is no port", s)
	}
	return int(n), nil
}

// configNode has the ensemble's configuration, whatever the namespace and the chroot.
const configNode = "/zookeeper/config"

// tracker follows the ensemble's configuration.
type tracker struct {
	wake     wait.Signal // tells of a connection, and of the end of the watch
	watching atomic.Bool // there is a watch, or a read is under way that sets one
	current  atomic.Pointer[Ensemble]
	data     []byte // of current
	debug    func(message string, args ...any)
}

// trackerPause is how long the tracker waits after an answer that makes no sense.
const trackerPause = 5 * time.Second

// track follows the configuration until life ends.
func (t *tracker) track(life context.Context, conn *zkconn.Conn) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-t.wake:
			if t.watching.Load() { // the end of the former watch was told before the connection
				continue
			}
		case <-timer.C:
		case <-life.Done():
			return
		}
		timer.Stop()
		data, err := t.read(life, conn)
		switch {
		case err == nil:
			t.follow(conn, data)
		case life.Err() != nil:
			return
		case errors.Is(err, ErrNoAuth), errors.Is(err, ErrNoNode): // until the next connection
			t.debug("zookeeper: the configuration of the ensemble cannot be followed", "error", err)
		default:
			timer.Reset(trackerPause) // after a lost connection the next one wakes the tracker earlier
		}
	}
}

// read reads the configuration and watches it. The configuration of a server without an ensemble is
// empty, and does not change as long as the connection lasts, so it is not watched.
func (t *tracker) read(life context.Context, conn *zkconn.Conn) ([]byte, error) {
	data, err := readConfigNode(life, conn, nil)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	t.watching.Store(true)
	data, err = readConfigNode(life, conn, zkconn.NewWatch(configNode, zkconn.WatchData, func(e zkconn.WatchEvent) {
		t.watching.Store(false)
		switch e.Type { // after others the next connection wakes the tracker
		case zkconn.NodeDataChanged, zkconn.WatchReset: // a reset comes without a reconnect, too: see Conn.Unsubscribe
			t.wake.Set()
		}
	}))
	if err != nil {
		t.watching.Store(false)
	}
	return data, err
}

func readConfigNode(ctx context.Context, conn *zkconn.Conn, watch *zkconn.Watch) ([]byte, error) {
	var res jute.GetDataResponse
	call := &zkconn.Call{
		Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: configNode, Watch: watch != nil}, Res: &res, Watch: watch,
	}
	if err := conn.Do(ctx, 0, call); err != nil {
		return nil, err
	}
	return res.Data, call.Err
}

// follow uses a configuration.
func (t *tracker) follow(conn *zkconn.Conn, data []byte) {
	e, err := parseEnsemble(data)
	if err != nil {
		t.debug("zookeeper: the configuration of the ensemble cannot be followed", "error", err)
		return
	}
	servers := e.clientServers()
	if last := t.current.Swap(&e); last == nil || !bytes.Equal(t.data, data) {
		t.debug("zookeeper ensemble", "version", e.Version, "members", len(e.Servers), "servers", servers)
	}
	t.data = data
	if len(servers) > 0 {
		conn.PreferServers(servers)
	}
}
