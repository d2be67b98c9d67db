package curatortest

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/zkserver/valve"
)

// proxy stands before a server, so that the network between who connects and the server can
// be broken. It keeps its address while the server comes and goes.
type proxy struct {
	listener net.Listener
	target   string
	toServer valve.Valve
	toClient valve.Valve
	opening  opening       // nil if nothing is to be changed
	patience time.Duration // with a target that does not listen yet
	latency  time.Duration // of each direction

	done chan struct{} // closed by close
	wg   sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// opening reads what a client says first, and returns what the server is to hear instead.
type opening func(client net.Conn) ([]byte, error)

// newProxy listens on a free port. When it is started, it passes connections on to target.
func newProxy(target string) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &proxy{listener: listener, target: target, done: make(chan struct{}), conns: map[net.Conn]struct{}{}}, nil
}

// start begins to accept connections.
func (p *proxy) start() { p.wg.Go(p.accept) }

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// hold lets nothing through in a direction until heal is called, which may be called more
// than once.
func (p *proxy) hold(d Direction) (heal func()) {
	var heals []func()
	if d != ToClient {
		heals = append(heals, p.toServer.Hold())
	}
	if d != ToServer {
		heals = append(heals, p.toClient.Hold())
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// close ends every connection and joins every goroutine.
func (p *proxy) close() {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	for conn := range p.conns {
		conn.Close()
	}
	p.mu.Unlock()
	if first {
		close(p.done)
	}
	p.listener.Close() // accept ends, whatever this does
	p.wg.Wait()
}

// own makes a connection end with the proxy; if that is closed already, it ends it at
// once and is false.
func (p *proxy) own(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		conn.Close()
		return false
	}
	p.conns[conn] = struct{}{}
	return true
}

// release closes a connection.
func (p *proxy) release(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	conn.Close()
	delete(p.conns, conn)
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil && p.own(client) {
			p.wg.Go(func() { p.connect(client) })
		}
	}
}

// connect connects a client to the server and passes on what each of them sends, until
// one of them ends and the other one may know it.
func (p *proxy) connect(client net.Conn) {
	defer p.release(client)
	if !p.toServer.Pass(p.done) || !p.toClient.Pass(p.done) {
		return
	}
	var first []byte
	if p.opening != nil {
		var err error
		if first, err = p.opening(client); err != nil {
			return
		}
	}
	server, err := p.dial()
	if err != nil || !p.own(server) {
		return
	}
	defer p.release(server)
	if _, err := server.Write(first); err != nil {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { p.pass(server, client, &p.toServer) })
	wg.Go(func() { p.pass(client, server, &p.toClient) })
	wg.Wait()
}

// dial connects to the target, for which it waits as long as the proxy's patience lasts: who
// has connected to a proxy does not try again, as it would where nobody listens.
func (p *proxy) dial() (net.Conn, error) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(p.patience); ; {
		server, err := net.DialTimeout("tcp", p.target, 5*time.Second)
		if err == nil || !time.Now().Before(end) {
			return server, err
		}
		select {
		case <-ticker.C:
		case <-p.done:
			return nil, err
		}
	}
}

// pass copies what src sends to dst, and then src's end.
func (p *proxy) pass(dst, src net.Conn, through *valve.Valve) {
	defer dst.Close()
	source := io.Reader(src)
	if p.latency > 0 {
		over := make(chan struct{})
		defer close(over)
		line := valve.NewLine(p.latency, over)
		p.wg.Go(func() { line.Fill(src) })
		source = line
	}
	buf := make([]byte, 1<<16)
	for {
		n, err := source.Read(buf)
		if !through.Pass(p.done) {
			return
		}
		if n > 0 {
			if _, err := dst.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
