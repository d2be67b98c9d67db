package zkconn_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// The times that a server has follow from what it grants, be that less or more than what was asked
// for.
var askedFor = map[string]time.Duration{"granted less": 15 * timeout, "granted more": timeout / 8}

// TestHandshakeTimeoutIsOfWhatWasGranted has a server accept the session, and never answer again: its
// connections are given up after a third of the timeout that it granted.
func TestHandshakeTimeoutIsOfWhatWasGranted(t *testing.T) {
	for name, asked := range askedFor {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				took := make(chan time.Duration, 100)
				peer := &script{serve: func(n int, c net.Conn) {
					if n == 0 {
						c.Write(welcome())
						return
					}
					begin := time.Now()
					io.Copy(io.Discard, c)
					took <- time.Since(begin)
				}}
				t.open(func(cfg *zkconn.Config) { cfg.Dial, cfg.SessionTimeout = peer.dial, asked })
				if d := <-took; d != timeout/3 {
					t.Errorf("it had %v, want %v", d, timeout/3)
				}
				synctest.Wait()
				time.Sleep(2 * timeout) // the session is over
				if d := <-took; d != timeout/3 {
					t.Errorf("the second time it had %v, want %v", d, timeout/3)
				}
				for len(took) > 0 {
					<-took
				}
				if d := <-took; d != asked/3 {
					t.Errorf("without a session it had %v, want %v", d, asked/3)
				}
			})
		})
	}
}

// TestWriteTimeoutIsOfWhatWasGranted has a server take nothing after the handshake, and tell of events
// all the time: the connection is given up after a third of the timeout that it granted.
func TestWriteTimeoutIsOfWhatWasGranted(t *testing.T) {
	for name, asked := range askedFor {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				peer := &script{serve: func(_ int, c net.Conn) {
					for _, err := c.Write(welcome()); err == nil; _, err = c.Write(notice(jute.EventNodeDeleted, "/a")) {
						time.Sleep(100 * time.Millisecond)
					}
				}}
				t.open(func(cfg *zkconn.Config) { cfg.Dial, cfg.SessionTimeout = peer.dial, asked })
				ctx, cancel := context.WithTimeout(t.Context(), 10*timeout)
				defer cancel()
				begin := time.Now()
				err := t.conn.Do(ctx, 0, exists("/"))
				// For a moment it is read what the server has said before.
				if took := time.Since(begin); took < timeout/3 || took > timeout/3+time.Second/2 || !strings.Contains(err.Error(), "i/o timeout") {
					t.Errorf("after %v: %v; want it after %v", took, err, timeout/3)
				}
				t.want(err, zkconn.ErrConnectionLoss)
				cancel()
				_ = t.conn.Close(ctx)
				time.Sleep(time.Second) // the server has noticed
			})
		})
	}
}

// A server greets with a session that the driver cannot use. It is given up for the next one.
func TestUnusableSession(t *testing.T) {
	ms := int32(timeout / time.Millisecond)
	for name, r := range map[string]jute.ConnectResponse{
		"timeout of zero":  {SessionID: 7, Passwd: make([]byte, 16)},
		"negative timeout": {SessionID: 7, TimeOut: -ms, Passwd: make([]byte, 16)},
		"long password":    {SessionID: 7, TimeOut: ms, Passwd: make([]byte, 230)},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				bad := hijack(func(c net.Conn) {
					c.Write(frame(jute.AppendBool(r.Append(nil), false)))
					io.Copy(io.Discard, c)
				})
				dials := 0
				t.open(func(cfg *zkconn.Config) {
					good := cfg.Dial
					cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
						if dials++; dials == 1 {
							return bad(ctx, network, address)
						}
						return good(ctx, network, address)
					}
				})
				t.do(exists("/"))
				t.states(state.Connected)
			})
		})
	}
}
