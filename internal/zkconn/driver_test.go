package zkconn_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/jute"
)

// What driver.go relies on is what the version of the driver does that go.mod names. With another one this test shows
// what has changed.
func TestDriverVersion(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "github.com/go-zookeeper/zk v1.0.4\n"; !strings.Contains(string(mod), want) {
		t.Errorf("go.mod does not have %q: if the tests TestDriver* pass, change the version here and in driver.go", want)
	}
}

// journal notes what a client does with its connections, and when.
type journal struct {
	begin time.Time
	mu    sync.Mutex
	notes []string
	dials int
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = append(j.notes, fmt.Sprintf("%v ", time.Since(j.begin))+fmt.Sprintf(format, args...))
}

// all returns the notes, when everything has happened that can.
func (j *journal) all() []string {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.notes)
}

func (j *journal) through(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		j.mu.Lock()
		j.dials++
		n := j.dials
		j.mu.Unlock()
		j.note("dial %d", n)
		return &journaled{Conn: c, j: j, n: n}, err
	}
}

// journaled is a connection in a journal.
type journaled struct {
	net.Conn
	j      *journal
	n      int
	closed atomic.Bool
}

func (c *journaled) Write(p []byte) (int, error) {
	c.j.note("%d: %s", c.n, hex.EncodeToString(p))
	return c.Conn.Write(p)
}

func (c *journaled) Close() error {
	if !c.closed.Swap(true) {
		c.j.note("%d: closed", c.n)
	}
	return c.Conn.Close()
}

// piecemeal writes to a client one byte at a time.
type piecemeal struct{ net.Conn }

func (c piecemeal) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := c.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// The frames of the driver, each of them one Write, in the life of a client whose session has a timeout of four seconds: it
// connects, pings, is cut off, takes its session up again, and closes it.
func TestDriverFrames(t *testing.T) {
	const (
		hello = "0000002c" + "00000000" + "%016x" + "00000fa0" + "%016x" + "00000010" + "00000000000000000000000000000000"
		ping  = "00000008" + "fffffffe" + "0000000b"
		bye   = "00000008" + "%08x" + "fffffff5"
	)
	synctest.Test(t, func(t *testing.T) {
		j := journal{begin: time.Now()}
		s := script{serve: func(_ int, c net.Conn) { answerBehind(welcomeWith(make([]byte, 16)), piecemeal{c}) }}
		cut := make(chan net.Conn, 2)
		conn, events := driver(t, timeout, j.through(func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := s.dial(ctx, network, address)
			cut <- c
			return c, err
		}))
		withSession(conn)
		time.Sleep(timeout)
		(<-cut).Close()
		withSession(conn)
		time.Sleep(time.Second)
		conn.Close()
		for range events {
		}
		want := []string{
			"0s dial 1", "0s 1: " + fmt.Sprintf(hello, 0, 0),
			"1.333333333s 1: " + ping, "2.666666666s 1: " + ping, "3.999999999s 1: " + ping,
			"4s dial 2", "4s 2: " + fmt.Sprintf(hello, 0, 7),
			"5s 2: " + fmt.Sprintf(bye, 1),
		}
		got, closed := j.all(), []string{"4s 1: closed", "5s 2: closed"}
		for _, what := range closed { // just before or behind the next dial
			if !slices.Contains(got, what) {
				t.Errorf("there is no %q", what)
			}
		}
		got = slices.DeleteFunc(got, func(s string) bool { return slices.Contains(closed, s) })
		if !slices.Equal(got, want) {
			t.Errorf("the driver has done\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A connect reply without a session: the driver dials again, asks for a new session, and leaves the connection to itself.
func TestDriverIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal{begin: time.Now()}
		s := script{serve: func(n int, c net.Conn) {
			if n > 0 {
				answer(c)
				return
			}
			refusal := jute.ConnectResponse{Passwd: make([]byte, 16)}
			c.Write(frame(jute.AppendBool(refusal.Append(nil), false)))
			io.Copy(io.Discard, c)
		}}
		var left net.Conn
		conn, _ := driver(t, timeout, j.through(func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := s.dial(ctx, network, address)
			if left == nil {
				left = c
			}
			return c, err
		}))
		withSession(conn)
		defer left.Close()
		got := j.all()
		if slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "closed") }) || !slices.Contains(got, "0s dial 2") {
			t.Errorf("the driver has done\n%s", strings.Join(got, "\n"))
		}
	})
}

// Close waits for a second where nobody answers, and the driver has ended when it does not dial any more.
func TestDriverEnds(t *testing.T) {
	for name, serve := range map[string]func(c net.Conn){
		"no answer to the last request": func(c net.Conn) {
			c.Write(welcome())
			io.Copy(io.Discard, c)
		},
		"no answer at all": func(c net.Conn) { io.Copy(io.Discard, c) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := script{serve: func(_ int, c net.Conn) { serve(c) }}
				conn, events := driver(t, timeout, s.dial)
				synctest.Wait()
				begin := time.Now()
				conn.Close()
				if d := time.Since(begin); d != time.Second {
					t.Errorf("Close took %v", d)
				}
				for range events {
				}
			})
		})
	}
	t.Run("dialing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			s := script{serve: func(_ int, c net.Conn) { answer(c) }}
			failures := 0
			dial := func(string, string, time.Duration) (net.Conn, error) {
				<-release
				if failures++; failures < 100 { // it goes on as long as they fail
					return nil, net.ErrClosed
				}
				return s.dial(t.Context(), "tcp", "peer:1")
			}
			conn, events, err := zk.Connect([]string{"peer:1"}, timeout, zk.WithHostProvider(endless{}), zk.WithLogger(quiet{}), zk.WithDialer(dial))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			conn.Close()
			synctest.Wait()
			for open := true; open; {
				select {
				case _, open = <-events:
					if !open {
						t.Error("the driver has ended while it dials")
					}
				default:
					open = false
				}
			}
			close(release)
			for range events {
			}
			if failures != 100 {
				t.Errorf("the driver has ended behind %d failed attempts", failures)
			}
		})
	})
}
