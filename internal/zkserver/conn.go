package zkserver

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// handshakeTimeout is how long a connection may be without a session.
const handshakeTimeout = 10 * time.Second

// conn is a client's connection. Three goroutines live with it: one reads and has each
// request done, one writes, and the one that serves it waits for its end.
type conn struct {
	server *Server
	net    net.Conn
	out    outgoing

	over     chan struct{} // closed when the connection is to be closed
	overOnce sync.Once

	established     chan struct{} // closed when the connection has a session
	establishedOnce sync.Once

	// The Server's lock guards what follows.

	session    *session  // nil before the handshake and after the end
	identities []jute.ID // who the client has proven to be
	notBefore  time.Time // when what is put in the queue may leave it
	mute       bool      // what is put in the queue is lost
	gone       bool      // no request is done any more
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{server: s, net: nc, over: make(chan struct{}), established: make(chan struct{})}
	c.out.wake = make(chan struct{}, 1)
	if id, ok := addressID(nc.RemoteAddr()); ok {
		c.identities = append(c.identities, id)
	}
	return c
}

// serve runs the connection to its end. While nothing gets through to the client, it does
// not learn of that end either.
func (c *conn) serve() {
	var wg sync.WaitGroup
	wg.Go(c.read)
	wg.Go(c.write)
	handshake := time.NewTimer(handshakeTimeout)
	defer handshake.Stop()
	select {
	case <-c.over:
	case <-c.established:
		<-c.over
	case <-handshake.C:
		c.end()
	}
	c.server.outbound(c.server.done)
	c.net.Close() // the client sees the end; there is nobody else to tell
	wg.Wait()
}

// end has the connection closed at once.
func (c *conn) end() { c.overOnce.Do(func() { close(c.over) }) }

// identify adds an identity that the client has proven. The caller holds the Server's lock.
func (c *conn) identify(id jute.ID) {
	if !slices.Contains(c.identities, id) {
		c.identities = append(c.identities, id)
	}
}

// notify tells the client of a watch event.
func (c *conn) notify(kind int32, path string) { c.send(event(kind, path)) }

// reply answers a request. The caller holds the Server's lock.
func (c *conn) reply(xid int32, zxid int64, code jute.Code, body encoder) {
	c.send(encode(&jute.ReplyHeader{Xid: xid, Zxid: zxid, Err: code}, body))
}

// send puts a frame in the queue. The caller holds the Server's lock.
func (c *conn) send(frame []byte) {
	if !c.mute {
		c.server.traffic.sent++
		c.out.put(message{frame, c.notBefore})
	}
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
			batch = append(batch, m.frame...)
			if i+1 < len(messages) && messages[i+1].notBefore.Equal(m.notBefore) && len(batch) < 1<<16 {
				continue
			}
			if !c.server.outbound(c.over) {
				return
			}
			if _, err := c.net.Write(batch); err != nil {
				return
			}
			batch = batch[:0]
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

// read reads frames and has them done, until the connection fails or ends. While nothing
// gets through to the server, it does not learn of the client's end either.
func (c *conn) read() {
	defer c.server.lose(c)
	r := bufio.NewReader(c.net)
	for first := true; ; first = false {
		frame, err := c.readFrame(r, first)
		if !c.server.inbound(c.over) {
			return
		}
		var word fourLetterWord
		if errors.As(err, &word) {
			c.server.answer(c, string(word))
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.server.config.Logger.Debug("connection failed", "remote", c.net.RemoteAddr(), "error", err)
			}
			return
		}
		if !c.server.receive(c, frame) {
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
	if length < 0 || int(length) > c.server.config.MaxBuffer {
		return nil, fmt.Errorf("request of %d bytes, the limit is %d", length, c.server.config.MaxBuffer)
	}
	frame := make([]byte, length)
	_, err := io.ReadFull(r, frame)
	return frame, err
}
