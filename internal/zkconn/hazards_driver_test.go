package zkconn_test

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/jute"
)

// driver is a client that is the bare driver, in virtual time.
func driver(t *testing.T, timeout time.Duration, dial dialFunc) (*zk.Conn, <-chan zk.Event) {
	t.Helper()
	conn, events, err := zk.Connect([]string{"peer:1"}, timeout,
		zk.WithHostProvider(endless{}), zk.WithLogger(quiet{}),
		zk.WithDialer(func(network, address string, timeout time.Duration) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			return dial(ctx, network, address)
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		for range events { // it is closed when the driver has ended
		}
	})
	return conn, events
}

// withSession waits until a driver in virtual time is connected.
func withSession(conn *zk.Conn) int64 {
	for synctest.Wait(); conn.State() != zk.StateHasSession; synctest.Wait() {
		time.Sleep(time.Millisecond)
	}
	return conn.SessionID()
}

// endless is a list of servers that has no end: at the end of a lap the driver forgets
// requests, which hides some of its defects from those who have a single server.
type endless struct{}

func (endless) Init([]string) error  { return nil }
func (endless) Len() int             { return 2 }
func (endless) Next() (string, bool) { return "peer:1", false }
func (endless) Connected()           {}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// apart runs test in a process of its own, which it may bring down and leave goroutines in,
// and returns what that process wrote and how it ended.
func apart(t *testing.T, test func()) (output string, err error) {
	t.Helper()
	const variable = "ZKCONN_TEST_APART"
	if os.Getenv(variable) == t.Name() {
		test()
		os.Exit(0) // without a look at what is left
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pattern := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.CommandContext(t.Context(), program, "-test.run", pattern, "-test.timeout", "1m")
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// script is a server that says what a test wants it to say.
type script struct {
	dials atomic.Int32
	// serve has the nth connection, counted from zero, when the connect request was read;
	// it is closed at the end.
	serve func(n int, c net.Conn)
}

func (s *script) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	n := int(s.dials.Add(1)) - 1
	go func() {
		defer server.Close()
		if _, err := readFrame(server); err == nil {
			s.serve(n, server)
		}
	}()
	return client, nil
}

// answer welcomes a client and answers all of its requests with success, until it goes.
func answer(c net.Conn) { answerBehind(welcome(), c) }

// answerBehind is answer with another welcome.
func answerBehind(welcome []byte, c net.Conn) {
	if _, err := c.Write(welcome); err != nil {
		return
	}
	for {
		xid, op, err := request(c)
		if err != nil {
			return
		}
		if _, err := c.Write(success(xid, op)); err != nil {
			return
		}
	}
}

func request(c net.Conn) (xid int32, op jute.Op, err error) {
	f, err := readFrame(c)
	if err != nil {
		return 0, 0, err
	}
	return int32(binary.BigEndian.Uint32(f)), jute.Op(binary.BigEndian.Uint32(f[4:])), nil
}

// success is the answer to a request, with a body where one is due.
func success(xid int32, op jute.Op) []byte {
	header := jute.ReplyHeader{Xid: xid, Zxid: 1}
	reply := header.Append(nil)
	switch op {
	case jute.OpExists, jute.OpSetData:
		reply = (&jute.StatResponse{}).Append(reply)
	case jute.OpGetData:
		reply = (&jute.GetDataResponse{}).Append(reply)
	}
	return frame(reply)
}

// failing is a connection that fails to write the requests of an operation, any if it is
// zero, while fail is set.
type failing struct {
	net.Conn
	fail *atomic.Bool
	op   jute.Op
}

func (f failing) Write(p []byte) (int, error) {
	if f.fail.Load() && len(p) >= 12 && (f.op == 0 || jute.Op(binary.BigEndian.Uint32(p[8:])) == f.op) {
		return 0, &net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}
	}
	return f.Conn.Write(p)
}

func (f failing) over(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return failing{c, f.fail, f.op}, err
	}
}

// heldUp lets nobody dial a second time before release is closed.
func heldUp(dial dialFunc, release <-chan struct{}) dialFunc {
	var dials atomic.Int32
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials.Add(1) > 1 {
			<-release
		}
		return dial(ctx, network, address)
	}
}

// greetings keeps the connect requests of all connections.
func greetings(dial dialFunc, hello *[]jute.ConnectRequest) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return &greeting{Conn: c, hello: hello}, err
	}
}
