package curatortest_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

func dialTCP(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// longSession is for a client that sends no pings: it outlives an election on a slow machine.
const longSession = time.Minute

// connectTCP returns a client with a session of a minute, or as long as the server grants.
func connectTCP(t *testing.T, address string) *rawclient.Client {
	t.Helper()
	return connectFor(t, dialTCP(t, address), longSession)
}

// wantSilence fails the test if a request for path is answered before the heal, or not after it.
func wantSilence(t *testing.T, c *rawclient.Client, path string, heal func()) {
	t.Helper()
	if _, err := c.Send(jute.OpExists, read(path)); err != nil {
		t.Fatal(err)
	}
	if answered(t, c) {
		t.Error("an answer has arrived")
	}
	heal()
	if _, err := c.Receive(); err != nil {
		t.Errorf("after the heal: %v", err)
	}
}

// answered reports whether a reply arrives within a short time.
func answered(t *testing.T, c *rawclient.Client) bool {
	t.Helper()
	if err := c.Conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err := c.Receive()
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if err := c.Conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return err == nil
}

func TestReal(t *testing.T) {
	t.Parallel()
	whole := t
	real := curatortest.Real(t, curatortest.WithSessionTimeouts(time.Second, longSession))
	server := real.Member(0)
	if real.Leader() != server || real.ConnectString() != server.ConnectString() {
		t.Error("one server is not all of them")
	}
	c := connectTCP(t, real.ConnectString())
	do(t, c, jute.OpCreate, create("/e", jute.FlagEphemeral))

	for _, d := range []curatortest.Direction{curatortest.Both, curatortest.ToServer, curatortest.ToClient} {
		t.Run(d.String(), func(t *testing.T) {
			wantSilence(t, c, "/e", server.Partition(d))
		})
	}
	t.Run("Pause", func(t *testing.T) {
		resume := server.Pause()
		if _, err := c.Send(jute.OpExists, read("/e")); err != nil {
			t.Fatal(err)
		}
		if answered(t, c) {
			t.Error("a paused server has answered")
		}
		resume()
		if _, err := c.Receive(); err != nil {
			t.Errorf("after the resume: %v", err)
		}
	})
	for name, end := range map[string]func(){"Restart": func() {}, "Kill": server.Kill} { // TestZooKeeper has the others
		t.Run(name, func(t *testing.T) {
			end()
			server.Restart()
			if _, err := c.Receive(); !errors.Is(err, io.EOF) {
				t.Errorf("the connection: %v", err)
			}
			c = resume(t, c, dialTCP(whole, real.ConnectString()))
			do(t, c, jute.OpExists, read("/e"))
		})
	}
}

// TestRealEnsemble uses the methods of an ensemble, and of its members.
func TestRealEnsemble(t *testing.T) {
	t.Parallel()
	ensemble := curatortest.RealEnsemble(t, 3, curatortest.WithNodes(map[string]string{"/a": ""}),
		curatortest.WithSessionTimeouts(time.Second, longSession))
	t.Run("Leader", func(t *testing.T) { testLeader(t, ensemble) })
	t.Run("MemberOf", func(t *testing.T) { testMemberOf(t, ensemble) })
}

// testLeader kills the leader. Another one follows, and the old one catches up.
func testLeader(t *testing.T, ensemble *curatortest.Ensemble) {
	t.Helper()
	if n := len(strings.Split(ensemble.ConnectString(), ",")); n != 3 {
		t.Fatalf("%d addresses", n)
	}
	leader := ensemble.Leader()
	c := connectTCP(t, leader.ConnectString())
	do(t, c, jute.OpCreate, create("/b", 0))
	leader.Kill()
	next := ensemble.Leader()
	if next == leader {
		t.Fatal("a dead server leads")
	}
	c = resume(t, c, dialTCP(t, next.ConnectString()))
	do(t, c, jute.OpExists, read("/b"))
	leader.Restart()
	c = resume(t, c, dialTCP(t, leader.ConnectString()))
	do(t, c, jute.OpSync, &jute.PathRequest{Path: "/b"})
	do(t, c, jute.OpExists, read("/b"))
}

// testMemberOf moves a client from one server to the next, and ends its session there.
func testMemberOf(t *testing.T, ensemble *curatortest.Ensemble) {
	t.Helper()
	client := ensemble.Client(t)
	if _, err := client.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/a/e"); err != nil {
		t.Fatal(err)
	}
	first := ensemble.MemberOf(client)
	if first == nil {
		t.Fatal("the client is nowhere")
	}
	first.Stop()
	if exists, err := client.CheckExists().ForPath(t.Context(), "/a"); err != nil || !exists {
		t.Fatalf("%t, %v", exists, err)
	}
	if second := ensemble.MemberOf(client); second == nil || second == first {
		t.Errorf("the client is at %v, after %v", second, first)
	}
	ensemble.ExpireSession(client.SessionID())
	// The next session may be on a server that has not heard of the end of this one.
	if err := client.Sync().ForPath(t.Context(), "/a/e"); err != nil {
		t.Fatal(err)
	}
	if exists, err := client.CheckExists().ForPath(t.Context(), "/a/e"); err != nil || exists {
		t.Errorf("the node of a session that was ended: %t, %v", exists, err)
	}
	first.Start()
	first.Start()
	if first.Mode() == "" {
		t.Error("the first server does not serve")
	}
	if other := curatortest.Start(t).Client(t); ensemble.MemberOf(other) != nil {
		t.Error("a client of another server is here")
	}
}

// TestRealThatDoesNotStart starts a server from a release that has no server.
func TestRealThatDoesNotStart(t *testing.T) {
	home := t.TempDir()
	t.Setenv("ZOOKEEPER_HOME", home)
	if err := os.WriteFile(filepath.Join(home, "zookeeper.jar"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := curatortest.NewReal(1)
	if errors.Is(err, curatortest.ErrNotInstalled) {
		return // there is no Java
	}
	if err == nil || !strings.Contains(err.Error(), "QuorumPeerMain") {
		t.Errorf("without the end of the log: %v", err)
	}
}

func TestNotInstalled(t *testing.T) {
	t.Setenv("ZOOKEEPER_HOME", t.TempDir())
	if _, err := curatortest.NewReal(1); !errors.Is(err, curatortest.ErrNotInstalled) {
		t.Errorf("NewReal: %v", err)
	}
	for ci, want := range map[string]string{"true": "fatal", "": "skip"} {
		t.Setenv("CI", ci)
		if got := runReal(&stoppingTB{}); !strings.HasPrefix(got, want) || !strings.Contains(got, "apt-get install zookeeper") {
			t.Errorf("CI=%q: %s", ci, got)
		}
	}
}

// runReal calls Real with a test that it ends, and returns how it ended the test.
func runReal(tb *stoppingTB, opts ...curatortest.Option) string {
	done := make(chan struct{})
	go func() {
		defer close(done)
		curatortest.Real(tb, opts...)
	}()
	<-done
	return tb.how
}

// stoppingTB is a test that records how it was ended.
type stoppingTB struct {
	fakeTB
	how string
}

func (s *stoppingTB) Fatalf(text string, a ...any) {
	s.how = "fatal: " + fmt.Sprintf(text, a...)
	runtime.Goexit()
}

func (s *stoppingTB) Skipf(text string, a ...any) {
	s.how = "skip: " + fmt.Sprintf(text, a...)
	runtime.Goexit()
}

// handshake sends a connect request. content says whether the client accepts a read-only server, and
// readOnly whether the server is one.
func handshake(t *testing.T, address string, req jute.ConnectRequest, content bool) (c *rawclient.Client, readOnly bool, err error) {
	t.Helper()
	c = &rawclient.Client{Conn: dialTCP(t, address)}
	if err := c.Conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	req.TimeOut = 10000
	if err := c.WriteFrame(jute.AppendBool(req.Append(nil), content)); err != nil {
		t.Fatal(err)
	}
	frame, err := c.ReadFrame()
	if err != nil {
		return nil, false, err
	}
	d := jute.NewDecoder(frame)
	c.Session.Decode(d)
	readOnly = d.Bool()
	if d.Err() != nil || c.Session.TimeOut == 0 {
		t.Fatalf("answer %x: %v", frame, d.Err())
	}
	return c, readOnly, nil
}

// TestReadOnlyMode takes the quorum from a server, and checks which clients the server serves then.
func TestReadOnlyMode(t *testing.T) {
	t.Parallel()
	ensemble := curatortest.RealEnsemble(t, 3, curatortest.WithReadOnlyMode(), curatortest.WithTickTime(200*time.Millisecond))
	before, readOnly, err := handshake(t, ensemble.Member(0).ConnectString(), jute.ConnectRequest{}, true)
	if err != nil || readOnly {
		t.Fatalf("with a quorum: read-only %t, error %v", readOnly, err)
	}
	do(t, before, jute.OpCreate, create("/a", jute.FlagEphemeral))
	ensemble.Member(1).Kill()
	ensemble.Member(2).Kill()
	ensemble.Member(0).AwaitReadOnly()

	address := ensemble.Member(0).ConnectString()
	if _, _, err := handshake(t, address, jute.ConnectRequest{}, false); !errors.Is(err, io.EOF) {
		t.Errorf("a client that has not asked for it: %v", err)
	}
	old := jute.ConnectRequest{SessionID: before.Session.SessionID, Passwd: before.Session.Passwd}
	if _, _, err := handshake(t, address, old, true); !errors.Is(err, io.EOF) {
		t.Errorf("a session of the quorum's: %v", err)
	}
	c, readOnly, err := handshake(t, address, jute.ConnectRequest{}, true)
	if err != nil || !readOnly {
		t.Fatalf("a new session: read-only %t, error %v", readOnly, err)
	}
	do(t, c, jute.OpGetData, read("/a"))
	for op, body := range map[jute.Op]rawclient.Body{jute.OpCreate: create("/b", 0), jute.OpSync: read("/a")} {
		if f, err := c.Do(op, body); err != nil || f.Err != jute.CodeNotReadOnly {
			t.Errorf("%s: %v, code %d", jute.OpName(op), err, f.Err)
		}
	}
}
