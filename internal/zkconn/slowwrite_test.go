package zkconn_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// slowReader is the client's end of a pipe whose other end takes so many bytes each second. Writes
// end with their deadline.
type slowReader struct {
	net.Conn
	perSecond int
}

func (s slowReader) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), s.perSecond/10)]
		<-time.After(time.Second * time.Duration(len(part)) / time.Duration(s.perSecond))
		written, err := s.Conn.Write(part)
		n += written
		if err != nil {
			return n, err
		}
		p = p[written:]
	}
	return n, nil
}

// A megabyte takes longer than a server that takes nothing may: every 64 KiB have a time of their
// own.
func TestSlowMegabyte(t *testing.T) {
	virtual(t, func(t *fixture) {
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := t.server.DialContext(ctx, network, address)
			return slowReader{c, 500 << 10}, err
		}
		t.connect(t.server.ConnectString(), dial, func(cfg *zkconn.Config) { cfg.MaxRequest = 4 << 20 })
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		made, _ := create("/large", 0)
		made.Req.(*jute.CreateRequest).Data = make([]byte, 1000<<10)
		t.do(made)
		if took := time.Since(began); took < timeout/3 {
			t.Fatalf("it took %v, which shows nothing", took)
		}
		if _, states := t.took(); len(states) != 1 {
			t.Errorf("states %v", states)
		}
	})
}

// noWriteDeadline is a connection on which, from some time on, no deadline for writes can be set.
type noWriteDeadline struct {
	net.Conn
	broken *atomic.Bool
}

func (c noWriteDeadline) SetWriteDeadline(d time.Time) error {
	if c.broken.Swap(false) {
		return errors.New("no deadline")
	}
	return c.Conn.SetWriteDeadline(d)
}

// A request does not count as sent when the deadline of its write cannot be set, as on a closed socket: it is sent on the
// next connection, or its error says that nothing was applied.
func TestWriteDeadlineFails(t *testing.T) {
	virtual(t, func(t *fixture) {
		var broken atomic.Bool
		t.open(func(cfg *zkconn.Config) {
			cfg.Secure = func(_ context.Context, c net.Conn, _ string) (net.Conn, error) {
				return noWriteDeadline{c, &broken}, nil
			}
		})
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		broken.Store(true)
		made, _ := create("/a", 0)
		if err := t.conn.Do(t.Context(), 0, made); err == nil || sent(err) {
			t.Errorf("error %v, which says that the request may have been applied: %t", err, sent(err))
		}
	})
}
