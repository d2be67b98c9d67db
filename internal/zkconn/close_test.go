package zkconn_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestCloseWithoutConnection closes at every stage of an attempt to connect. The driver
// waits a second for an answer to its last request where nobody gives it one.
func TestCloseWithoutConnection(t *testing.T) {
	silent := hijack(func(c net.Conn) { c.Read(make([]byte, 100)) })
	for name, dial := range map[string]dialFunc{
		"refused": func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed },
		"dialing": func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"handshake": silent,
		"cut":       hijack(func(net.Conn) {}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, after := range []time.Duration{0, time.Millisecond, 77 * time.Millisecond, time.Second, 3 * time.Second} {
				virtual(t, func(t *fixture) {
					t.open(func(c *zkconn.Config) { c.Dial = dial })
					time.Sleep(after)
					t.closeAtOnce(nil)
				})
			}
		})
	}
}

func (t *fixture) closeAtOnce(want error) {
	t.Helper()
	begin := time.Now()
	if err := t.conn.Close(t.Context()); want == nil && err != nil || want != nil && err == nil {
		t.Errorf("Close: %v", err)
	}
	if d := time.Since(begin); d > 0 {
		t.Errorf("Close took %v", d)
	}
}

// TestCloseWhileTheConnectionEnds has the server go away between the driver's last request
// and its answer, and before it.
func TestCloseWhileTheConnectionEnds(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		resume := t.server.Pause()
		go func() {
			synctest.Wait() // Close waits for the answer
			t.server.Disconnect()
			resume()
		}()
		t.closeAtOnce(zkconn.ErrConnectionLoss)
	})
}

// lateConn answers the handshake when told to, whatever deadline it was given, and closed or not.
type lateConn struct {
	net.Conn
	answer chan []byte
}

func (c *lateConn) Write(p []byte) (int, error) { return len(p), nil }

func (c *lateConn) Read(p []byte) (int, error) { return copy(p, <-c.answer), nil }

// TestCloseWhileTheSessionOpens has the handshake succeed when it is not wanted any more.
func TestCloseWhileTheSessionOpens(t *testing.T) {
	virtual(t, func(t *fixture) {
		answer := make(chan []byte, 1)
		t.open(func(c *zkconn.Config) {
			c.Dial = func(context.Context, string, string) (net.Conn, error) {
				conn, _ := net.Pipe()
				return &lateConn{Conn: conn, answer: answer}, nil
			}
		})
		synctest.Wait()
		go func() {
			synctest.Wait() // Close has given the handshake up
			r := jute.ConnectResponse{TimeOut: 4000, SessionID: 7, Passwd: password}
			answer <- frame(jute.AppendBool(r.Append(nil), false))
		}()
		t.closeAtOnce(nil)
	})
}

func TestClose(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		made, _ := create("/e", jute.FlagEphemeral)
		if err := t.conn.Do(t.Context(), 0, made); err != nil {
			t.Fatal(err)
		}
		if err := t.conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := t.server.Sessions(); n != 0 {
			t.Fatalf("%d sessions are left", n)
		}
		t.want(t.conn.Do(t.Context(), 0, exists("/")), zkconn.ErrClosed, zk.ErrClosing)
		if err := t.conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// A server that does not answer cannot hold Close up.
func TestCloseWithoutAnswer(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.server.Pause()
		call := make(chan error, 1)
		go func() { call <- t.conn.Do(t.Context(), 0, exists("/")) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begin := time.Now()
		t.want(t.conn.Close(ctx), zkconn.ErrConnectionLoss)
		if d := time.Since(begin); d > 2*time.Second {
			t.Fatalf("it took %v", d)
		}
		t.want(<-call, zkconn.ErrClosed)
	})
}

// TestCloseWaitsForTheAnswer has a server take its time to close the session: Close waits as long as
// its context permits, unless the server is silent for so long that the connection is lost.
func TestCloseWaitsForTheAnswer(t *testing.T) {
	const patience = timeout * 2 / 3
	for name, c := range map[string]struct{ answer, ctx, want time.Duration }{
		"soon":               {500 * time.Millisecond, time.Minute, 500 * time.Millisecond},
		"later":              {patience - time.Millisecond, time.Minute, patience - time.Millisecond},
		"later than ctx":     {2 * time.Second, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"later than a short": {2 * time.Second, 500 * time.Millisecond, 500 * time.Millisecond},
		"too late":           {timeout, time.Minute, patience},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				t.open(nil)
				if _, err := t.conn.Connected(t.Context()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				t.server.Inject(curatortest.Rule{Op: "closeSession", Do: curatortest.Delay(c.answer)})
				ctx, cancel := context.WithTimeout(t.Context(), c.ctx)
				defer cancel()
				begin := time.Now()
				err := t.conn.Close(ctx)
				if took := time.Since(begin); took != c.want || (err == nil) != (c.answer == c.want) {
					t.Errorf("after %v: %v; want it after %v", took, err, c.want)
				}
			})
		})
	}
}
