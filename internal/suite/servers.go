package suite

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
)

// Lag makes every new connection one to a server that is behind: until it has answered a sync without an
// error, it repeats the earlier answers to reads that this network has made before, and does not know
// other nodes. Only lists that were not read before are up to date.
func (n *Network) Lag() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lagging = true
}

// FallBehind makes the server of the present connection one that is behind, as Lag says.
func (n *Network) FallBehind() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		c.reads.mu.Lock()
		c.reads.behind = true
		c.reads.mu.Unlock()
	}
}

// ExistsNeedsRead reports whether the server answers exists with the error NoAuth if a client may not read the node, as
// ZooKeeper does since 3.8.4 and 3.9.2. It asks the server once.
func (b *Backend) ExistsNeedsRead(t *testing.T) bool {
	t.Helper()
	known, ok := existsNeedsRead.Load(b.connect)
	if !ok || b.Virtual {
		client, _ := b.Client(t)
		path := b.root + "-exists"
		created := client.Create().WithACL(framework.WorldACL(framework.PermWrite))
		if _, err := created.ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		_, err := client.CheckExists().ForPath(t.Context(), path)
		if err != nil && !errors.Is(err, framework.ErrNoAuth) {
			t.Fatal(err)
		}
		if err := client.Delete().ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		known = err != nil
		existsNeedsRead.Store(b.connect, known)
	}
	return known.(bool)
}

// existsNeedsRead has what servers do, by their connect strings.
var existsNeedsRead sync.Map

// reads are those of one connection that are not answered yet.
type reads struct {
	mu     sync.Mutex
	asked  map[int32]string // what is read, by xid
	behind bool             // the server has not synced
}

const syncing = "sync"

// ask takes note of a request.
func (r *reads) ask(frame []byte) {
	var what string
	switch op := jute.Op(binary.BigEndian.Uint32(frame[8:])); op {
	case jute.OpSync:
		what = syncing
	case jute.OpGetChildren2, jute.OpGetData, jute.OpExists:
		path := frame[16:]
		what = jute.OpName(op) + string(path[:binary.BigEndian.Uint32(frame[12:])])
	default:
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = map[int32]string{}
	}
	r.asked[int32(binary.BigEndian.Uint32(frame[4:]))] = what
}

// answered returns the answer that is delivered in place of frame.
func (c *conn) answered(frame []byte) []byte {
	const header = 20 // the length, the xid, a zxid and an error
	r := &c.reads
	r.mu.Lock()
	defer r.mu.Unlock()
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	what, ok := r.asked[xid]
	delete(r.asked, xid)
	switch {
	case !ok:
		return frame
	case what == syncing:
		r.behind = r.behind && binary.BigEndian.Uint32(frame[16:]) != uint32(jute.CodeOK)
		return frame
	case !r.behind:
		if binary.BigEndian.Uint32(frame[16:]) == uint32(jute.CodeOK) {
			c.network.remember(what, frame[header:])
		}
		return frame
	}
	before, ok := c.network.remembered(what)
	if !ok && !strings.HasPrefix(what, jute.OpName(jute.OpGetChildren2)) { // this network has not seen the node
		missing := slices.Clone(frame[:header])
		binary.BigEndian.PutUint32(missing, header-4)
		code := jute.CodeNoNode
		binary.BigEndian.PutUint32(missing[16:], uint32(code))
		return missing
	}
	if !ok {
		return frame
	}
	stale := slices.Concat(frame[:header-4], make([]byte, 4), before)
	binary.BigEndian.PutUint32(stale, uint32(len(stale)-4))
	return stale
}

func (n *Network) remember(what string, answer []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers == nil {
		n.answers = map[string][]byte{}
	}
	n.answers[what] = append([]byte{}, answer...)
}

func (n *Network) remembered(what string) (answer []byte, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answer, ok = n.answers[what]
	return answer, ok
}

// WithoutQuorum closes the connection, and makes every new one one to a server that has lost its quorum,
// until restore is called: it takes a client that asks for reads alone (framework.WithReadOnly), repeats
// the earlier answers to reads that this network has made before, and refuses all else.
func (n *Network) WithoutQuorum() (restore func()) {
	n.setAlone(true)
	n.Cut()
	return func() { n.setAlone(false) }
}

func (n *Network) setAlone(alone bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.alone = alone
}

// refusedRequests are the requests of one connection that are refused.
type refusedRequests struct {
	mu      sync.Mutex
	refused map[int32]jute.Code // by their xids
}

// refuse returns what is sent in place of a frame that is to be refused with a code. Its answer is turned
// into the refusal.
func (u *refusedRequests) refuse(frame []byte, code jute.Code) []byte {
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.refused == nil {
		u.refused = map[int32]jute.Code{}
	}
	u.refused[xid] = code
	header := jute.RequestHeader{Xid: xid, Op: jute.OpExists}
	sent := (&jute.PathWatchRequest{Path: "/"}).Append(header.Append(make([]byte, 4)))
	binary.BigEndian.PutUint32(sent, uint32(len(sent)-4))
	return sent
}

// refusal returns the refusal in place of an answer, and whether there is one.
func (u *refusedRequests) refusal(frame []byte) ([]byte, bool) {
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	u.mu.Lock()
	defer u.mu.Unlock()
	code, refused := u.refused[xid]
	if !refused {
		return frame, false
	}
	header := jute.ReplyHeader{Xid: xid, Err: code}
	frame = header.Append(make([]byte, 4))
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame, true
}

// needsQuorum tells whether a server without a quorum refuses what is asked for in a frame.
func needsQuorum(frame []byte) bool {
	switch jute.Op(binary.BigEndian.Uint32(frame[8:])) {
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL, jute.OpDelete, jute.OpSetData,
		jute.OpSetACL, jute.OpMulti, jute.OpCheck, jute.OpSync:
		return true
	}
	return false
}

// unknown tells whether a server before 3.6 does not know what is asked for in a frame.
func unknown(frame []byte) bool {
	op := jute.Op(binary.BigEndian.Uint32(frame[8:]))
	return op == jute.OpAddWatch || op == jute.OpSetWatches2
}

// Echo starts a server that sends back what it gets, and returns its address.
func Echo(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(conn, conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return listener.Addr().String()
}
