package zkconn_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// A session without a timeout would crash the driver, on a goroutine of its own.
func TestSessionWithoutTimeout(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) {
			cfg.ConnectionTimeout = time.Second
			cfg.Dial = hijack(func(c net.Conn) {
				r := jute.ConnectResponse{SessionID: 7, Passwd: password}
				c.Write(frame(jute.AppendBool(r.Append(nil), false)))
				io.Copy(io.Discard, c)
			})
		})
		t.want(t.conn.Do(t.Context(), 0, exists("/")), zkconn.ErrConnectionLoss)
	})
}

// Every silence is reported, not only the first.
func TestDeadlineIsReportedAgain(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			t.took()
			resume := t.server.Pause()
			time.Sleep(timeout*7/8 + timeout/16)
			kinds, _ := t.took()
			passed := 0
			for _, k := range kinds {
				if k == zkconn.DeadlinePassed {
					passed++
				}
			}
			if passed != 1 {
				t.Fatalf("%d deadlines were reported: %v", passed, kinds)
			}
			resume()
			time.Sleep(2 * timeout)
		}
	})
}

// A session that is created late is believed in from when it was asked for.
func TestLateCreation(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.server.Inject(curatortest.Rule{Op: "createSession", Do: curatortest.Delay(time.Second)})
		begin := time.Now()
		t.open(nil)
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if deadline, _ := t.conn.Deadline(session); !deadline.Equal(begin.Add(timeout * 7 / 8)) {
			t.Errorf("deadline %v after the handshake began", deadline.Sub(begin))
		}
	})
}

// overheard is a connection whose writes somebody listens to.
type overheard struct {
	net.Conn
	hear func(p []byte)
}

func (o overheard) Write(p []byte) (int, error) {
	o.hear(p)
	return o.Conn.Write(p)
}

// opsOf returns the operations of the frames that are written at once. That of a connect request
// means nothing.
func opsOf(p []byte) (ops []jute.Op) {
	for len(p) >= 12 {
		ops = append(ops, jute.Op(binary.BigEndian.Uint32(p[8:])))
		p = p[4+binary.BigEndian.Uint32(p):]
	}
	return ops
}

// Rule 7 of the lock model: a reconnect begins with a sync, before the requests that wait already.
// Events of the old connection may have told that a lock is ours, and no read of the new one may show
// an older state. The first connection does not begin with a sync.
func TestRule7(t *testing.T) {
	virtual(t, func(t *fixture) {
		var mu sync.Mutex
		var connections [][]jute.Op
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := t.server.DialContext(ctx, network, address)
			mu.Lock()
			defer mu.Unlock()
			connections = append(connections, nil)
			n := len(connections) - 1
			return overheard{c, func(p []byte) {
				mu.Lock()
				defer mu.Unlock()
				connections[n] = append(connections[n], opsOf(p)...)
			}}, err
		}
		t.connect(t.server.ConnectString(), dial, nil)
		t.want(t.conn.Do(t.Context(), 0, exists("/")))
		t.server.Disconnect()
		synctest.Wait()
		t.want(t.conn.Ready(t.Context()))
		t.want(t.conn.Do(t.Context(), 0, exists("/")))
		mu.Lock()
		defer mu.Unlock()
		if len(connections) != 2 || slices.Contains(connections[0], jute.OpSync) {
			t.Fatalf("requests by connection: %v", connections)
		}
		if second := connections[1][1:]; len(second) < 2 || second[0] != jute.OpSync { // behind the handshake
			t.Errorf("requests of the second connection: %v", second)
		}
	})
}
