package zkserver_test

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// patience is how long a test waits for a real server on a busy machine.
const patience = time.Minute

// shortTimeout is that of the sessions that end: long enough for a client to do one request before.
const shortTimeout = 4 * tick

// TestSessionsExpire has sessions end on an embedded and on a real server: not before their timeouts,
// and all that they own with them. On the embedded one, in virtual time, they end at the next tick at the
// latest; when a real one gets to it depends on the machine.
func TestSessionsExpire(t *testing.T) {
	bounds := curatortest.WithSessionTimeouts(2*tick, patience)
	t.Run("Virtual", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s server) { testSessionsExpire(t, dialServer(t, s.Server), 0) }, bounds)
	})
	t.Run("Real", func(t *testing.T) {
		address := curatortest.Real(t, curatortest.WithTickTime(tick), bounds).ConnectString()
		testSessionsExpire(t, func() (net.Conn, error) { return net.Dial("tcp", address) }, patience)
	})
}

// testSessionsExpire has sessions end, lateness after the next tick at the latest.
func testSessionsExpire(t *testing.T, dial func() (net.Conn, error), lateness time.Duration) {
	connect := func(req jute.ConnectRequest) (*rawclient.Client, error) {
		conn, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		return rawclient.Connect(conn, req)
	}
	watcher, err := connect(jute.ConnectRequest{TimeOut: int32(patience.Milliseconds())})
	if err != nil {
		t.Fatal(err)
	}
	do(t, watcher, jute.OpAddWatch, &jute.AddWatchRequest{Path: "/", Mode: jute.ModePersistentRecursive})

	type session struct {
		client      *rawclient.Client
		sent, heard time.Time // the server heard of it last between these
	}
	sessions := map[string]session{}
	phases := time.NewTicker(tick / 4) // sessions begin at all times between two ticks
	defer phases.Stop()
	for i := range 4 {
		<-phases.C
		c, err := connect(jute.ConnectRequest{TimeOut: int32(shortTimeout.Milliseconds())})
		if err != nil {
			t.Fatal(err)
		}
		path, sent := fmt.Sprintf("/expiring%d", i), time.Now()
		do(t, c, jute.OpCreate, newNode(path, "", jute.FlagEphemeral))
		sessions[path] = session{c, sent, time.Now()}
	}
	for range 2 * len(sessions) { // each node comes and goes
		f, err := watcher.Receive()
		if err != nil {
			t.Fatal(err)
		}
		event, ok := f.Event()
		if !ok || event.Type != jute.EventNodeDeleted {
			continue
		}
		s := sessions[event.Path]
		if time.Since(s.sent) < shortTimeout || time.Since(s.heard) > shortTimeout+tick+lateness {
			t.Errorf("%s ended %v after the server heard of it, at most; its timeout is %v", event.Path, time.Since(s.sent), shortTimeout)
		}
		if _, err := s.client.Receive(); !isClosed(err) {
			t.Errorf("the connection of a session that is over: %v", err)
		}
		resume := jute.ConnectRequest{
			TimeOut: s.client.Session.TimeOut, SessionID: s.client.Session.SessionID, Passwd: s.client.Session.Passwd,
		}
		_, err = connect(resume)
		if lateness > 0 && isClosed(err) {
			// A real server deletes the nodes first, and closes the connection of the session then, once.
			// That is this one, if it came between the two: the old one may have been closed before, for
			// its silence.
			_, err = connect(resume)
		}
		if !errors.Is(err, rawclient.ErrExpired) {
			t.Errorf("a session that is over: %v", err)
		}
	}
}

const reapInterval = 200 * time.Millisecond

// TestReaping has containers and timed nodes removed, by an embedded server and a real one.
func TestReaping(t *testing.T) {
	t.Run("Virtual", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s server) {
			if after, before := testReaping(t, s.dial()); after != before+2 {
				t.Errorf("zxid %d where there were two transactions after %d", after, before)
			}
		}, curatortest.WithContainerCheckInterval(reapInterval))
	})
	t.Run("Real", func(t *testing.T) {
		real := curatortest.Real(t, curatortest.WithTickTime(tick), curatortest.WithContainerCheckInterval(reapInterval))
		conn, err := net.Dial("tcp", real.ConnectString())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// A slow server looks again before a removal is done, and tries that twice.
		if after, before := testReaping(t, conn); after < before+2 {
			t.Errorf("zxid %d where there were two transactions after %d", after, before)
		}
	})
}

// testReaping returns the zxids after the removals and before.
func testReaping(t *testing.T, conn net.Conn) (after, before int64) {
	c, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: 10000})
	if err != nil {
		t.Fatal(err)
	}
	do(t, c, jute.OpAddWatch, &jute.AddWatchRequest{Path: "/", Mode: jute.ModePersistentRecursive})
	for _, path := range []string{"/unused", "/full", "/empty"} {
		do(t, c, jute.OpCreateContainer, newNode(path, "", jute.FlagContainer))
	}
	do(t, c, jute.OpCreate, newNode("/full/child", "", 0))
	do(t, c, jute.OpCreate, newNode("/empty/child", "", 0))
	created := time.Now()
	do(t, c, jute.OpCreateTTL, newTTL("/ttl", jute.FlagTTL, 500))
	do(t, c, jute.OpCreateTTL, newTTL("/ttl-full", jute.FlagTTL, 400))
	do(t, c, jute.OpCreate, newNode("/ttl-full/child", "", 0))
	do(t, c, jute.OpCreateTTL, newTTL("/ttl-long", jute.FlagTTL, 3_600_000))
	before = do(t, c, jute.OpDelete, &jute.DeleteRequest{Path: "/empty/child", Version: -1}).Zxid
	gone := map[string]bool{}
	note := func(f rawclient.Frame) {
		if event, ok := f.Event(); ok && event.Type == jute.EventNodeDeleted && event.Path != "/empty/child" {
			gone[event.Path] = true
		}
	}
	for _, f := range c.Events {
		note(f)
	}
	for len(gone) < 2 {
		f, err := c.Receive()
		if err != nil {
			t.Fatal(err)
		}
		note(f)
	}
	if !gone["/empty"] || !gone["/ttl"] {
		t.Errorf("gone: %v", gone)
	}
	// Servers count in whole milliseconds.
	if lived := time.Since(created); lived <= 499*time.Millisecond {
		t.Errorf("a node with 500 ms to live went after %v", lived)
	}
	after = do(t, c, jute.OpExists, &jute.PathWatchRequest{Path: "/"}).Zxid
	for _, path := range []string{"/unused", "/full", "/ttl-full", "/ttl-long"} {
		do(t, c, jute.OpExists, &jute.PathWatchRequest{Path: path})
	}
	return after, before
}

// TestNeverUsedContainers has containers removed that never had a child, by an embedded server and a real one.
func TestNeverUsedContainers(t *testing.T) {
	options := func(stays time.Duration) []curatortest.Option {
		return []curatortest.Option{
			curatortest.WithTickTime(tick), curatortest.WithContainerCheckInterval(reapInterval), curatortest.WithContainerMaxNeverUsed(stays),
		}
	}
	test := func(t *testing.T, conn net.Conn, stays, write, latest time.Duration) {
		c, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: 10000})
		if err != nil {
			t.Fatal(err)
		}
		do(t, c, jute.OpAddWatch, &jute.AddWatchRequest{Path: "/", Mode: jute.ModePersistentRecursive})
		last := map[string]time.Time{"/unused": time.Now()}
		for _, path := range []string{"/used", "/unused", "/written"} {
			do(t, c, jute.OpCreateContainer, newNode(path, "", jute.FlagContainer))
		}
		do(t, c, jute.OpCreate, newNode("/used/child", "", 0))
		<-time.After(write)
		last["/written"] = time.Now()
		do(t, c, jute.OpSetData, &jute.SetDataRequest{Path: "/written", Data: []byte{1}, Version: -1})
		for range last {
			f, err := c.Receive()
			event, ok := f.Event()
			for err == nil && (!ok || event.Type != jute.EventNodeDeleted) {
				f, err = c.Receive()
				event, ok = f.Event()
			}
			if err != nil {
				t.Fatal(err)
			}
			// Servers count in whole milliseconds.
			if lived := time.Since(last[event.Path]); lived < stays-time.Millisecond || lived > latest {
				t.Errorf("%s went %v after its last write", event.Path, lived)
			}
		}
		do(t, c, jute.OpExists, &jute.PathWatchRequest{Path: "/used"})
	}
	t.Run("Virtual", func(t *testing.T) {
		const stays = 500 * time.Millisecond
		inBubble(t, func(t *testing.T, s server) { test(t, s.dial(), stays, stays/2, stays+reapInterval) }, options(stays)...)
	})
	t.Run("Real", func(t *testing.T) {
		const stays = 2 * time.Second // a busy machine makes a child of /used in that time
		conn, err := net.Dial("tcp", curatortest.Real(t, options(stays)...).ConnectString())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		test(t, conn, stays, 0, time.Hour)
	})
}

// TestContainersKeepTheirChildren shows that a container which gets another child before
// the server looks stays.
func TestContainersKeepTheirChildren(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		c := s.connect(20 * tick)
		do(t, c, jute.OpCreateContainer, newNode("/container", "", jute.FlagContainer))
		do(t, c, jute.OpCreate, newNode("/container/a", "", 0))
		do(t, c, jute.OpDelete, &jute.DeleteRequest{Path: "/container/a", Version: -1})
		do(t, c, jute.OpCreate, newNode("/container/b", "", 0))
		pass(5 * time.Second)
		do(t, c, jute.OpDelete, &jute.DeleteRequest{Path: "/container/b", Version: -1})
		if _, ok := s.Get("/container"); !ok {
			t.Fatal("gone before the server looked")
		}
		pass(5 * time.Second)
		if _, ok := s.Get("/container"); ok {
			t.Error("still there")
		}
	}, curatortest.WithContainerCheckInterval(5*time.Second))
}

// TestTimedNodesNeedTime sends what ends the process of a ZooKeeper 3.8.0: a createTTL whose
// flags ask for no time to live, and whose time is negative.
func TestTimedNodesNeedTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		c := s.connect(20 * tick)
		for _, flags := range []int32{0, jute.FlagEphemeral, jute.FlagSequential, 3, jute.FlagContainer} {
			f, err := c.Do(jute.OpCreateTTL, newTTL("/ttl", flags, -1))
			if err != nil || f.Err != jute.CodeBadArguments {
				t.Errorf("flags %d: code %d, %v", flags, f.Err, err)
			}
		}
	})
}
