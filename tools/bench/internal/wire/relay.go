package wire

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkserver/netfault"
)

// Relay passes connections on to a server, and counts and delays their traffic. It works with every
// protocol, and for clients in other processes.
type Relay struct {
	Counter

	listener net.Listener
	target   string
	delay    time.Duration
	ctx      context.Context // ends with the relay
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// NewRelay returns a relay that listens on a free port of the loopback interface and passes connections
// on to target. It delays all data by delay, in each direction.
func NewRelay(target string, delay time.Duration) (*Relay, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{listener: listener, target: target, delay: delay}
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.wg.Go(r.accept)
	return r, nil
}

// Address returns the address that clients connect to.
func (r *Relay) Address() string { return r.listener.Addr().String() }

// Close closes all connections and joins all goroutines.
func (r *Relay) Close() {
	r.stop()
	r.listener.Close() // accept ends even if this fails
	r.wg.Wait()
}

// acceptPause is the time until the next try to accept a connection.
const acceptPause = 10 * time.Millisecond

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		switch {
		case r.ctx.Err() != nil && err != nil:
			return // the listener is closed
		case err != nil:
			_ = wait.For(r.ctx, acceptPause) // the process has too many open files, say
			continue
		}
		r.wg.Go(func() { r.connect(client) })
	}
}

// connect passes data on in both directions until the client, the server or the relay ends.
func (r *Relay) connect(client net.Conn) {
	defer client.Close()
	server, err := r.DialContext(r.ctx, "tcp", r.target)
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(r.ctx, func() {
		client.Close()
		server.Close()
	})()
	var wg sync.WaitGroup
	wg.Go(func() { r.pass(server, client) })
	wg.Go(func() { r.pass(client, server) })
	wg.Wait()
}

// pass copies the data of src to dst, and then closes dst at the end of src.
func (r *Relay) pass(dst, src net.Conn) {
	defer dst.Close()
	source := io.Reader(src)
	if r.delay > 0 {
		over := make(chan struct{})
		defer close(over)
		line := netfault.NewDelayLine(r.delay, over)
		r.wg.Go(func() { line.Fill(src) })
		source = line
	}
	_, _ = io.Copy(dst, struct{ io.Reader }{source}) // it fails when a connection ends
}
