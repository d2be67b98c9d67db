package zkserver

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/netfault"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// handshakeTimeout is how long a connection may be without a session.
const handshakeTimeout = 10 * time.Second

// smallFrame is the length up to which room is made for a frame before it has come.
const smallFrame = 1 << 12

// conn is a client's connection. Three goroutines live with it: one reads and has each
// request done, one writes, and the one that serves it waits for its end.
type conn struct {
	handler handler
	config  Config
	gates   gates
	traffic *traffic // the server's; its lock guards it
	net     net.Conn
	out     outgoing
	link    atomic.Pointer[link] // of its session, if that was ever partitioned

	over     chan struct{} // closed when the connection is to be closed
	overOnce sync.Once

	severed     chan struct{} // closed when that is not up to a server that may be paused
	severedOnce sync.Once

	established     chan struct{} // closed when the connection has a session
	establishedOnce sync.Once

	// The Server's lock guards what follows.

	client    tree.Client // its session is nil before the handshake and after the end
	claimed   int64       // the id of the session that it has, had, or has asked for
	notBefore time.Time   // when what is put in the queue may leave it
	mute      bool        // what is put in the queue is lost
	gone      bool        // no request is done any more
	stats     connStats
}

// handler does what a connection's client asks for.
type handler interface {
	// claimResumed takes note of the session that a handshake asks to continue.
	claimResumed(c *conn, frame []byte)
	// receive does what a frame asks. It is false if nothing more is to be read.
	receive(c *conn, frame []byte) bool
	// answer answers a four-letter word and ends the connection.
	answer(c *conn, word fourLetterWord)
	// lose takes the connection out of the server's state.
	lose(c *conn)
}

// gates are what stops the messages of every connection.
type gates struct {
	closed  <-chan struct{} // closed with the server
	network *link
	running *netfault.Gate // shut while the server is paused
}

func newConn(h handler, config Config, now time.Time, nc net.Conn) *conn {
	c := &conn{
		handler: h, config: config, net: nc, out: newOutgoing(),
		over: make(chan struct{}), severed: make(chan struct{}), established: make(chan struct{}),
	}
	c.client.Notify = c.notify
	c.stats.established = now
	if id, ok := addressID(nc.RemoteAddr()); ok {
		c.client.Identify(id)
	}
	return c
}

// addressID returns the identity that the remote end of a connection has by its address,
// and false for one without an IP address.
func addressID(addr net.Addr) (jute.ID, bool) {
	if addr == nil {
		return jute.ID{}, false
	}
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return jute.ID{}, false
	}
	return tree.AddressID(at.Addr()), true
}

// serve runs the connection to its end. While nothing gets through to the client, it does
// not learn of that end either.
func (c *conn) serve() {
	var wg sync.WaitGroup
	source := io.Reader(c.net)
	if latency := c.config.Latency; latency > 0 {
		line := netfault.NewDelayLine(latency, c.over)
		wg.Go(func() { line.Fill(c.net) })
		source = line
	}
	wg.Go(func() { c.read(source) })
	wg.Go(c.write)
	handshake := time.NewTimer(handshakeTimeout)
	select {
	case <-c.over:
	case <-c.established:
	case <-handshake.C:
		c.end()
	}
	handshake.Stop()
	<-c.over
	c.gates.running.Pass(c.severed)
	c.reachable(c.gates.closed)
	c.net.Close() // the client sees the end; there is nobody else to tell
	wg.Wait()
}

// end has the connection closed at once; if the server is paused, when it goes on.
func (c *conn) end() { c.overOnce.Do(func() { close(c.over) }) }

// sever has the connection closed at once, also if the server is paused.
func (c *conn) sever() {
	c.severedOnce.Do(func() { close(c.severed) })
	c.end()
}

// notify tells the client of a watch event.
func (c *conn) notify(kind int32, path string, zxid int64) { c.send(event(kind, path, zxid)) }

// reply answers a request. The caller holds the Server's lock.
func (c *conn) reply(xid int32, zxid int64, code jute.Code, body tree.Body) {
	c.send(encode(&jute.ReplyHeader{Xid: xid, Zxid: zxid, Err: code}, body))
}

// send puts a frame in the queue. If the client has left too much unread, that ends the
// connection. The caller holds the Server's lock.
func (c *conn) send(frame []byte) {
	if c.mute {
		return
	}
	c.traffic.sent++
	c.stats.sent++
	notBefore := c.notBefore
	if latency := c.config.Latency; latency > 0 {
		if arrival := time.Now().Add(latency); arrival.After(notBefore) {
			notBefore = arrival
		}
	}
	if !c.out.put(message{frame, notBefore}) {
		c.mute = true
		c.end()
	}
}

// inbound waits while nothing gets to the server, and is false if done is closed before.
func (c *conn) inbound(done <-chan struct{}) bool {
	if l := c.link.Load(); l != nil && !l.toServer.Pass(done) {
		return false
	}
	return c.gates.network.toServer.Pass(done) && c.gates.running.Pass(done)
}

// outbound waits while nothing gets to the client, and is false if done is closed before.
func (c *conn) outbound(done <-chan struct{}) bool {
	return c.gates.running.Pass(done) && c.reachable(done)
}

// reachable is outbound, whether the server is paused or not.
func (c *conn) reachable(done <-chan struct{}) bool {
	if !c.gates.network.toClient.Pass(done) {
		return false
	}
	l := c.link.Load()
	return l == nil || l.toClient.Pass(done)
}

// write sends what is in the queue, until its end or that of the connection.
func (c *conn) write() {
	defer c.end()
	for {
		messages, ok := c.out.take(c.over)
		if !ok {
			return
		}
		var batch []byte
		for i, m := range messages {
			if !c.delay(time.Until(m.notBefore)) {
				return
			}
			if len(batch) == 0 {
				batch = m.frame // which nobody else needs
			} else {
				batch = append(batch, m.frame...)
			}
			if i+1 < len(messages) && messages[i+1].notBefore.Equal(m.notBefore) && len(batch) < 1<<16 {
				continue
			}
			if !c.outbound(c.over) {
				return
			}
			if _, err := c.net.Write(batch); err != nil {
				return
			}
			c.out.sent(len(batch))
			batch = nil
		}
	}
}

// delay waits, and is false if the connection ends before.
func (c *conn) delay(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.over:
		return false
	}
}

// read reads frames from source and has them done, until the connection fails or ends.
// While nothing gets through to the server, it does not learn of the client's end either.
func (c *conn) read(source io.Reader) {
	defer c.handler.lose(c)
	r := bufio.NewReader(source)
	for first := true; c.out.await(c.over); first = false {
		frame, err := c.readFrame(r, first)
		if first && err == nil {
			c.handler.claimResumed(c, frame)
		}
		if !c.inbound(c.over) {
			return
		}
		if word, ok := errors.AsType[fourLetterWord](err); ok {
			c.handler.answer(c, word)
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.config.Logger.Debug("connection failed", "remote", c.net.RemoteAddr(), "error", err)
			}
			return
		}
		if !c.handler.receive(c, frame) {
			return
		}
	}
}

// readFrame reads the next frame. If the first one is a four-letter word instead, that is
// the error.
func (c *conn) readFrame(r io.Reader, first bool) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	if word := fourLetterWord(head[:]); first && word.known() {
		return nil, word
	}
	length := int32(binary.BigEndian.Uint32(head[:]))
	if length < 0 || int(length) > c.config.MaxBuffer {
		return nil, fmt.Errorf("request of %d bytes, the limit is %d", length, c.config.MaxBuffer)
	}
	if length <= smallFrame {
		frame := make([]byte, length)
		_, err := io.ReadFull(r, frame)
		return frame, err
	}
	// Room is made for what has come, not for what was announced.
	var frame bytes.Buffer
	_, err := io.CopyN(&frame, r, int64(length))
	return frame.Bytes(), err
}

// Direction is a direction of the network.
type Direction = netfault.Direction

// The directions.
const (
	Both     = netfault.Both
	ToServer = netfault.ToServer
	ToClient = netfault.ToClient
)

// link is a part of the network, which can be broken in each direction.
type link struct {
	toServer netfault.Gate // shut while it loses what clients send
	toClient netfault.Gate // shut while it loses what the server sends
}

// hold breaks the link in a direction until heal is called.
func (l *link) hold(d Direction) (heal func()) {
	var heals []func()
	if d != ToClient {
		heals = append(heals, l.toServer.Hold())
	}
	if d != ToServer {
		heals = append(heals, l.toClient.Hold())
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// traffic counts the messages that went in and out.
type traffic struct {
	received, sent int64
}

// connStats are what a connection has done. The Server's lock guards it.
type connStats struct {
	established    time.Time
	received, sent int64 // messages

	last string        // what was answered last, "" before the handshake
	xid  int32         // of the last request that had one of its own
	zxid int64         // of the last answer
	at   time.Duration // since the server's start
}

// shortNames are ZooKeeper's names of requests in the answer to cons.
var shortNames = map[jute.Op]string{
	jute.OpPing: "PING", jute.OpCreateSession: "SESS", jute.OpMulti: "MULT", jute.OpMultiRead: "MLTR",
	jute.OpCreate: "CREA", jute.OpCreate2: "CREA", jute.OpCreateContainer: "CREA", jute.OpCreateTTL: "CREA",
	jute.OpDelete: "DELE", jute.OpSetData: "SETD", jute.OpReconfig: "RECO", jute.OpSetACL: "SETA",
	jute.OpSync: "SYNC", jute.OpCheck: "CHEC", jute.OpExists: "EXIS", jute.OpGetData: "GETD",
	jute.OpSetWatches: "SETW", jute.OpSetWatches2: "STW2", jute.OpAddWatch: "ADDW", jute.OpGetACL: "GETA",
	jute.OpGetChildren: "GETC", jute.OpGetChildren2: "GETC", jute.OpGetAllChildrenNumber: "GETACN",
	jute.OpCheckWatches: "CHKW", jute.OpRemoveWatches: "REMW", jute.OpWhoAmI: "HOMI", jute.OpGetEphemerals: "GETE",
}

// answered notes that a request was answered. Of a transaction that failed ZooKeeper does
// not know any more what it was.
func (a *connStats) answered(op jute.Op, xid int32, zxid int64, code jute.Code, at time.Duration) {
	a.last = shortNames[op]
	if tree.IsWrite(op) && code != jute.CodeOK {
		a.last = "NA"
	}
	if xid >= 0 {
		a.xid = xid
	}
	a.zxid, a.at = zxid, at
}

// fourLetterWord is a command in place of the first frame.
type fourLetterWord string

// Error makes the word the error of reading a frame.
func (w fourLetterWord) Error() string { return "four-letter word " + string(w) }

// knownWords are those that ZooKeeper 3.8 knows.
var knownWords = []fourLetterWord{
	"ruok", "isro", "srvr", "stat", "cons", "wchs", "conf", "mntr", "envi",
	"crst", "dirs", "dump", "gtmk", "hash", "srst", "stmk", "wchc", "wchp",
}

// known tells whether the word is one.
func (w fourLetterWord) known() bool { return slices.Contains(knownWords, w) }
