package curatortest

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/zkserver/netfault"
)

// wiring is the network between the members of an ensemble. A member has two ports for the other
// members. For each pair of members, and for each of the two ports, there is a proxy through which
// one member connects to the other.
type wiring struct {
	ports []peerPorts
	wires map[pair]wire
}

// peerPorts are the ports on which a member listens for the others.
type peerPorts struct{ quorum, election int }

// pair is a member that connects and the one that it connects to.
type pair struct{ from, to int }

// wire has the proxies from one member to another.
type wire struct{ quorum, election *netfault.Proxy }

// proxyWay is a direction of a proxy.
type proxyWay struct {
	proxy     *netfault.Proxy
	direction netfault.Direction
	port      port
}

// port is the kind of a server's port.
type port int

const (
	clientPort port = iota
	quorumPort
	electionPort
)

// leaderPatience is how long a proxy waits for a leader that does not listen yet. Without a proxy a
// follower retries for about that long.
const leaderPatience = 5 * time.Second

// newWiring returns proxies from each member to each other one. ports are the members' ports.
func newWiring(ports []peerPorts) (*wiring, error) {
	w := &wiring{ports: ports, wires: map[pair]wire{}}
	for from := range ports {
		for to := range ports {
			if from == to {
				continue
			}
			quorum, err := netfault.NewProxy(local(ports[to].quorum))
			if err != nil {
				w.close()
				return nil, err
			}
			election, err := netfault.NewProxy(local(ports[to].election))
			if err != nil {
				quorum.Close()
				w.close()
				return nil, err
			}
			w.wires[pair{from, to}] = wire{quorum, election}
		}
	}
	for p, wire := range w.wires {
		back := w.wires[pair{p.to, p.from}].election.Address()
		wire.election.Opening = func(client io.Reader) ([]byte, error) { return readdress(client, back) }
		wire.election.Start()
		wire.quorum.Patience = leaderPatience
		wire.quorum.Start()
	}
	return w, nil
}

// local returns the address of a port of this machine.
func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// settings returns the lines of a member's configuration that name the members: itself with the ports
// on which it listens, the others with the addresses of the proxies to them.
func (w *wiring) settings(member int) string {
	var lines strings.Builder
	for i, ports := range w.ports {
		if wire, ok := w.wires[pair{member, i}]; ok {
			ports = peerPorts{wire.quorum.Port(), wire.election.Port()}
		}
		fmt.Fprintf(&lines, "server.%d=127.0.0.1:%d:%d\n", i+1, ports.quorum, ports.election)
	}
	return lines.String()
}

// ways returns the ways of all messages from one member to another. Either of the two may have opened
// the connection.
func (w *wiring) ways(from, to int) []proxyWay {
	there, back := w.wires[pair{from, to}], w.wires[pair{to, from}]
	return []proxyWay{
		{there.quorum, netfault.ToServer, quorumPort},
		{back.quorum, netfault.ToClient, quorumPort},
		{there.election, netfault.ToServer, electionPort},
		{back.election, netfault.ToClient, electionPort},
	}
}

// close closes all proxies.
func (w *wiring) close() {
	for _, wire := range w.wires {
		wire.quorum.Close()
		wire.election.Close()
	}
}

// maxAddress bounds the length of the address in a member's first message.
const maxAddress = 1 << 12

// readdress reads the first message of a member on a connection to another member's election port. It
// returns the message with another address of the sender. If the sender has the lower number, the
// other member closes the connection and connects to that address instead, so that the two have only
// one connection. Without the change that connection would bypass the proxies.
func readdress(r io.Reader, address string) ([]byte, error) {
	message := make([]byte, 8, 64)
	if _, err := io.ReadFull(r, message); err != nil {
		return nil, err
	}
	if int64(binary.BigEndian.Uint64(message)) >= 0 {
		return message, nil // the form before 3.5: the number, without an address
	}
	var rest [12]byte // the number, and the length of the address
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
