//go:build unix

package main

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/go-curator/curator/internal/zkserver/netfault"
)

// network is a proxy between one process and a server, which can cut the connection.
type network struct {
	t        *testing.T
	listener net.Listener
	server   string
	gate     netfault.Gate
	done     chan struct{}
	wg       sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

func newNetwork(t *testing.T, server string) *network {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{t: t, listener: listener, server: server, done: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	n.wg.Go(n.accept)
	t.Cleanup(func() {
		n.mu.Lock()
		n.closed = true
		n.mu.Unlock()
		close(n.done)
		listener.Close()
		n.disconnect()
		n.wg.Wait()
	})
	return n
}

func (n *network) address() string { return n.listener.Addr().String() }

// cut holds all data back until heal is called, without closing connections.
func (n *network) cut() (heal func()) { return n.gate.Hold() }

// disconnect closes the connections.
func (n *network) disconnect() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for conn := range n.conns {
		conn.Close()
	}
	clear(n.conns)
}

func (n *network) own(conn net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		conn.Close()
		return false
	}
	n.conns[conn] = struct{}{}
	return true
}

func (n *network) accept() {
	for {
		client, err := n.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil && n.own(client) {
			n.wg.Go(func() { n.connect(client) })
		}
	}
}

func (n *network) connect(client net.Conn) {
	defer client.Close()
	if !n.gate.Pass(n.done) {
		return
	}
	server, err := net.Dial("tcp", n.server)
	if err != nil || !n.own(server) {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { n.pass(server, client) })
	wg.Go(func() { n.pass(client, server) })
	wg.Wait()
}

func (n *network) pass(dst, src net.Conn) {
	defer dst.Close()
	_, _ = io.Copy(passing{dst, n}, src) // it ends when either side closes its connection
}

// passing is a connection whose writes wait for the gate.
type passing struct {
	net.Conn
	n *network
}

func (p passing) Write(b []byte) (int, error) {
	if !p.n.gate.Pass(p.n.done) {
		return 0, net.ErrClosed
	}
	return p.Conn.Write(b)
}
