package interop_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/go-curator/curator/internal/zkserver/netfault"
)

// relay stands between clients that are not ours and a server, to cut their connections.
type relay struct {
	listener net.Listener
	server   string
	open     netfault.Gate // shut during an outage
	done     chan struct{}
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	over  bool
}

// newRelay starts a relay that ends with the test.
func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: listener, server: server, done: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	r.wg.Go(r.accept)
	t.Cleanup(r.close)
	return r
}

func (r *relay) address() string { return r.listener.Addr().String() }

// outage cuts every connection, and connects nobody until during has returned.
func (r *relay) outage(during func()) {
	defer r.open.Hold()()
	r.cut()
	during()
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.conns {
		conn.Close()
	}
}

func (r *relay) close() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	close(r.done)
	r.listener.Close() // accept ends, whatever this does
	r.cut()
	r.wg.Wait()
}

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.wg.Go(func() { r.connect(client) })
	}
}

// connect connects a client, once there is no outage.
func (r *relay) connect(client net.Conn) {
	defer client.Close()
	if !r.own(client) {
		return
	}
	defer r.disown(client)
	if !r.open.Pass(r.done) {
		return
	}
	server, err := net.Dial("tcp", r.server)
	if err != nil {
		return
	}
	defer server.Close()
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{server, client}, {client, server}} {
		wg.Go(func() {
			io.Copy(way[0], way[1]) // an end and a failure are the same here
			client.Close()
			server.Close()
		})
	}
	wg.Wait()
}

// own makes a connection one that is cut, and is false after the relay's end.
func (r *relay) own(client net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns[client] = struct{}{}
	return !r.over
}

func (r *relay) disown(client net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
}
