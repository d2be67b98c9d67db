package zkconn_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"net"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// speak writes what a server says, a piece at a time, and then nothing more. What the
// client says meanwhile is read and not understood.
func speak(c net.Conn, words []byte, piece int) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		io.Copy(io.Discard, c)
	}()
	for len(words) > 0 {
		n := min(max(piece, 1), len(words))
		if _, err := c.Write(words[:n]); err != nil {
			break
		}
		words = words[n:]
	}
	<-gone
}

// reply is a reply's frame, of a request that was the nth of ours.
func reply(n int32, body ...byte) []byte {
	header := jute.ReplyHeader{Xid: -1000 - n, Zxid: 1}
	return frame(append(header.Append(nil), body...))
}

// notice is a notification's frame.
func notice(kind int32, path string) []byte {
	header := jute.ReplyHeader{Xid: jute.XidNotification, Zxid: -1}
	event := jute.WatcherEvent{Type: kind, State: jute.StateSyncConnected, Path: path}
	return frame(event.Append(header.Append(nil)))
}

// length is that of a frame, or of something in one.
func length(n int32) []byte { return jute.AppendInt32(nil, n) }

// bounded brings the test down if it is not done in time: one that spins, or that waits in
// virtual time while a server's clock ticks, would take until the timeout of all tests.
func bounded() (done func() bool) {
	return time.AfterFunc(30*time.Second, func() {
		debug.SetTraceback("all")
		panic("something hangs")
	}).Stop
}

// FuzzStream has a server say anything, after a handshake and in place of one: whatever it
// is, the caller is told of an error within the time that it set, nothing panics, and
// nothing is left running.
func FuzzStream(f *testing.F) {
	stat := (&jute.StatResponse{}).Append(nil)
	for _, words := range [][]byte{
		nil,
		{0, 0, 0, 37},
		[]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
		{21, 3, 3, 0, 2, 2, 40}, // a TLS alert
		length(-1), length(math.MinInt32), length(math.MaxInt32), length(maxFrame + 1), length(maxFrame), length(0), length(15),
		welcome(), welcome()[:20],
		bytes.Repeat(welcome(), 3),
		reply(0, stat...)[:30],
		reply(0, stat[:60]...), reply(0),
		append(reply(1, stat...), reply(0, stat...)...),
		append(reply(0, stat...), reply(0, stat...)...),
		frame(length(0)), frame(make([]byte, 16)),
		frame((&jute.ReplyHeader{Xid: jute.XidPing}).Append(nil)),
		frame((&jute.ReplyHeader{Xid: jute.XidAuth, Err: jute.CodeAuthFailed}).Append(nil)),
		notice(jute.EventNodeDeleted, "/a"), notice(jute.EventNone, ""), notice(99, "/a"), notice(math.MinInt32, "/a"),
		notice(jute.EventNodeCreated, ""), notice(jute.EventNodeDeleted, "a"), notice(jute.EventNodeCreated, "//"),
		notice(jute.EventNodeDataChanged, "/a/"), notice(jute.EventNodeDeleted, "/\x00/\xff"),
		frame(append((&jute.ReplyHeader{Xid: jute.XidNotification}).Append(nil), length(math.MaxInt32)...)),
		reply(0, length(math.MaxInt32)...), reply(0, length(-7)...), // a vector, or a string
	} {
		for _, handshake := range []bool{true, false} {
			f.Add(handshake, byte(len(words)), words)
			f.Add(handshake, byte(3), words)
		}
	}
	f.Fuzz(func(t *testing.T, handshake bool, piece byte, words []byte) {
		defer bounded()()
		peer := &script{serve: func(_ int, c net.Conn) {
			if handshake {
				c.Write(welcome())
				readFrame(c)
			}
			speak(c, words, int(piece))
		}}
		virtual(t, func(t *fixture) {
			t.open(func(cfg *zkconn.Config) { cfg.Dial, cfg.ConnectionTimeout = peer.dial, timeout })
			begin := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 10*timeout)
			defer cancel()
			subscribed := make(chan error, 1)
			go func() {
				all := zkconn.NewSubscription("/", true, func(zkconn.WatchEvent) {})
				subscribed <- t.conn.Subscribe(ctx, all)
			}()
			watching, _ := read("/a")
			var children jute.GetChildren2Response
			list := &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: "/"}, Res: &children}
			err := t.conn.Do(ctx, 0, watching, list)
			if err == nil && !bytes.Contains(words, length(-1000)) {
				t.Error("a request was answered that the server never answered")
			}
			if err := <-subscribed; err == nil && !bytes.Contains(words, length(-1000)) {
				t.Error("a subscription was answered that the server never answered")
			}
			// A connection, then two thirds of a timeout of silence on it. A server that
			// grants days may be silent for days: there only the context ends the wait.
			most := 2 * timeout
			if _, granted := t.conn.Session(); granted > timeout {
				most = 10 * timeout
			}
			if took := time.Since(begin); took > most {
				t.Errorf("it took %v", took)
			}
		})
	})
}

const maxFrame = 16 << 20 // what a server may send at once

// TestHostileServer has the first of two servers be anything but one. The budget for its
// handshake is a third of the session timeout; so the client has found the healthy one by
// then. Without one the error says who it was and what it did.
func TestHostileServer(t *testing.T) {
	say := func(words string) func(c net.Conn) {
		return func(c net.Conn) { speak(c, []byte(words), len(words)) }
	}
	for name, c := range map[string]struct {
		do   func(c net.Conn)
		want string // in the error
	}{
		"never answers":              {say(""), "does not answer, for 1.333s now"},
		"four bytes and no more":     {say("\x00\x00\x00\x25"), "does not answer"},
		"speaks HTTP":                {say("HTTP/1.1 400 Bad Request\r\n\r\n"), "does not answer as ZooKeeper does: it speaks HTTP"},
		"speaks TLS":                 {say("\x15\x03\x03\x00\x02\x02\x28"), "does not answer as ZooKeeper does: it speaks TLS"},
		"speaks SSH":                 {say("SSH-2.0-OpenSSH\r\n"), `does not answer as ZooKeeper does (first bytes "SSH-")`},
		"closes at once":             {func(net.Conn) {}, "it is not serving, has too many connections from here, or its port is for TLS (EOF)"},
		"closes in the greeting":     {func(c net.Conn) { c.Write(welcome()[:20]) }, "unexpected EOF"},
		"closes after the greeting":  {func(c net.Conn) { c.Write(welcome()); readFrame(c) }, "EOF"},
		"closes in the middle later": {func(c net.Conn) { c.Write(welcome()); readFrame(c); c.Write(reply(0)[:10]) }, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := &script{serve: func(_ int, conn net.Conn) { c.do(conn) }}
			t.Run("alone", func(t *testing.T) {
				virtual(t, func(t *fixture) {
					t.open(func(cfg *zkconn.Config) {
						cfg.Servers, cfg.Dial, cfg.ConnectionTimeout = []string{"bad:1"}, bad.dial, timeout
					})
					err := t.conn.Do(t.Context(), 0, exists("/"))
					t.want(err, zkconn.ErrConnectionLoss)
					// A pipe has words of its own for an end that was there before a deadline was set.
					text := strings.ReplaceAll(err.Error(), io.ErrClosedPipe.Error(), io.EOF.Error())
					if !strings.Contains(text, "bad:1") || !strings.Contains(text, c.want) {
						t.Errorf("error %q, want bad:1 and %q in it", text, c.want)
					}
				})
			})
			t.Run("first of two", func(t *testing.T) {
				virtual(t, func(t *fixture) {
					first := ""
					t.open(func(cfg *zkconn.Config) {
						cfg.Servers = []string{"one:1", "two:1"}
						cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
							if first == "" {
								first = address // which of the two is left to chance
							}
							if address == first {
								return bad.dial(ctx, network, address)
							}
							return t.server.DialContext(ctx, network, address)
						}
					})
					begin := time.Now()
					for t.conn.Do(t.Context(), 0, exists("/")) != nil { // sent to the bad one
						synctest.Wait()
					}
					if took := time.Since(begin); took > timeout/3 {
						t.Errorf("connected after %v", took)
					}
				})
			})
		})
	}
}

// The first frame of a connection is at most a connect reply, whatever it says of its size.
func TestHandshakeSizes(t *testing.T) {
	for _, n := range []uint32{0, 35, 257, math.MaxUint32} {
		virtual(t, func(t *fixture) {
			peer := &script{serve: func(_ int, c net.Conn) {
				speak(c, append(binary.BigEndian.AppendUint32(nil, n), make([]byte, 300)...), 300)
			}}
			t.open(func(cfg *zkconn.Config) { cfg.Dial, cfg.ConnectionTimeout = peer.dial, time.Second })
			err := t.conn.Do(t.Context(), 0, exists("/"))
			t.want(err, zkconn.ErrConnectionLoss)
			if !strings.Contains(err.Error(), "does not answer as ZooKeeper does") {
				t.Errorf("a frame of %d bytes: %v", n, err)
			}
		})
	}
}
