package suite

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Network is a client's network, with faults on demand.
type Network struct {
	dial dialFunc

	mu       sync.Mutex
	conns    map[*conn]struct{}
	rules    []*rule
	isolated chan struct{} // closed by the end of the isolation; nil without one
	expiring chan struct{} // closed when the session has been ended; nil else
	session  jute.ConnectResponse
	requests map[jute.Op]int
	last     string            // the address that was dialed last
	lagging  bool              // see Lag
	old      bool              // see Old
	alone    bool              // see WithoutQuorum
	keeper   *keeperNetwork    // nil unless the server is as ClickHouse Keeper
	answers  map[string][]byte // the last ones, by what was read
}

// Fate is what happens to a request.
type Fate int

// The fates.
const (
	// CutBefore closes the connection in place of sending the request.
	CutBefore Fate = iota + 1
	// CutAfter sends the request and closes the connection in place of its answer.
	CutAfter
	// Late sends the request after the function then of On has returned.
	Late
)

type rule struct {
	op   jute.Op
	fate Fate
	then func()
	hit  chan struct{}
}

// On gives the next request with the operation a fate, and calls then, if it is not nil, before the
// fate happens. hit is closed when it has happened. A proof of the session is not meant.
func (n *Network) On(op jute.Op, fate Fate, then func()) (hit <-chan struct{}) {
	r := &rule{op: op, fate: fate, then: then, hit: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rules = append(n.rules, r)
	if n.keeper != nil {
		time.AfterFunc(keeperPatience, func() { n.giveUp(r) })
	}
	return r.hit
}

// Requests returns how many requests with the operation were sent, in whole multis. Proofs of the session do
// not count.
func (n *Network) Requests(op jute.Op) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.requests[op]
}

// Cut closes the connection; the client reconnects.
func (n *Network) Cut() {
	n.mu.Lock()
	conns := n.conns
	n.conns = nil
	n.mu.Unlock()
	for c := range conns {
		c.Conn.Close()
	}
}

// Old makes every new connection one to a server before 3.6, which has no persistent watches: it refuses
// requests for them, and then closes the connection.
func (n *Network) Old() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.old = true
}

// Isolate lets nothing through in either direction, new connections included, until
// heal is called. Nothing that was on its way arrives later.
func (n *Network) Isolate() (heal func()) {
	done := make(chan struct{})
	n.mu.Lock()
	n.isolated = done
	n.mu.Unlock()
	return func() {
		n.mu.Lock()
		conns := n.conns
		n.isolated, n.conns = nil, nil // at once: what was on its way is for none of these
		n.mu.Unlock()
		close(done)
		for c := range conns {
			c.Conn.Close()
		}
	}
}

// Expire ends the client's session at the server, as its timeout would: it takes the session over, for
// which it has the password, and closes it. The server disconnects the client, which cannot connect
// before the session is closed: it would take the session back.
func (n *Network) Expire(t *testing.T) {
	t.Helper()
	if n.keeper != nil {
		n.expireAtKeeper()
		return
	}
	done := make(chan struct{})
	n.mu.Lock()
	s, address := n.session, n.last
	n.expiring = done
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		n.expiring = nil
		n.mu.Unlock()
		close(done)
	}()
	// A connection that the client was about to make may take the session back once. No later one does.
	for range 2 {
		err := n.end(t.Context(), address, s)
		if err == nil {
			return
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
			t.Fatal(err)
		}
	}
	t.Fatal("the server ends each connection that takes the session over")
}

// end takes a session over, and closes it.
func (n *Network) end(ctx context.Context, address string, s jute.ConnectResponse) error {
	raw, err := n.dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer raw.Close()
	connect := jute.ConnectRequest{TimeOut: s.TimeOut, SessionID: s.SessionID, Passwd: s.Passwd}
	hello := jute.AppendBool(connect.Append(make([]byte, 4)), false)
	binary.BigEndian.PutUint32(hello, uint32(len(hello)-4))
	bye := (&jute.RequestHeader{Xid: 1, Op: jute.OpClose}).Append([]byte{0, 0, 0, 8})
	for i, frame := range [][]byte{hello, bye} {
		if _, err := raw.Write(frame); err != nil {
			return err
		}
		answer, err := readFrame(raw)
		if err != nil {
			return err
		}
		var welcome jute.ConnectResponse
		if i == 0 && jute.Decode(answer[4:], &welcome) == nil && welcome.SessionID == 0 {
			return nil // it has ended before
		}
	}
	return nil
}

// Dial is for framework.WithDialer.
func (n *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	isolated, expiring := n.isolated, n.expiring
	n.last = address
	n.mu.Unlock()
	if expiring != nil {
		select {
		case <-expiring:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if isolated != nil {
		select {
		case <-isolated:
			return nil, errors.New("network unreachable")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	raw, err := n.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, network: n, cut: map[int32]*rule{}}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.reads.behind, c.old, c.alone = n.lagging || n.alone, n.old, n.alone
	if n.conns == nil {
		n.conns = map[*conn]struct{}{}
	}
	n.conns[c] = struct{}{}
	return c, nil
}

// conn is one connection. The client reads through a buffer.
type conn struct {
	net.Conn
	network *Network

	old   bool   // see Network.Old
	alone bool   // see Network.WithoutQuorum
	said  bool   // the connect request is through
	open  bool   // so is its answer
	part  []byte // of a frame that is being written
	rest  []byte
	reads reads

	unknown refusedRequests

	mu  sync.Mutex
	cut map[int32]*rule // answers not to be delivered, by xid
}

// Write sends frames, except those that meet a rule with another fate.
func (c *conn) Write(p []byte) (int, error) {
	if len(p) == 0 { // the client tries whether there are deadlines
		return c.Conn.Write(p)
	}
	c.part = append(c.part, p...)
	for len(c.part) >= 4 {
		n := 4 + int(binary.BigEndian.Uint32(c.part))
		if len(c.part) < n {
			break
		}
		frame := c.part[:n]
		c.part = c.part[n:]
		hello := !c.said
		if hello {
			c.said = true
			if c.alone && frame[len(frame)-1] == 0 { // it does not ask for reads alone
				c.Conn.Close()
				return 0, net.ErrClosed
			}
		} else if r := c.network.match(frame); r != nil {
			switch r.fate {
			case CutBefore:
				r.happen(c)
				return 0, net.ErrClosed
			case CutAfter:
				c.mu.Lock()
				c.cut[int32(binary.BigEndian.Uint32(frame[4:]))] = r
				c.mu.Unlock()
			case Late:
				r.happen(c)
			}
		}
		if c.network.silentTo(c) {
			continue
		}
		switch {
		case hello:
		case c.old && unknown(frame):
			frame = c.unknown.refuse(frame, jute.CodeUnimplemented)
		case c.alone && needsQuorum(frame):
			frame = c.unknown.refuse(frame, jute.CodeNotReadOnly)
		default:
			c.reads.ask(frame)
		}
		if _, err := c.Conn.Write(frame); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// match counts the request and returns the rule that it meets.
func (n *Network) match(frame []byte) *rule {
	if isProof(frame) {
		return nil
	}
	op := n.asSentToZooKeeper(jute.Op(binary.BigEndian.Uint32(frame[8:])))
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.requests == nil {
		n.requests = map[jute.Op]int{}
	}
	n.requests[op]++
	for i, r := range n.rules {
		if r.op == op {
			n.rules = append(n.rules[:i:i], n.rules[i+1:]...)
			return r
		}
	}
	return nil
}

// happen calls then before it closes the connection, so that the client does not reconnect earlier.
func (r *rule) happen(c *conn) {
	if r.then != nil {
		r.then()
	}
	if r.fate != Late {
		c.Conn.Close()
	}
	close(r.hit)
}

// silentTo tells whether nothing gets through on the connection any more.
func (n *Network) silentTo(c *conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, connected := n.conns[c]
	return n.isolated != nil || !connected
}

// Read delivers frames, except answers that a rule cuts.
func (c *conn) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		frame, err := readFrame(c.Conn)
		if err != nil {
			c.ended()
			return 0, err
		}
		if c.network.silentTo(c) {
			continue
		}
		if !c.open {
			c.open = true
			if c.alone {
				frame[len(frame)-1] = 1
			} else {
				c.network.greeted(frame)
			}
		} else {
			c.mu.Lock()
			xid := int32(binary.BigEndian.Uint32(frame[4:]))
			r := c.cut[xid]
			delete(c.cut, xid)
			c.mu.Unlock()
			if r != nil {
				r.happen(c)
				return 0, io.EOF
			}
			var refused bool
			if frame, refused = c.unknown.refusal(frame); refused && c.old {
				c.Conn.Close()
			} else if !refused {
				frame = c.answered(frame)
			}
		}
		c.rest = frame
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// ended is called when the connection has ended by itself. The answers that were to be cut will not
// come, so their rules have happened.
func (c *conn) ended() {
	c.mu.Lock()
	rules := slices.Collect(maps.Values(c.cut))
	clear(c.cut)
	c.mu.Unlock()
	for _, r := range rules {
		r.happen(c)
	}
}

// greeted keeps the session that a connect reply names.
func (n *Network) greeted(frame []byte) {
	var r jute.ConnectResponse
	if jute.Decode(frame[4:], &r) == nil && r.SessionID != 0 {
		n.mu.Lock()
		n.session = r
		n.mu.Unlock()
	}
}

func readFrame(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, 4+binary.BigEndian.Uint32(length[:]))
	copy(frame, length[:])
	_, err := io.ReadFull(r, frame[4:])
	return frame, err
}
