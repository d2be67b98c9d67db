package netfault

import (
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// fullListener is the listener of a process with too many open files. Accept fails at once until a
// file is closed; see room.
type fullListener struct {
	net.Listener
	room, closed chan struct{}
	close        func()
	failures     int
}

func newFullListener(l net.Listener) *fullListener {
	closed := make(chan struct{})
	return &fullListener{Listener: l, room: make(chan struct{}), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
}

func (l *fullListener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, net.ErrClosed
	case <-l.room:
		return l.Listener.Accept()
	default:
	}
	if l.failures++; l.failures == 10_000 {
		panic("Accept is called again and again without a pause")
	}
	return nil, syscall.EMFILE
}

func (l *fullListener) Close() error {
	l.close()
	return l.Listener.Close()
}

// newFullProxy returns a proxy, not yet started, that cannot accept connections.
func newFullProxy(t *testing.T) (*Proxy, *fullListener) {
	t.Helper()
	p, err := NewProxy("127.0.0.1:1") // the test makes no connection to this target
	if err != nil {
		t.Fatal(err)
	}
	full := newFullListener(p.listener)
	p.listener = full
	return p, full
}

// TestProxyPausesWhenAcceptFails lets Accept fail for a minute.
func TestProxyPausesWhenAcceptFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, full := newFullProxy(t)
		p.Start()
		time.Sleep(time.Minute)
		p.Close()
		if most := int(time.Minute/acceptPause) + 1; full.failures == 0 || full.failures > most {
			t.Errorf("Accept failed %d times in a minute, want 1 to %d times", full.failures, most)
		}
	})
}

// TestProxyAcceptsAfterFailures lets Accept succeed after failures.
func TestProxyAcceptsAfterFailures(t *testing.T) {
	p, full := newFullProxy(t)
	connected := make(chan struct{})
	p.Opening = func(io.Reader) ([]byte, error) {
		close(connected)
		return nil, io.EOF
	}
	p.Start()
	defer p.Close()
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	close(full.room)
	<-connected
}
