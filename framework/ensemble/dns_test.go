package ensemble_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/go-curator/curator/framework/ensemble"
)

// The codes of answers, and the types of records.
const (
	serverFailure = 2
	nameError     = 3

	typeA   = 1
	typeSRV = 33
)

// dnsServer answers questions for SRV and A records on loopback, over UDP and TCP. Names that
// it does not know do not exist.
type dnsServer struct {
	udp     net.PacketConn
	tcp     net.Listener
	running sync.WaitGroup

	mu       sync.Mutex
	srv      map[string][]net.SRV // by name, with a dot at its end
	hosts    map[string][]netip.Addr
	code     byte // of every answer, unless it is 0
	silent   bool // there is no answer
	truncate bool // answers over UDP have no records
	asked    map[string]int
	conns    map[net.Conn]struct{}
}

func newDNSServer() (*dnsServer, error) {
	s := &dnsServer{
		srv: map[string][]net.SRV{}, hosts: map[string][]netip.Addr{},
		asked: map[string]int{}, conns: map[net.Conn]struct{}{},
	}
	var err error
	if s.udp, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if s.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		s.udp.Close()
		return nil, err
	}
	s.running.Go(s.servePackets)
	s.running.Go(s.acceptStreams)
	return s, nil
}

// Close ends the server and joins its goroutines.
func (s *dnsServer) Close() error {
	s.udp.Close()
	s.tcp.Close()
	s.mu.Lock()
	for conn := range s.conns {
		conn.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
	return nil
}

// resolver returns a resolver that asks the server, and nobody else.
func (s *dnsServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		address := s.tcp.Addr()
		if strings.HasPrefix(network, "udp") {
			address = s.udp.LocalAddr()
		}
		return new(net.Dialer).DialContext(ctx, network, address.String())
	}}
}

var _ ensemble.Resolver = (*net.Resolver)(nil)

// change changes what the server says.
func (s *dnsServer) change(fn func(s *dnsServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(s)
}

// questions returns how many there were over a network.
func (s *dnsServer) questions(network string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[network]
}

func (s *dnsServer) servePackets() {
	buffer := make([]byte, 1500)
	for {
		n, from, err := s.udp.ReadFrom(buffer)
		if err != nil {
			return
		}
		if reply := s.answer("udp", buffer[:n]); reply != nil {
			s.udp.WriteTo(reply, from)
		}
	}
}

func (s *dnsServer) acceptStreams() {
	for {
		conn, err := s.tcp.Accept()
		if err != nil {
			return
		}
		s.change(func(s *dnsServer) { s.conns[conn] = struct{}{} })
		s.running.Go(func() {
			s.serveStream(conn)
			conn.Close()
			s.change(func(s *dnsServer) { delete(s.conns, conn) })
		})
	}
}

func (s *dnsServer) serveStream(conn net.Conn) {
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		if reply := s.answer("tcp", question); reply != nil {
			conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
		}
	}
}

// answer returns the answer to a question, nil for none.
func (s *dnsServer) answer(network string, message []byte) []byte {
	const header = 12
	if len(message) < header {
		return nil
	}
	name, rest := readName(message[header:])
	if len(rest) < 4 {
		return nil
	}
	question := message[header : len(message)-len(rest)+4]
	kind := binary.BigEndian.Uint16(rest)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[network]++
	if s.silent {
		return nil
	}
	records, code := s.records(name, kind), s.code
	if code == 0 && s.srv[name] == nil && s.hosts[name] == nil {
		code = nameError
	}
	flags := 1<<15 | 1<<10 | 1<<8 | 1<<7 | uint16(code) // a reply, authoritative, recursion
	if truncated := s.truncate && network == "udp"; truncated {
		flags |= 1 << 9
		records = nil
	}
	if code != 0 {
		records = nil
	}
	reply := append([]byte{}, message[:2]...) // the question's number
	for _, n := range []uint16{flags, 1, uint16(len(records)), 0, 0} {
		reply = binary.BigEndian.AppendUint16(reply, n)
	}
	reply = append(reply, question...)
	for _, data := range records {
		reply = append(reply, 0xc0, header) // the question's name
		for _, n := range []uint16{kind, 1, 0, 60, uint16(len(data))} {
			reply = binary.BigEndian.AppendUint16(reply, n)
		}
		reply = append(reply, data...)
	}
	return reply
}

// records returns the data of the records of a name; s.mu is held.
func (s *dnsServer) records(name string, kind uint16) (records [][]byte) {
	switch kind {
	case typeA:
		for _, address := range s.hosts[name] {
			records = append(records, address.AsSlice())
		}
		return records
	case typeSRV:
	default:
		return nil
	}
	for _, r := range s.srv[name] {
		var data []byte
		for _, n := range []uint16{r.Priority, r.Weight, r.Port} {
			data = binary.BigEndian.AppendUint16(data, n)
		}
		records = append(records, appendName(data, r.Target))
	}
	return records
}

// readName reads the name at the beginning of a question.
func readName(b []byte) (name string, rest []byte) {
	for len(b) > 0 && b[0] != 0 && len(b) > int(b[0]) {
		name += string(b[1:1+b[0]]) + "."
		b = b[1+b[0]:]
	}
	if len(b) == 0 {
		return name, nil
	}
	return name, b[1:]
}

func appendName(b []byte, name string) []byte {
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if label != "" {
			b = append(append(b, byte(len(label))), label...)
		}
	}
	return append(b, 0)
}
