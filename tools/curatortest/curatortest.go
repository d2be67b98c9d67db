package curatortest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/zkserver"
)

// Server is an embedded server.
type Server struct {
	tb        TB
	noTest    *noTest // the same as tb if New started the server, otherwise nil
	zookeeper *zkserver.Server
	address   string
	dial      func(ctx context.Context) (net.Conn, error)
	serving   sync.WaitGroup
}

// Start starts a server and stops it at the end of the test. In a bubble of testing/synctest the
// server needs [Virtual]; without it the test fails.
func Start(tb TB, opts ...Option) *Server {
	mustHaveTB(tb, "Start")
	tb.Helper()
	s, err := New(opts...)
	if err != nil {
		tb.Fatalf("start a server: %v", err)
	}
	s.tb = tb
	tb.Cleanup(func() { _ = s.Close() }) // in a test, its error is nil
	if !s.virtual() {
		refuseSockets(tb)
	}
	return s
}

// New starts a server outside of a test, as for TestMain and examples. Faults that would end
// with a test last until they are ended, or the server is closed.
func New(opts ...Option) (*Server, error) {
	c, err := newEmbeddedConfig(opts)
	if err != nil {
		return nil, err
	}
	if c.only.real != "" {
		return nil, fmt.Errorf("%w: %s: only real servers have it", ErrInvalidOption, c.only.real)
	}
	s := &Server{noTest: &noTest{}, zookeeper: zkserver.New(c.zookeeper)}
	s.tb = s.noTest
	for _, n := range c.nodes {
		if err := refusedNode(n, s.zookeeper.Create(n.path, []byte(n.data))); err != nil {
			return nil, err
		}
	}
	var listener net.Listener
	if c.virtual {
		memory := newMemoryListener()
		listener, s.address, s.dial = memory, virtualAddress, memory.dial
	} else {
		if listener, err = net.Listen("tcp", cmp.Or(c.listen, "127.0.0.1:0")); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		s.address = listener.Addr().String()
		s.dial = func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", s.address)
		}
	}
	s.serving.Go(func() { _ = s.zookeeper.Serve(listener) }) // its error says that the server was closed
	return s, nil
}

// Close stops the server, closes its connections and joins its goroutines. It can be called
// more than once. Its error has earlier failures for which there was no test to fail.
func (s *Server) Close() error {
	err := s.zookeeper.Close()
	s.serving.Wait()
	return errors.Join(err, s.noTest.err())
}

func (s *Server) virtual() bool { return s.address == virtualAddress }

// ConnectString returns the connect string of the server for framework.NewClient.
func (s *Server) ConnectString() string { return s.address }

// DialContext connects to the server inside this process, whatever the address; this is the
// only way to reach a virtual server. Pass it to framework.WithDialer. During a partition it
// waits until the partition or ctx ends.
func (s *Server) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if err := s.zookeeper.Reach(ctx); err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	return s.dial(ctx)
}

// Get reads a node's data directly.
func (s *Server) Get(path string) ([]byte, bool) {
	data, _, ok := s.zookeeper.Get(path)
	return data, ok
}

// Children lists a node's children directly, sorted.
func (s *Server) Children(path string) []string { return s.zookeeper.Children(path) }

// Watches returns the number of watches on the server.
func (s *Server) Watches() int { return s.zookeeper.Watches() }

// Sessions returns the number of sessions on the server, including sessions without a
// connection.
func (s *Server) Sessions() int { return len(s.zookeeper.Sessions()) }

// SessionIDs returns the ids of the sessions on the server, in ascending order, including sessions without a
// connection. They are for ExpireSession, DisconnectSession and the like, when the program that is tested
// keeps its client, and with it framework.Client.SessionID, to itself. Another session may begin, or one of
// them end, at any time.
func (s *Server) SessionIDs() []int64 {
	ids := s.zookeeper.Sessions()
	slices.Sort(ids)
	return ids
}
