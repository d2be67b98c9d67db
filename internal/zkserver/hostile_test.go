package zkserver_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

// TestWhatIsNoRequestEndsTheConnection sends what no client would, before and after the
// handshake.
func TestWhatIsNoRequestEndsTheConnection(t *testing.T) {
	for name, sent := range map[string]string{
		"HTTP":             "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"TLS":              "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"negative length":  "\xff\xff\xff\xff",
		"too long":         "\x00\x10\x00\x00",
		"no content":       "\x00\x00\x00\x00",
		"too short":        "\x00\x00\x00\x04abcd",
		"an unknown word":  "abcd",
		"a mutilated word": "ruo",
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s server) {
				fresh, c := s.dial(), s.connect(20*tick)
				for _, conn := range []net.Conn{fresh, c.Conn} {
					if _, err := io.WriteString(conn, sent); err != nil {
						t.Fatal(err)
					}
					if name == "a mutilated word" {
						continue // it could still become a length
					}
					if got, err := io.ReadAll(conn); len(got) > 0 || err != nil {
						t.Errorf("answer %q, %v", got, err)
					}
				}
				if s.Sessions() != 1 {
					t.Error("the session has not outlived its connection")
				}
			})
		})
	}
}

// TestCloseWithBusyConnections closes a server while clients wait, write and do not read.
func TestCloseWithBusyConnections(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		idle, deaf, fresh := s.connect(20*tick), s.connect(20*tick), s.dial()
		do(t, idle, jute.OpCreate, newNode("/large", strings.Repeat("x", 1_000_000), 0))
		if _, err := deaf.Send(jute.OpGetData, &jute.PathWatchRequest{Path: "/large"}); err != nil {
			t.Fatal(err)
		}
		// The server waits to send the answer, and is to close the connection after it.
		if _, err := deaf.Send(jute.OpClose, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, conn := range []net.Conn{idle.Conn, fresh} {
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("read: %v", err)
			}
		}
		if _, err := s.DialContext(t.Context(), "tcp", ""); err == nil {
			t.Error("a closed server accepts connections")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestServeAfterClose(t *testing.T) {
	s := zkserver.New(zkserver.Config{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(l); !errors.Is(err, zkserver.ErrServerClosed) {
		t.Errorf("Serve: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener: %v", err)
	}
}

// TestServeFails shows that Serve returns the error of a listener that fails by itself.
func TestServeFails(t *testing.T) {
	s := zkserver.New(zkserver.Config{})
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(l) }()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v", err)
	}
}

// frames returns its arguments with their lengths before them.
func frames(contents ...[]byte) []byte {
	var all []byte
	for _, content := range contents {
		all = append(binary.BigEndian.AppendUint32(all, uint32(len(content))), content...)
	}
	return all
}

// FuzzServeConn has a server read arbitrary bytes, as they are and after a handshake.
func FuzzServeConn(f *testing.F) {
	handshake := (&jute.ConnectRequest{TimeOut: 1000}).Append(nil)
	request := func(op jute.Op, body rawclient.Body) []byte {
		return body.Append((&jute.RequestHeader{Xid: 1, Op: op}).Append(nil))
	}
	f.Add([]byte("ruok"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(frames(handshake))
	f.Add(frames(
		request(jute.OpCreate, newNode("/a", "x", 3)),
		request(jute.OpMulti, multiBody{created(jute.OpCreate, "/b", 4), removed("/b", -1), checked("/", 0)}),
		request(jute.OpSetWatches2, &jute.SetWatches2{DataWatches: []string{"/"}}),
		request(jute.OpAddWatch, &jute.AddWatchRequest{Path: "/", Mode: 1}),
		request(jute.OpCreateTTL, newTTL("/ttl", 5, 1)),
		request(jute.OpSetACL, &jute.SetACLRequest{Path: "/a", ACL: openACL}),
		request(jute.OpClose, rawclient.Raw{}),
	))
	f.Fuzz(func(t *testing.T, sent []byte) {
		for _, before := range [][]byte{nil, frames(handshake)} {
			s := zkserver.New(zkserver.Config{MaxBuffer: 1 << 16})
			s.ServeConn(&playedConn{Reader: io.MultiReader(bytes.NewReader(before), bytes.NewReader(sent))})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// playedConn is a connection whose client sends what a Reader has, and hears nothing.
type playedConn struct {
	io.Reader
	net.Conn
}

func (s *playedConn) Read(b []byte) (int, error)  { return s.Reader.Read(b) }
func (s *playedConn) Write(b []byte) (int, error) { return len(b), nil }
func (s *playedConn) Close() error                { return nil }
func (s *playedConn) RemoteAddr() net.Addr        { return nil }
