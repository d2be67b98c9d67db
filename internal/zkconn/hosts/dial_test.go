package hosts

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An attempt that fails says why in plain words.
func TestReasons(t *testing.T) {
	http := tls.RecordHeaderError{RecordHeader: [5]byte{'H', 'T', 'T', 'P', '/'}}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"silent":            {HandshakeError(os.ErrDeadlineExceeded, false, 1500*time.Millisecond), "it accepts connections and does not answer, for 1.5s now"},
		"closed":            {HandshakeError(io.EOF, false, 0), "or its port is for TLS (EOF)"},
		"closed, with TLS":  {HandshakeError(syscall.ECONNRESET, true, 0), "it is not serving, or has too many connections from here (connection reset by peer)"},
		"something else":    {HandshakeError(errors.New("odd"), false, 0), "odd"},
		"HTTP for TLS":      {tlsError(http), "it does not speak TLS, it speaks HTTP"},
		"no TLS":            {tlsError(tls.RecordHeaderError{}), "it does not speak TLS ("},
		"TLS, silent":       {tlsError(context.DeadlineExceeded), "does not answer the TLS handshake"},
		"TLS, closed":       {tlsError(io.EOF), "it closes the connection in the TLS handshake"},
		"TLS, wrong server": {tlsError(errors.New("certificate is for b")), "certificate is for b"},
	} {
		if !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, c.err, c.want)
		}
	}
	for first, want := range map[string]int{"HTTP/1.1": SpeaksHTTP, "\x15\x03\x03\x00": SpeaksTLS, "\x16\x03\x01\x00": SpeaksTLS, "\x16\x04\x00\x00": 0, "+OK ": 0} {
		if got := Protocol([]byte(first)); got != want {
			t.Errorf("%q: %d, want %d", first, got, want)
		}
	}
}

// A dialer, and TLS behind it, fail the attempt in whatever way they fail, and a connection without TLS is closed.
func TestConnect(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	dials := func(conn net.Conn, err error) func(context.Context, string, string) (net.Conn, error) {
		return func(_ context.Context, network, address string) (net.Conn, error) {
			if network != "tcp" || address != "10.0.0.1:1" {
				t.Errorf("dials %s %s", network, address)
			}
			return conn, err
		}
	}
	refuses := func(context.Context, net.Conn, string) (net.Conn, error) { return nil, errors.New("no certificate") }
	for name, c := range map[string]struct {
		dialer *Dialer
		want   string
	}{
		"error":   {&Dialer{Dial: dials(nil, errors.New("no route"))}, "no route"},
		"nothing": {&Dialer{Dial: dials(nil, nil)}, "WithDialer returned neither a connection nor an error"},
		"ends its goroutine": {&Dialer{Dial: func(context.Context, string, string) (net.Conn, error) {
			runtime.Goexit()
			return nil, nil
		}}, "WithDialer: the function has ended its goroutine"},
		"TLS": {&Dialer{Dial: dials(ours, nil), Secure: refuses}, "no certificate"},
	} {
		_, err := c.dialer.Connect(t.Context(), &Attempt{Target: Target{Server: "a:1", Address: "10.0.0.1:1"}}, time.Minute)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the connection is not closed: %v", err)
	}
}
