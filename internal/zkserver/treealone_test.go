package zkserver_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// treeAlone is a tree.State by itself: connections to it are function calls, and what a real
// server does around its state is as little here as a client can do with. One goroutine uses
// it, and sessions do not expire.
type treeAlone struct {
	tick    time.Duration
	state   *tree.State
	holders map[int64]*treeConn
}

func newTreeAlone(tick time.Duration, release tree.Release) *treeAlone {
	return &treeAlone{tick, tree.New(time.Now(), tree.Config{TickTime: tick, Release: release}), map[int64]*treeConn{}}
}

// dial returns a connection. What is written to it is done at once.
func (a *treeAlone) dial() (net.Conn, error) {
	c := &treeConn{alone: a}
	c.client.Identify(tree.AddressID(netip.MustParseAddr("127.0.0.1")))
	c.client.Notify = func(event int32, path string, zxid int64) {
		c.reply(jute.ReplyHeader{Xid: jute.XidNotification, Zxid: zxid},
			&jute.WatcherEvent{Type: event, State: jute.StateSyncConnected, Path: path})
	}
	return c, nil
}

// treeConn is a connection to a treeAlone.
type treeConn struct {
	net.Conn // nil: its methods are not used
	alone    *treeAlone
	client   tree.Client
	in, out  bytes.Buffer
	ended    bool
}

var errNothingComes = errors.New("a read that would wait forever")

func (c *treeConn) Read(b []byte) (int, error) {
	switch {
	case c.out.Len() > 0:
		return c.out.Read(b)
	case c.ended:
		return 0, io.EOF
	}
	return 0, errNothingComes
}

func (c *treeConn) Write(b []byte) (int, error) {
	c.in.Write(b)
	for !c.ended && c.in.Len() >= 4 {
		length := int(binary.BigEndian.Uint32(c.in.Bytes()))
		if length > 0xfffff {
			c.end()
			break
		}
		if c.in.Len() < 4+length {
			break
		}
		c.receive(bytes.Clone(c.in.Next(4 + length)[4:]))
	}
	return len(b), nil
}

func (c *treeConn) Close() error {
	c.end()
	return nil
}

func (c *treeConn) SetDeadline(time.Time) error { return nil }

// end ends the connection. What was written can still be read.
func (c *treeConn) end() {
	if sess := c.client.Session; sess != nil && c.alone.holders[sess.ID()] == c {
		delete(c.alone.holders, sess.ID())
	}
	c.ended, c.client.Session = true, nil
	c.alone.state.Forget(&c.client)
}

// send writes a frame.
func (c *treeConn) send(parts ...tree.Body) {
	frame := make([]byte, 4)
	for _, part := range parts {
		if part != nil {
			frame = part.Append(frame)
		}
	}
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	c.out.Write(frame)
}

func (c *treeConn) reply(header jute.ReplyHeader, body tree.Body) { c.send(&header, body) }

// receive does what a frame asks.
func (c *treeConn) receive(frame []byte) {
	st, d := c.alone.state, jute.NewDecoder(frame)
	if c.client.Session == nil {
		c.connect(d)
		return
	}
	var header jute.RequestHeader
	header.Decode(d)
	switch header.Op {
	case jute.OpAuth:
		c.authenticate(header.Xid, d)
		return
	case jute.OpClose:
		st.EndSession(time.Now(), c.client.Session)
		c.reply(jute.ReplyHeader{Xid: header.Xid, Zxid: st.Zxid()}, nil)
		c.end()
		return
	}
	r := st.Do(time.Now(), &c.client, header.Op, d.Rest())
	if !r.Silent {
		c.reply(jute.ReplyHeader{Xid: header.Xid, Zxid: r.Zxid, Err: r.Code}, r.Body)
	}
	if r.TooLong || !st.Knows(header.Op) {
		c.end()
	}
}

// connect does a handshake.
func (c *treeConn) connect(d *jute.Decoder) {
	st := c.alone.state
	var req jute.ConnectRequest
	if req.Decode(d); d.Err() != nil || req.LastZxidSeen > st.Zxid() {
		c.end()
		return
	}
	timeout := min(max(time.Duration(req.TimeOut)*time.Millisecond, 2*c.alone.tick), 20*c.alone.tick)
	var sess *tree.Session
	if req.SessionID == 0 {
		sess = st.CreateSession(time.Now(), timeout, []byte("0123456789abcdef"))
	} else {
		if old := c.alone.holders[req.SessionID]; old != nil {
			old.end()
		}
		sess = st.Resume(time.Now(), req.SessionID, req.Passwd, timeout)
	}
	flag := tree.Raw(make([]byte, min(1, len(d.Rest()))))
	if sess == nil {
		c.send(&jute.ConnectResponse{Passwd: make([]byte, 16)}, flag)
		c.end()
		return
	}
	c.client.Session, c.alone.holders[sess.ID()] = sess, c
	c.send(&jute.ConnectResponse{
		TimeOut: int32(sess.Timeout().Milliseconds()), SessionID: sess.ID(), Passwd: sess.Password(),
	}, flag)
}

// authenticate adds an identity.
func (c *treeConn) authenticate(xid int32, d *jute.Decoder) {
	var packet jute.AuthPacket
	packet.Decode(d)
	switch {
	case d.Err() != nil:
		c.end()
		return
	case packet.Scheme == tree.SchemeDigest && packet.Auth != nil:
		c.client.Identify(tree.DigestID(packet.Auth))
	case packet.Scheme != tree.SchemeIP:
		c.reply(jute.ReplyHeader{Xid: xid, Err: jute.CodeAuthFailed}, nil)
		c.end()
		return
	}
	c.reply(jute.ReplyHeader{Xid: xid}, nil)
}
