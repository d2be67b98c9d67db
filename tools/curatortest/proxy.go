package curatortest

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/zkserver/valve"
)

// proxy stands before a server, so that the network between clients and the server can be
// broken. It keeps its address while the server comes and goes.
type proxy struct {
	listener net.Listener
	target   string
	toServer valve.Valve
	toClient valve.Valve

	done chan struct{} // closed by close
	wg   sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// newProxy listens on a free port and passes connections on to target.
func newProxy(target string) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, target: target, done: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	p.wg.Go(p.accept)
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

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
	server, err := net.DialTimeout("tcp", p.target, 5*time.Second)
	if err != nil || !p.own(server) {
		return
	}
	defer p.release(server)
	var wg sync.WaitGroup
	wg.Go(func() { p.pass(server, client, &p.toServer) })
	wg.Go(func() { p.pass(client, server, &p.toClient) })
	wg.Wait()
}

// pass copies what src sends to dst, and then src's end.
func (p *proxy) pass(dst, src net.Conn, through *valve.Valve) {
	defer dst.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := src.Read(buf)
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
