package zkserver_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// As Keeper, the server grants a new session whatever the handshake asks for, and the old one lives on.
func TestKeeperGrantsNewSessions(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		first := s.connect(2 * time.Second)
		do(t, first, jute.OpCreate, newNode("/a", "", jute.FlagEphemeral))
		first.Conn.Close()
		second, err := s.resume(first)
		if err != nil {
			t.Fatal(err)
		}
		if first.Session.SessionID != 1 || second.Session.SessionID != 2 || string(second.Session.Passwd) != string(make([]byte, 16)) {
			t.Errorf("%+v after %+v", second.Session, first.Session)
		}
		if _, there := s.Get("/a"); !there || s.Sessions() != 2 {
			t.Errorf("there: %t; %d sessions", there, s.Sessions())
		}
		for range 6 {
			pass(time.Second)
			do(t, second, jute.OpPing, nil)
		}
		if _, there := s.Get("/a"); there || s.Sessions() != 1 {
			t.Errorf("behind the timeout: there: %t; %d sessions", there, s.Sessions())
		}
		s.RestartEmpty()
		if third, err := s.resume(second); err != nil || third.Session.SessionID != 1 {
			t.Errorf("%v, %+v", err, third)
		}
	}, curatortest.WithKeeper())
}

// As Keeper, the server ends the connection at what it does not know, alone or in a transaction, and has not done it.
func TestKeeperDropsWhatItDoesNotKnow(t *testing.T) {
	container := newNode("/c", "", jute.FlagContainer)
	var multi []byte
	for _, op := range []jute.Op{jute.OpCreate, jute.OpCreateContainer} {
		multi = container.Append((&jute.MultiHeader{Type: op, Err: -1}).Append(multi))
	}
	multi = (&jute.MultiHeader{Type: -1, Done: true, Err: -1}).Append(multi)
	for name, request := range map[string]struct {
		op   jute.Op
		body rawclient.Body
	}{
		"create2":         {jute.OpCreate2, newNode("/c", "", 0)},
		"createContainer": {jute.OpCreateContainer, container},
		"createTTL":       {jute.OpCreateTTL, &jute.CreateTTLRequest{Path: "/c", ACL: container.ACL, Flags: jute.FlagTTL, TTL: 1000}},
		"addWatch":        {jute.OpAddWatch, &jute.AddWatchRequest{Path: "/"}},
		"setWatches":      {jute.OpSetWatches, &jute.SetWatches{DataWatches: []string{}, ExistWatches: []string{}, ChildWatches: []string{}}},
		"removeWatches":   {jute.OpRemoveWatches, &jute.WatchesRequest{Path: "/", Type: jute.WatcherAny}},
		"whoAmI":          {jute.OpWhoAmI, nil},
		"nonsense":        {9999, nil},
		"multi":           {jute.OpMulti, rawclient.Raw(multi)},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s server) {
				c := s.connect(2 * time.Second)
				do(t, c, jute.OpCreate, newNode("/a", "", 0))
				if frame, err := c.Do(request.op, request.body); err == nil {
					t.Fatalf("answered with %+v", frame)
				}
				if names := s.Children("/"); len(names) != 2 {
					t.Errorf("nodes %q", names)
				}
			}, curatortest.WithKeeper())
		})
	}
}

// As Keeper, the server answers a check in a transaction, whatever release of ZooKeeper it follows otherwise.
func TestKeeperKnowsCheck(t *testing.T) {
	check := &jute.CheckVersionRequest{Path: "/", Version: -1}
	multi := check.Append((&jute.MultiHeader{Type: jute.OpCheck, Err: -1}).Append(nil))
	multi = (&jute.MultiHeader{Type: -1, Done: true, Err: -1}).Append(multi)
	for _, release := range []string{"3.8.0", "3.9.5"} {
		inBubble(t, func(t *testing.T, s server) {
			do(t, s.connect(2*time.Second), jute.OpMulti, rawclient.Raw(multi))
		}, curatortest.WithKeeper(), curatortest.WithRelease(release))
	}
}
