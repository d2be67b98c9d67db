package zkserver_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

// failingListener is a listener whose Accept fails as long as it has an error.
type failingListener struct {
	conns  chan net.Conn
	closed chan struct{}

	mu    sync.Mutex
	err   error
	tries []time.Time
}

func newFailingListener() *failingListener {
	return &failingListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// fail has Accept fail with err from now on, or succeed if that is nil.
func (l *failingListener) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err, l.tries = err, nil
}

// tried returns when Accept has failed.
func (l *failingListener) tried() []time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tries
}

func (l *failingListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	err := l.err
	l.tries = append(l.tries, time.Now())
	l.mu.Unlock()
	if err != nil {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", err)}
	}
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *failingListener) Close() error {
	close(l.closed)
	return nil
}

func (l *failingListener) Addr() net.Addr { return nil }

// connect connects a client.
func (l *failingListener) connect(t *testing.T) *rawclient.Client {
	t.Helper()
	near, far := net.Pipe()
	select {
	case l.conns <- far:
	case <-time.After(time.Minute):
		t.Fatal("not accepted within a minute")
	}
	c, err := rawclient.Connect(near, jute.ConnectRequest{TimeOut: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAcceptFails has a listener fail as that of a process with too many open files does: the
// server goes on, waits longer and longer, says so once, and accepts as soon as a connection
// has ended.
func TestAcceptFails(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		t.Run(err.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testAcceptFails(t, err) })
		})
	}
}

func testAcceptFails(t *testing.T, failure error) {
	var log bytes.Buffer
	s := zkserver.New(zkserver.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	l := newFailingListener()
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	first := l.connect(t)
	synctest.Wait() // the listener waits for the next one

	l.fail(failure)
	second := l.connect(t) // this Accept was under way
	pass(10 * time.Second)
	tries := l.tried()
	if n := len(tries); n < 10 || n > 25 {
		t.Errorf("%d tries in 10 s", n)
	}
	for i := 2; i < len(tries); i++ {
		before, after := tries[i-1].Sub(tries[i-2]), tries[i].Sub(tries[i-1])
		if after < before || after > time.Second {
			t.Errorf("pause %d: %v after %v", i, after, before)
		}
	}
	if n := strings.Count(log.String(), "cannot accept connections"); n != 1 {
		t.Errorf("said %d times:\n%s", n, &log)
	}
	// Those who are connected do not notice.
	do(t, first, jute.OpPing, nil)
	do(t, second, jute.OpPing, nil)

	l.fail(nil)
	start := time.Now()
	first.Conn.Close()
	third := l.connect(t)
	if waited := time.Since(start); waited != 0 {
		t.Errorf("accepted %v after a connection has ended", waited)
	}
	do(t, third, jute.OpPing, nil)

	synctest.Wait()
	l.fail(failure)
	fourth := l.connect(t)
	pass(time.Second)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, zkserver.ErrServerClosed) {
		t.Errorf("Serve: %v", err)
	}
	for _, c := range []*rawclient.Client{second, third, fourth} {
		c.Conn.Close()
	}
	if n := strings.Count(log.String(), "cannot accept connections"); n != 1 {
		t.Errorf("said %d times within a minute:\n%s", n, &log)
	}
}
