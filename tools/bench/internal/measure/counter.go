package measure

import (
	"context"
	"encoding/binary"
	"net"
	"sync/atomic"
)

// Counter counts the bytes and the requests of ZooKeeper's protocol on connections, including pings and
// connect requests. The zero value is ready for use.
type Counter struct{ requests, sent, received atomic.Int64 }

// Total returns the counts until now.
func (c *Counter) Total() Wire {
	return Wire{Requests: c.requests.Load(), Sent: c.sent.Load(), Received: c.received.Load()}
}

// DialContext connects as net.Dialer does, and counts what is sent and received. It fits
// framework.WithDialer.
func (c *Counter) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return c.Count(conn), nil
}

// Count returns conn with its traffic counted.
func (c *Counter) Count(conn net.Conn) net.Conn { return &counted{Conn: conn, counter: c} }

// counted is a connection whose traffic is counted. Its Write must be called by only one goroutine at
// a time, because parts of different requests could not be separated otherwise.
type counted struct {
	net.Conn
	counter  *Counter
	requests frames
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.counter.received.Add(int64(n))
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	// It is counted before it is sent, so that it is counted when its answer arrives.
	c.counter.sent.Add(int64(len(b)))
	c.counter.requests.Add(c.requests.pass(b))
	return c.Conn.Write(b)
}

// frames finds the beginnings of frames in a stream. The length of each frame is before it.
type frames struct {
	header [4]byte
	have   int // the bytes of the header that were seen
	left   int // the bytes of the frame that are left
}

// pass returns the number of frames that begin in the next part of the stream.
func (f *frames) pass(b []byte) (begun int64) {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, len(b))
			f.left -= n
			b = b[n:]
			continue
		}
		n := copy(f.header[f.have:], b)
		f.have += n
		b = b[n:]
		if f.have == len(f.header) {
			f.left, f.have = int(binary.BigEndian.Uint32(f.header[:])), 0
			begun++
		}
	}
	return begun
}
