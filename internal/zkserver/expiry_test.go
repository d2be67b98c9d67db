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
