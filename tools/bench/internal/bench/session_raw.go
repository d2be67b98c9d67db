package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/tools/bench/internal/wire"
)

// rawSession is a connection without a client. It writes many requests at once, and reads their
// answers. Between its turns it sends pings, so that its session does not expire.
type rawSession struct {
	conn net.Conn
	stop func() // ends the pings

	mu  sync.Mutex // held during an exchange
	in  *bufio.Reader
	out []byte
	xid int32
}

const pingXid = -2

// openRaw opens a rawSession with the first of the servers.
func openRaw(ctx context.Context, address string, timeout time.Duration, counter *wire.Counter) (session, error) {
	first, _, _ := strings.Cut(address, ",")
	conn, err := counter.DialContext(ctx, "tcp", first)
	if err != nil {
		return nil, err
	}
	s := &rawSession{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
	r := jute.ConnectRequest{TimeOut: int32(timeout / time.Millisecond), Passwd: make([]byte, 16)}
	s.frame(jute.AppendBool(r.Append(nil), false))
	if err := s.exchange(1); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var pings sync.WaitGroup
	pings.Go(func() { s.keepAlive(life, timeout/3) })
	s.stop = func() {
		cancel()
		pings.Wait()
	}
	return s, nil
}

// keepAlive sends pings until life or the connection ends. The next turn notices the end of the
// connection.
func (s *rawSession) keepAlive(life context.Context, interval time.Duration) {
	every := time.NewTicker(interval)
	defer every.Stop()
	for {
		select {
		case <-life.Done():
			return
		case <-every.C:
			if s.request(jute.RequestHeader{Xid: pingXid, Op: jute.OpPing}) != nil {
				return
			}
		}
	}
}

// request sends a request without a body, and reads the answer.
func (s *rawSession) request(header jute.RequestHeader) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame(header.Append(nil))
	return s.exchange(1)
}

// frame adds a frame to the output buffer.
func (s *rawSession) frame(body []byte) {
	s.out = binary.BigEndian.AppendUint32(s.out, uint32(len(body)))
	s.out = append(s.out, body...)
}

// exchange writes the output buffer, and reads n answers.
func (s *rawSession) exchange(n int) error {
	_, err := s.conn.Write(s.out)
	s.out = s.out[:0]
	for ; n > 0 && err == nil; n-- {
		var length []byte
		if length, err = s.in.Peek(4); err == nil {
			_, err = s.in.Discard(4 + int(binary.BigEndian.Uint32(length)))
		}
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the server has closed the connection: %w", err)
	}
	return err
}

func (s *rawSession) burst(path string, n int) lock {
	return reads(func(context.Context) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		for range n {
			s.xid++
			header := jute.RequestHeader{Xid: s.xid, Op: jute.OpGetData}
			request := jute.PathWatchRequest{Path: path}
			s.frame(request.Append(header.Append(nil)))
		}
		return s.exchange(n)
	})
}

func (s *rawSession) lock(lockKind, string, int) (lock, error) { return nil, errUnsupported }

func (s *rawSession) close() error {
	s.stop()
	return errors.Join(s.request(jute.RequestHeader{Xid: s.xid + 1, Op: jute.OpClose}), s.conn.Close())
}
