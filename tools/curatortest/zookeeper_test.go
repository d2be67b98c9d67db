package curatortest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// startNodes are the nodes that the servers of eachZooKeeper start with.
var startNodes = map[string]string{"/config/db": "host=a", "/config": "v1", "/jobs/a/b": ""}

// eachZooKeeper runs a test on an embedded server, in virtual time and over TCP, and on a real
// one.
func eachZooKeeper(t *testing.T, test func(t *testing.T, zk curatortest.ZooKeeper)) {
	options := func(more ...curatortest.Option) []curatortest.Option {
		return append(more, curatortest.WithTickTime(tick), curatortest.WithSessionTimeouts(tick, longSession), curatortest.WithNodes(startNodes))
	}
	t.Run("virtual", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, curatortest.Start(t, options(curatortest.Virtual())...)) })
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, curatortest.Start(t, options()...))
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		test(t, curatortest.Real(t, options()...))
	})
}

// TestZooKeeper tests the methods of interface ZooKeeper with one client.
func TestZooKeeper(t *testing.T) {
	t.Parallel()
	eachZooKeeper(t, func(t *testing.T, zk curatortest.ZooKeeper) {
		client := zk.Client(t, framework.WithSessionTimeout(longSession/3))
		u := &user{t: t, zk: zk, client: client}
		u.wants("/config", "v1")
		u.wants("/config/db", "host=a")
		u.wants("/jobs/a", "")
		u.create("/e", framework.Ephemeral)
		u.create("/p", framework.Persistent)

		session := u.session()
		u.during("Disconnect", func() func() { zk.Disconnect(); return func() {} }, true)
		u.during("Refuse", func() func() { accept := zk.Refuse(); zk.Disconnect(); return accept }, false)
		u.during("Partition", func() func() { return zk.Partition(curatortest.Both) }, false)
		u.during("Pause", zk.Pause, false)
		u.during("Pause and Disconnect", func() func() { resume := zk.Pause(); zk.Disconnect(); return resume }, false)
		u.during("Stop", func() func() { zk.Stop(); return zk.Start }, false)
		u.during("Pause and Restart", func() func() { resume := zk.Pause(); zk.Restart(); return resume }, true)
		u.wants("/e", "data")
		if again := u.session(); again != session {
			t.Errorf("session %#x became %#x", session, again)
		}

		zk.ExpireSession(0)
		zk.ExpireSession(12345)
		zk.ExpireSession(session)
		u.wants("/p", "data")
		if u.session() == session {
			t.Error("the session goes on")
		}
		if exists, err := client.CheckExists().ForPath(t.Context(), "/e"); err != nil || exists {
			t.Errorf("the session's node: %t, %v", exists, err)
		}
		zk.ExpireSession(session) // has no effect: the session has ended
	})
}

// user is a client of a server with faults.
type user struct {
	t      *testing.T
	zk     curatortest.ZooKeeper
	client *framework.Client
}

func (u *user) create(path string, mode framework.CreateMode) {
	u.t.Helper()
	if _, err := u.client.Create().WithMode(mode).WithData([]byte("data")).ForPath(u.t.Context(), path); err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) wants(path, want string) {
	u.t.Helper()
	if data, err := u.client.GetData().ForPath(u.t.Context(), path); err != nil || string(data) != want {
		u.t.Errorf("%s: %q, %v", path, data, err)
	}
}

func (u *user) session() int64 {
	u.t.Helper()
	u.wants("/p", "data") // there is a connection
	return u.client.SessionID()
}

// during checks whether requests are answered during a fault, and that they are answered after it.
func (u *user) during(fault string, begin func() (end func()), answered bool) {
	u.t.Helper()
	end := begin()
	if !answered {
		ctx, cancel := context.WithTimeout(u.t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := u.client.GetData().ForPath(ctx, "/p"); !errors.Is(err, context.DeadlineExceeded) {
			u.t.Errorf("%s: a request was answered: %v", fault, err)
		}
	}
	end()
	end()
	u.wants("/p", "data")
}

// TestWrongArguments passes invalid arguments. The error must name them.
func TestWrongArguments(t *testing.T) {
	failing := func(t *testing.T, want string, call func(s *curatortest.Server)) {
		t.Helper()
		tb := &fakeTB{}
		s := curatortest.Start(tb)
		defer tb.end()
		call(s)
		if len(tb.failures) != 1 || !strings.Contains(tb.failures[0], want) {
			t.Errorf("failures %q, want one with %q", tb.failures, want)
		}
	}
	for want, rule := range map[string]curatortest.Rule{
		`Op is "creat"`:         {Op: "creat"},
		`Op is "error"`:         {Op: "error"},
		`Path is "a"`:           {Path: "a"},
		"Times is -1":           {Times: -1},
		"Do is Fail(nil)":       {Do: curatortest.Fail(nil)},
		"Do is Delay(-1s)":      {Do: curatortest.Delay(-time.Second)},
		`the error "no server"`: {Do: curatortest.Fail(errors.New("no server"))},
	} {
		failing(t, want, func(s *curatortest.Server) {
			if s.Inject(rule)() {
				t.Error("it has met something")
			}
		})
	}
	failing(t, "Partition: the direction is Direction(3)", func(s *curatortest.Server) { s.Partition(3)() })
	failing(t, "PartitionSession: the direction is Direction(-1)", func(s *curatortest.Server) { s.PartitionSession(1, -1)() })
	for want, option := range map[string]curatortest.Option{
		`WithNodes: "a" does not begin`:           curatortest.WithNodes(map[string]string{"a": ""}),
		`WithNodes: "/" does not begin`:           curatortest.WithNodes(map[string]string{"/": ""}),
		"WithNodes: /zookeeper/x is":              curatortest.WithNodes(map[string]string{"/zookeeper/x": ""}),
		`WithNodes: "/a/" is not a valid path`:    curatortest.WithNodes(map[string]string{"/a/": ""}),
		`WithNodes: "/a/.." is not a valid path`:  curatortest.WithNodes(map[string]string{"/a/..": ""}),
		"WithNodes: /a has 1048576 bytes":         curatortest.WithNodes(map[string]string{"/a": strings.Repeat("x", 1<<20)}),
		"WithSettings: only real servers":         curatortest.WithSettings(map[string]string{"snapCount": "10"}),
		"WithSettings: clientPort is set":         curatortest.WithSettings(map[string]string{"clientPort": "1"}),
		"WithSettings: server.1 is set":           curatortest.WithSettings(map[string]string{"server.1": "x"}),
		`WithSettings: "a=b" is not a valid name`: curatortest.WithSettings(map[string]string{"a=b": "1"}),
		"WithSettings: the value of x has":        curatortest.WithSettings(map[string]string{"x": "1\ndataDir=/"}),
	} {
		if _, err := curatortest.New(option); !errors.Is(err, curatortest.ErrInvalidOption) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for want, call := range map[string]func(){
		"Start: tb is nil":         func() { curatortest.Start(nil) },
		"Real: tb is nil":          func() { curatortest.Real(nil) },
		"RealEnsemble: tb is nil":  func() { curatortest.RealEnsemble(nil, 1) },
		"NewClient: tb is nil":     func() { curatortest.NewClient(nil, "localhost") },
		"Server.Client: tb is nil": func() { curatortest.Start(t).Client(nil) },
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, want) {
					t.Errorf("said %q, want %q", said, want)
				}
			}()
			call()
		}()
	}
}

// TestWrongArgumentsOfEnsembles is TestWrongArguments for methods that only real servers have. It also
// calls those that servers without an ensemble, without TLS, or without the mode for reads do not have.
func TestWrongArgumentsOfEnsembles(t *testing.T) {
	t.Parallel()
	if _, err := curatortest.NewReal(1, curatortest.WithNodes(map[string]string{"/a/..": ""})); err == nil || !strings.Contains(err.Error(), `"/a/.."`) {
		if !errors.Is(err, curatortest.ErrNotInstalled) {
			t.Errorf("WithNodes: %v", err)
		}
	}
	tb := &fakeTB{}
	e := curatortest.Real(t, curatortest.WithSettings(map[string]string{"maxClientCnxns": "7"}))
	if answer := askWord(t, e.Member(0).Address(), "conf"); !strings.Contains(answer, "maxClientCnxns=7\n") {
		t.Errorf("conf: %s", answer)
	}
	e.OnFailure(tb)
	for _, tt := range []struct {
		want string
		call func()
	}{
		{"Member(1): the servers", func() { e.Member(1) }},
		{"Member(-1): the servers", func() { e.Member(-1) }},
		{"MemberOf: client is nil", func() { e.MemberOf(nil) }},
		{"Partition: the direction is Direction(4)", func() { e.Partition(4)() }},
		{"Clients: the direction is Direction(4)", func() { e.Member(0).Clients(4).Silence()() }},
		{"without WithReadOnlyMode", func() { e.Member(0).AwaitReadOnly() }},
		{"without WithTLS", func() { e.TLSConfig() }},
		{"without WithTLS", func() { e.TLSConfigWith(curatortest.Certificate{}) }},
		{"without WithTLS", func() {
			if address := e.TLSConnectString(); address != "" {
				t.Errorf("the port for TLS: %q", address)
			}
		}},
	} {
		tb.failures = nil
		tt.call()
		if len(tb.failures) != 1 || !strings.Contains(tb.failures[0], tt.want) {
			t.Errorf("failures %q, want one with %q", tb.failures, tt.want)
		}
	}
	tb.failures = nil
	e.Member(0).Isolate()()
	if len(tb.failures) == 0 || !strings.Contains(tb.failures[0], "there is only one server") {
		t.Errorf("Isolate: failures %q", tb.failures)
	}
}

// askWord returns the answer to a four-letter word.
func askWord(t *testing.T, address, word string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, word); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// The sessions of a program that keeps its client to itself are found, also without a connection, and ended.
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	eachZooKeeper(t, func(t *testing.T, zk curatortest.ZooKeeper) {
		if ids := zk.SessionIDs(); len(ids) != 0 {
			t.Errorf("at the beginning: %x", ids)
		}
		var want []int64
		for range 3 {
			client := zk.Client(t, framework.WithSessionTimeout(longSession/3))
			if _, err := client.Create().WithMode(framework.EphemeralSequential).ForPath(t.Context(), "/e"); err != nil {
				t.Fatal(err)
			}
			want = append(want, client.SessionID())
		}
		slices.Sort(want)
		if ids := zk.SessionIDs(); !slices.Equal(ids, want) {
			t.Errorf("%x, want %x", ids, want)
		}
		accept := zk.Refuse()
		zk.Disconnect()
		if ids := zk.SessionIDs(); !slices.Equal(ids, want) {
			t.Errorf("without connections: %x, want %x", ids, want)
		}
		zk.ExpireSession(want[0])
		if ids := zk.SessionIDs(); !slices.Equal(ids, want[1:]) {
			t.Errorf("one has ended: %x, want %x", ids, want[1:])
		}
		accept()
	})
}
