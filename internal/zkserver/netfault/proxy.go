package netfault

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Direction is a direction of the network between clients and a server.
type Direction int

// The directions.
const (
	Both Direction = iota
	ToServer
	ToClient
)

// Proxy passes connections on to a server, and can break the network between clients and the server.
// It keeps its address while the server does not run. Its fields are set before Start.
type Proxy struct {
	// Opening reads the first message of a client, and returns the message for the server. It is nil if
	// the first message is not changed.
	Opening func(client io.Reader) ([]byte, error)
	// Wrap returns the connection to the server through which data passes, such as one that counts it. It
	// may be nil.
	Wrap     func(server net.Conn) net.Conn
	Patience time.Duration // how long it waits for a target that does not listen yet

	listener net.Listener
	target   string
	toServer way
	toClient way

	done chan struct{} // closed by Close
	wg   sync.WaitGroup

	mu       sync.Mutex
	passages map[*passage]struct{}
	refusing int // while it is above 0, new connections are refused
	closed   bool
}

// way is one direction of a proxy.
type way struct {
	Gate
	latency atomic.Int64 // a time.Duration: the delay of all data
}

// passage is a connection through a proxy: the connection of a client, and the one to the server.
type passage struct {
	client net.Conn
	server net.Conn    // nil until the proxy has connected
	reset  atomic.Bool // data on its way is dropped
}

// close closes both connections.
func (c *passage) close() {
	c.client.Close()
	if c.server != nil {
		c.server.Close()
	}
}

// NewProxy returns a proxy that listens on a free port, and passes connections on to target after
// Start.
func NewProxy(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &Proxy{listener: listener, target: target, done: make(chan struct{}), passages: map[*passage]struct{}{}}, nil
}

// Start begins to accept connections.
func (p *Proxy) Start() { p.wg.Go(p.accept) }

// Address returns the address that clients connect to.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Port returns the port of the address.
func (p *Proxy) Port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// ways returns the ways of a Direction.
func (p *Proxy) ways(d Direction) []*way {
	switch d {
	case ToServer:
		return []*way{&p.toServer}
	case ToClient:
		return []*way{&p.toClient}
	default:
		return []*way{&p.toServer, &p.toClient}
	}
}

// Hold lets nothing through in a direction until heal is called. heal may be called more than once.
func (p *Proxy) Hold(d Direction) (heal func()) {
	var heals []func()
	for _, w := range p.ways(d) {
		heals = append(heals, w.Gate.Hold())
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// Delay delays all data in a direction until heal is called. heal may be called more than once.
func (p *Proxy) Delay(d Direction, by time.Duration) (heal func()) {
	for _, w := range p.ways(d) {
		w.latency.Add(int64(by))
	}
	return sync.OnceFunc(func() {
		for _, w := range p.ways(d) {
			w.latency.Add(-int64(by))
		}
	})
}

// Reset resets connections at the end that sends in a direction, and refuses new ones, until heal is
// called. The other end of a connection does not notice until then. heal may be called more than once.
func (p *Proxy) Reset(d Direction) (heal func()) {
	open := p.Hold(d)
	p.mu.Lock()
	p.refusing++
	var senders []net.Conn
	for c := range p.passages {
		c.reset.Store(true)
		if d != ToClient || c.server == nil {
			senders = append(senders, c.client)
		}
		if d != ToServer && c.server != nil {
			senders = append(senders, c.server)
		}
	}
	p.mu.Unlock()
	for _, conn := range senders {
		abort(conn)
	}
	return sync.OnceFunc(func() {
		p.mu.Lock()
		p.refusing--
		p.mu.Unlock()
		open()
	})
}

// Refuse closes new connections at once until accept is called. accept may be called more than once.
func (p *Proxy) Refuse() (accept func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusing++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.refusing--
	})
}

// Disconnect closes every connection at both ends.
func (p *Proxy) Disconnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.passages {
		c.close()
	}
}

// abort closes a connection so that the other end sees a reset.
func abort(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it fails if the connection has ended
	}
	conn.Close()
}

// Close closes every connection and joins every goroutine.
func (p *Proxy) Close() {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	for c := range p.passages {
		c.close()
	}
	p.mu.Unlock()
	if first {
		close(p.done)
	}
	p.listener.Close() // accept ends even if this fails
	p.wg.Wait()
}

// acceptPause is the pause of accept after a failure. Usually the process has too many open files,
// until it closes some.
const acceptPause = 10 * time.Millisecond

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			select {
			case <-time.After(acceptPause):
				continue
			case <-p.done:
				return
			}
		}
		if c := p.admit(client); c != nil {
			p.wg.Go(func() { p.connect(c) })
		}
	}
}

// admit adds a client's connection. If the proxy is closed or connections are refused, it closes the
// connection and returns nil.
func (p *Proxy) admit(client net.Conn) *passage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.refusing > 0 {
		abort(client)
		return nil
	}
	c := &passage{client: client}
	p.passages[c] = struct{}{}
	return c
}

// attach adds the connection to the server to a passage. If the client's connection was closed
// meanwhile, it closes the one to the server and returns false.
func (p *Proxy) attach(c *passage, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || c.reset.Load() {
		server.Close()
		return false
	}
	c.server = server
	return true
}

// release closes the connections of a passage.
func (p *Proxy) release(c *passage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.close()
	delete(p.passages, c)
}

// connect connects a client to the server, and passes data on in both directions. It returns when one
// connection has ended and the other end may notice that.
func (p *Proxy) connect(c *passage) {
	defer p.release(c)
	early, ok := p.awaitOpen(c.client)
	if !ok {
		return
	}
	client := io.MultiReader(bytes.NewReader(early), c.client)
	var first []byte
	if p.Opening != nil {
		var err error
		if first, err = p.Opening(client); err != nil {
			return
		}
	}
	server, err := p.dial()
	if err != nil || !p.attach(c, server) {
		return
	}
	if p.Wrap != nil {
		server = p.Wrap(server)
	}
	if _, err := server.Write(first); err != nil {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { p.pass(c, server, client, &p.toServer) })
	wg.Go(func() { p.pass(c, c.client, server, &p.toClient) })
	wg.Wait()
}

// awaitOpen waits until the network lets a new connection through, and returns the data that the
// client has sent until then. ok is false if the client has closed the connection: a real network
// would never have established it, so the server must not see it.
func (p *Proxy) awaitOpen(client net.Conn) (early []byte, ok bool) {
	if tryPass(&p.toServer) && tryPass(&p.toClient) {
		return nil, true
	}
	var said bytes.Buffer
	gone := make(chan struct{}) // is closed also when the proxy closes the connection
	read := make(chan struct{})
	go func() {
		defer close(read)
		if _, err := said.ReadFrom(client); !isTimeout(err) {
			close(gone)
		}
	}()
	opened := p.toServer.Pass(gone) && p.toClient.Pass(gone)
	_ = client.SetReadDeadline(time.Now()) // it fails if the connection has ended
	<-read
	_ = client.SetReadDeadline(time.Time{})
	select {
	case <-gone:
		return nil, false
	default:
		return said.Bytes(), opened
	}
}

// tryPass reports whether a direction is open now.
func tryPass(w *way) bool {
	now := make(chan struct{})
	close(now)
	return w.Pass(now)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// dial connects to the target. It retries for the time Patience: a client that has connected to a
// proxy does not retry, as it would at a port where nothing listens.
func (p *Proxy) dial() (net.Conn, error) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(p.Patience); ; {
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

// pass copies the data of src to dst, and then closes dst at the end of src.
func (p *Proxy) pass(c *passage, dst net.Conn, src io.Reader, through *way) {
	defer dst.Close()
	over := make(chan struct{})
	defer close(over)
	slow := false
	buf := make([]byte, 1<<16)
	for {
		n, err := src.Read(buf)
		if !slow && through.latency.Load() > 0 {
			// From now on the delay line keeps the distances in time between pieces of data.
			line := NewVariableDelayLine(func() time.Duration { return time.Duration(through.latency.Load()) }, over)
			all := io.MultiReader(bytes.NewReader(bytes.Clone(buf[:n])), src)
			p.wg.Go(func() { line.Fill(all) })
			src, slow = line, true
			continue
		}
		if !through.Pass(p.done) || c.reset.Load() {
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
