package zkconn_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// TestServerRequiresSASL has a server require SASL, as ZooKeeper does with
// sessionRequireClientSASLAuth: it accepts the session, answers the first request, be that only a
// ping, with -124, and closes. After three connections it is not dialed again.
func TestServerRequiresSASL(t *testing.T) {
	for name, calls := range map[string][]*zkconn.Call{
		"a request":   {exists("/")},
		"two":         {exists("/"), exists("/a")},
		"only a ping": nil,
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				peer := &script{serve: func(_ int, c net.Conn) {
					c.Write(welcome())
					xid, _, err := request(c)
					for range len(calls) - 1 { // a pipe must be read
						_, _, err = request(c)
					}
					if err != nil {
						return
					}
					r := jute.ReplyHeader{Xid: xid, Err: jute.CodeSessionClosedRequireSASLAuth}
					c.Write(frame(r.Append(nil)))
					io.Copy(io.Discard, c) // it ends the connection late
				}}
				t.open(func(cfg *zkconn.Config) { cfg.Dial = peer.dial })
				t.conn.Unuse() // no proofs are asked for
				wantRequired := func(err error) {
					t.Helper()
					if t.want(err, zkconn.ErrAuthFailed, zk.ErrAuthFailed); !strings.Contains(err.Error(), "SASL") {
						t.Errorf("error %v, want SASL in it", err)
					}
				}
				if calls != nil {
					err := t.conn.Do(t.Context(), 0, calls...)
					for range 2 { // the sync of a reconnect is refused, too
						if errors.Is(err, zkconn.ErrAuthFailed) {
							break
						}
						if t.want(err, zkconn.ErrConnectionLoss); sent(err) || !strings.Contains(err.Error(), "SASL") {
							t.Errorf("error %v", err)
						}
						err = t.conn.Do(t.Context(), 0, calls...)
					}
					wantRequired(err)
				}
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				if n := peer.dials.Load(); n != 3 {
					t.Errorf("it was dialed %d times", n)
				}
				_, err := t.conn.Connected(t.Context())
				wantRequired(err)
				wantRequired(t.conn.Do(t.Context(), 0, exists("/")))
				begin := time.Now()
				_ = t.conn.Close(t.Context()) // that it does not know the session's end is right
				if took := time.Since(begin); took > 0 {
					t.Errorf("Close took %v", took)
				}
			})
		})
	}
}
