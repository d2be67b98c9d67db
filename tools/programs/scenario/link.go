package scenario

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/netfault"
)

// Link is the network between one client and the server. It reads the requests and replies that it passes
// on, so that it can lose the reply of one request on every kind of server. Its methods can be called by
// several goroutines.
type Link struct {
	listener net.Listener
	target   string
	gate     netfault.Gate
	done     chan struct{} // closed by close
	wg       sync.WaitGroup

	mu      sync.Mutex
	open    map[*passage]struct{}
	silent  int
	session int64
	lose    *loss
	closed  bool
}

// loss is the request whose reply is lost next.
type loss struct {
	op, path string
	lost     chan struct{} // closed when the reply was lost
}

// passage is a connection of the client, and the one to the server that belongs to it.
type passage struct {
	client, server net.Conn
	whileSilent    bool // it was opened while the link was silent, and ends with the silence

	mu   sync.Mutex
	xid  int32
	loss *loss // of the reply with this xid; nil if there is none
}

func (p *passage) end() {
	p.client.Close()
	if p.server != nil {
		p.server.Close()
	}
}

func newLink(target string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Link{listener: listener, target: target, done: make(chan struct{}), open: map[*passage]struct{}{}}
	l.wg.Go(l.accept)
	return l, nil
}

// Address returns the address that the client must connect to.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Session returns the id of the session that the client had last, 0 before the first one.
func (l *Link) Session() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// Cut ends the connections of the client, which can connect again at once.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.open {
		p.end()
	}
}

// Silence lets nothing through until heal is called. Connections stay open, and neither end notices. New
// connections are accepted, get no answer, and end when heal is called.
func (l *Link) Silence() (heal func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent++
	release := l.gate.Hold()
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.silent--
		for p := range l.open {
			if p.whileSilent {
				p.end()
			}
		}
		release()
	})
}

// LoseReply has the server apply the client's next request with the operation op, such as create, below
// path, and ends the connection instead of the reply. An operation also stands for its later forms, such as
// create2. The channel is closed when the reply was lost.
func (l *Link) LoseReply(op, path string) (lost <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose = &loss{op, path, make(chan struct{})}
	return l.lose.lost
}

func (l *Link) close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
	}
	for p := range l.open {
		p.end()
	}
	l.mu.Unlock()
	l.listener.Close()
	l.wg.Wait()
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return // a failure of the system shows as a client that does not connect
		}
		if p := l.admit(client); p != nil {
			l.wg.Go(func() { l.serve(p) })
		}
	}
}

// admit returns the passage of a new connection, nil if the link is closed.
func (l *Link) admit(client net.Conn) *passage {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		client.Close()
		return nil
	}
	p := &passage{client: client, whileSilent: l.silent > 0}
	l.open[p] = struct{}{}
	return p
}

// dialTimeout bounds the connecting to the server, which is on this machine.
const dialTimeout = 5 * time.Second

// serve passes on what the client and the server send, until one of them, or the link, ends the connection.
func (l *Link) serve(p *passage) {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		p.end()
		delete(l.open, p)
	}()
	if p.whileSilent {
		_, _ = io.Copy(io.Discard, p.client) // until the client, or the end of the silence, closes it
		return
	}
	server, err := net.DialTimeout("tcp", l.target, dialTimeout)
	if err != nil || !l.attach(p, server) {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { l.pass(p, server, p.client, l.request) })
	wg.Go(func() { l.pass(p, p.client, server, l.reply) })
	wg.Wait()
}

// attach adds the connection to the server to a passage, or closes it if the passage has ended.
func (l *Link) attach(p *passage, server net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		server.Close()
		return false
	}
	p.server = server
	return true
}

// pass copies messages from src to dst until one of them fails or look refuses one, and then ends both.
func (l *Link) pass(p *passage, dst io.Writer, src io.Reader, look func(p *passage, first bool, body []byte) bool) {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		p.end()
	}()
	for first := true; ; first = false {
		message, err := readMessage(src)
		if !l.gate.Pass(l.done) || err != nil || !look(p, first, message[prefix:]) {
			return
		}
		if _, err := dst.Write(message); err != nil {
			return
		}
	}
}

// prefix is the length of a message's own length, maxMessage the longest message that is passed on.
const (
	prefix     = 4
	maxMessage = 64 << 20
)

var errTooLong = errors.New("not a message of ZooKeeper's protocol")

// readMessage reads a message with its length.
func readMessage(src io.Reader) ([]byte, error) {
	var length [prefix]byte
	if _, err := io.ReadFull(src, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxMessage {
		return nil, fmt.Errorf("%w: %d bytes", errTooLong, n)
	}
	message := make([]byte, prefix+n)
	copy(message, length[:])
	_, err := io.ReadFull(src, message[prefix:])
	return message, err
}

// request looks at a message of the client: an xid, an operation, and for most operations a path.
func (l *Link) request(p *passage, first bool, body []byte) bool {
	if first || len(body) < 12 {
		return true
	}
	xid, op := int32(binary.BigEndian.Uint32(body)), int32(binary.BigEndian.Uint32(body[4:]))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lose == nil || !strings.HasPrefix(jute.OpName(op), l.lose.op) {
		return true
	}
	length, rest := binary.BigEndian.Uint32(body[8:]), body[12:]
	if int64(length) > int64(len(rest)) || !strings.HasPrefix(string(rest[:length]), l.lose.path) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.xid, p.loss, l.lose = xid, l.lose, nil
	return true
}

// reply looks at a message of the server: the answer to the handshake, or an xid and more. It returns false
// for a reply that is lost.
func (l *Link) reply(p *passage, first bool, body []byte) bool {
	if first {
		if len(body) >= 16 { // version, timeout, session; 0 for a session that has expired
			l.mu.Lock()
			defer l.mu.Unlock()
			if id := int64(binary.BigEndian.Uint64(body[8:])); id != 0 {
				l.session = id
			}
		}
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loss == nil || len(body) < 4 || int32(binary.BigEndian.Uint32(body)) != p.xid {
		return true
	}
	close(p.loss.lost)
	p.loss = nil
	return false
}
