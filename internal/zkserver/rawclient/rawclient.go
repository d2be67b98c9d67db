// Package rawclient is a ZooKeeper client for tests of servers: it sends single frames and
// reads single frames. It is not safe for concurrent use.
package rawclient

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/go-curator/curator/internal/jute"
)

// ErrExpired is the error of a handshake with a session that is over.
var ErrExpired = errors.New("session expired")

// Body is what a request carries; every jute.Record is one.
type Body interface {
	Append(b []byte) []byte
}

// Raw is a Body that is sent as it is.
type Raw []byte

// Append appends the bytes to b.
func (r Raw) Append(b []byte) []byte { return append(b, r...) }

// Frame is a reply or a watch event.
type Frame struct {
	jute.ReplyHeader
	Body []byte
}

// Event returns the watch event that the frame is, and whether it is one.
func (f Frame) Event() (jute.WatcherEvent, bool) {
	var event jute.WatcherEvent
	if f.Xid != jute.XidNotification {
		return event, false
	}
	return event, jute.Decode(f.Body, &event) == nil
}

// Client is a connection with a session.
type Client struct {
	Conn    net.Conn
	Session jute.ConnectResponse
	Events  []Frame // the watch events that Do has read
	xid     int32
}

// Connect does the handshake on a connection, which is closed if that fails.
func Connect(conn net.Conn, req jute.ConnectRequest) (*Client, error) {
	c := &Client{Conn: conn}
	err := c.WriteFrame(append(req.Append(nil), 0))
	if err == nil {
		var frame []byte
		if frame, err = c.ReadFrame(); err == nil {
			err = jute.Decode(frame, &c.Session)
		}
	}
	if err == nil && c.Session.TimeOut == 0 {
		err = ErrExpired
	}
	if err != nil {
		return c, errors.Join(err, conn.Close())
	}
	return c, nil
}

// WriteFrame sends bytes with their length before them.
func (c *Client) WriteFrame(frame []byte) error {
	_, err := c.Conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	return err
}

// ReadFrame reads bytes with their length before them.
func (c *Client) ReadFrame() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.Conn, head[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(c.Conn, frame)
	return frame, err
}

// Send sends a request and returns its xid. Requests that have one of their own get that.
func (c *Client) Send(op jute.Op, body Body) (int32, error) {
	var xid int32
	switch op {
	case jute.OpPing:
		xid = jute.XidPing
	case jute.OpAuth:
		xid = jute.XidAuth
	case jute.OpSetWatches, jute.OpSetWatches2:
		xid = jute.XidSetWatches
	default:
		c.xid++
		xid = c.xid
	}
	frame := (&jute.RequestHeader{Xid: xid, Op: op}).Append(nil)
	if body != nil {
		frame = body.Append(frame)
	}
	return xid, c.WriteFrame(frame)
}

// Receive reads the next reply or event.
func (c *Client) Receive() (Frame, error) {
	b, err := c.ReadFrame()
	if err != nil {
		return Frame{}, err
	}
	d := jute.NewDecoder(b)
	var f Frame
	f.ReplyHeader.Decode(d)
	f.Body = d.Rest()
	return f, d.Err()
}

// Do sends a request and returns its reply. Events that come before it go to Events.
func (c *Client) Do(op jute.Op, body Body) (Frame, error) {
	xid, err := c.Send(op, body)
	if err != nil {
		return Frame{}, err
	}
	for {
		f, err := c.Receive()
		switch {
		case err != nil:
			return f, err
		case f.Xid == jute.XidNotification:
			c.Events = append(c.Events, f)
		case f.Xid != xid:
			return f, fmt.Errorf("reply to %d where one to %d was due", f.Xid, xid)
		default:
			return f, nil
		}
	}
}
