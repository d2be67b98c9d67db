package curatortest_test

import (
	"flag"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestMain lets more tests run at once than there are processors, unless the command line says
// otherwise: most of the time they wait for servers.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

const tick = 500 * time.Millisecond

// inBubble runs a test in virtual time on a server with ticks of 500 ms.
func inBubble(t *testing.T, test func(t *testing.T, s *curatortest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(tick)))
	})
}

// pass lets virtual time pass, and waits until all goroutines of the bubble are blocked.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func dial(t *testing.T, s *curatortest.Server) net.Conn {
	t.Helper()
	conn, err := s.DialContext(t.Context(), "tcp", s.ConnectString())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// connect returns a client with a session of 10 s.
func connect(t *testing.T, conn net.Conn) *rawclient.Client {
	t.Helper()
	return connectFor(t, conn, 10*time.Second)
}

func connectFor(t *testing.T, conn net.Conn, sessionTimeout time.Duration) *rawclient.Client {
	t.Helper()
	c, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: int32(sessionTimeout.Milliseconds())})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// resume moves a client's session to another connection.
func resume(t *testing.T, c *rawclient.Client, conn net.Conn) *rawclient.Client {
	t.Helper()
	resumed, err := tryResume(c, conn)
	if err != nil {
		t.Fatal(err)
	}
	return resumed
}

func tryResume(c *rawclient.Client, conn net.Conn) (*rawclient.Client, error) {
	return rawclient.Connect(conn, jute.ConnectRequest{
		TimeOut: c.Session.TimeOut, SessionID: c.Session.SessionID, Passwd: c.Session.Passwd,
	})
}

// do sends a request that must succeed, and returns the reply.
func do(t *testing.T, c *rawclient.Client, op jute.Op, body rawclient.Body) rawclient.Frame {
	t.Helper()
	f, err := c.Do(op, body)
	if err != nil || f.Err != jute.CodeOK {
		t.Fatalf("%s: %v, code %d", jute.OpName(op), err, f.Err)
	}
	return f
}

func create(path string, flags int32) *jute.CreateRequest {
	return &jute.CreateRequest{
		Path: path, Data: []byte("data"), Flags: flags,
		ACL: []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "world", ID: "anyone"}}},
	}
}

func read(path string) *jute.PathWatchRequest { return &jute.PathWatchRequest{Path: path} }

func watch(path string) *jute.PathWatchRequest {
	return &jute.PathWatchRequest{Path: path, Watch: true}
}

// watchFor sets a watch for the creation of a node that does not exist.
func watchFor(t *testing.T, c *rawclient.Client, path string) {
	t.Helper()
	if f, err := c.Do(jute.OpExists, watch(path)); err != nil || f.Err != jute.CodeNoNode {
		t.Fatalf("exists: %v, code %d", err, f.Err)
	}
}

// fakeTB is a test that ends when end is called.
type fakeTB struct {
	cleanups []func()
	failures []string
	logged   []string
}

func (f *fakeTB) Helper()           {}
func (f *fakeTB) Cleanup(fn func()) { f.cleanups = append(f.cleanups, fn) }
func (f *fakeTB) Logf(text string, a ...any) {
	f.logged = append(f.logged, fmt.Sprintf(text, a...))
}
func (f *fakeTB) Errorf(text string, a ...any) {
	f.failures = append(f.failures, fmt.Sprintf(text, a...))
}
func (f *fakeTB) Fatalf(text string, a ...any) { f.Errorf(text, a...) }

func (f *fakeTB) end() {
	for _, fn := range slices.Backward(f.cleanups) {
		fn()
	}
}
