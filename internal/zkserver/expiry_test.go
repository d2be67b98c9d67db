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

// lateness is how much later than it should an event may be seen on a busy machine.
const lateness = 2 * time.Second

// TestSessionsExpire has sessions end in real time, on an embedded and on a real server:
// not before their timeouts, not later than the next tick, and all that they own with them.
func TestSessionsExpire(t *testing.T) {
	t.Run("Embedded", func(t *testing.T) {
		testSessionsExpire(t, curatortest.Start(t, curatortest.WithTickTime(tick)).ConnectString())
	})
	t.Run("Real", func(t *testing.T) {
		testSessionsExpire(t, curatortest.Real(t, curatortest.WithTickTime(tick)).ConnectString())
	})
}

func testSessionsExpire(t *testing.T, server string) {
	t.Parallel()
	connect := func(req jute.ConnectRequest) (*rawclient.Client, error) {
		conn, err := net.Dial("tcp", server)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		return rawclient.Connect(conn, req)
	}
	watcher, err := connect(jute.ConnectRequest{TimeOut: int32((20 * tick).Milliseconds())})
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
		c, err := connect(jute.ConnectRequest{TimeOut: int32((2 * tick).Milliseconds())})
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
		if time.Since(s.sent) < 2*tick || time.Since(s.heard) > 3*tick+lateness {
			t.Errorf("%s ended %v after the server heard of it, at most; its timeout is %v", event.Path, time.Since(s.sent), 2*tick)
		}
		if _, err := s.client.Receive(); !isClosed(err) {
			t.Errorf("the connection of a session that is over: %v", err)
		}
		if _, err := connect(jute.ConnectRequest{
			TimeOut: s.client.Session.TimeOut, SessionID: s.client.Session.SessionID, Passwd: s.client.Session.Passwd,
		}); !errors.Is(err, rawclient.ErrExpired) {
			t.Errorf("a session that is over: %v", err)
		}
	}
}
