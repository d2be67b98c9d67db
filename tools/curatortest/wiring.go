package curatortest

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// wiring is the network between the members of an ensemble: a member that connects to another one
// does so through a proxy of that pair's own, for each of the two ports that a member has
// for the others.
type wiring struct {
	ports []peerPorts
	wires map[pair]wire
}

// peerPorts are the ports on which a member listens for the others.
type peerPorts struct{ quorum, election int }

// pair is a member that connects and the one that it connects to.
type pair struct{ from, to int }

// wire leads from one member to another.
type wire struct{ quorum, election *proxy }

// proxyWay is a direction of a proxy.
type proxyWay struct {
	proxy     *proxy
	direction Direction
	port      port
}

// port is what a server listens on.
type port int

const (
	clientPort port = iota
	quorumPort
	electionPort
)

// leaderPatience is how long a follower waits for a leader that does not listen yet, about
// as long as it tries without a proxy between them.
const leaderPatience = 5 * time.Second

// newWiring connects the members that listen on ports, each with each.
func newWiring(ports []peerPorts) (*wiring, error) {
	w := &wiring{ports: ports, wires: map[pair]wire{}}
	for from := range ports {
		for to := range ports {
			if from == to {
				continue
			}
			quorum, err := newProxy(local(ports[to].quorum))
			if err != nil {
				w.close()
				return nil, err
			}
			election, err := newProxy(local(ports[to].election))
			if err != nil {
				quorum.close()
				w.close()
				return nil, err
			}
			w.wires[pair{from, to}] = wire{quorum, election}
		}
	}
	for p, wire := range w.wires {
		back := w.wires[pair{p.to, p.from}].election.address()
		wire.election.opening = func(client io.Reader) ([]byte, error) { return readdress(client, back) }
		wire.election.start()
		wire.quorum.patience = leaderPatience
		wire.quorum.start()
	}
	return w, nil
}

// local returns the address of a port of this machine.
func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// settings are the lines of a member's configuration that name the members: itself as it
// listens, the others as it reaches them.
func (w *wiring) settings(member int) string {
	var lines strings.Builder
	for i, ports := range w.ports {
		if wire, ok := w.wires[pair{member, i}]; ok {
			ports = peerPorts{wire.quorum.port(), wire.election.port()}
		}
		fmt.Fprintf(&lines, "server.%d=127.0.0.1:%d:%d\n", i+1, ports.quorum, ports.election)
	}
	return lines.String()
}

// ways returns the parts of the network that carry what one member sends to another one. Either
// of the two may have opened the connection.
func (w *wiring) ways(from, to int) []proxyWay {
	there, back := w.wires[pair{from, to}], w.wires[pair{to, from}]
	return []proxyWay{
		{there.quorum, ToServer, quorumPort},
		{back.quorum, ToClient, quorumPort},
		{there.election, ToServer, electionPort},
		{back.election, ToClient, electionPort},
	}
}

// close ends every connection.
func (w *wiring) close() {
	for _, wire := range w.wires {
		wire.quorum.close()
		wire.election.close()
	}
}

// maxAddress bounds the address in a member's announcement.
const maxAddress = 1 << 12

// readdress reads what a member says first on a connection to another one's port for
// elections, and returns it with the address changed at which it wants to be called back.
// A member with a lower number is always called back, so that two of them have one
// connection only: without the change they would meet behind the proxies.
func readdress(r io.Reader, address string) ([]byte, error) {
	message := make([]byte, 8, 64)
	if _, err := io.ReadFull(r, message); err != nil {
		return nil, err
	}
	if int64(binary.BigEndian.Uint64(message)) >= 0 {
		return message, nil // from before 3.5: its number, and no address
	}
	var rest [12]byte // its number, and the length of its address
	if _, err := io.ReadFull(r, rest[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(rest[8:])
	if length > maxAddress {
		return nil, fmt.Errorf("an address of %d bytes", length)
	}
	if _, err := io.CopyN(io.Discard, r, int64(length)); err != nil {
		return nil, err
	}
	message = append(message, rest[:8]...)
	message = binary.BigEndian.AppendUint32(message, uint32(len(address)))
	return append(message, address...), nil
}
