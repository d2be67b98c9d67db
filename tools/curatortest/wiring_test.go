package curatortest_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// follower returns a member that does not lead.
func follower(e *curatortest.Ensemble) *curatortest.Member {
	if m := e.Member(0); m != e.Leader() {
		return m
	}
	return e.Member(1)
}

// eventually waits until ok returns true, or fails the test. It is like suite.Eventually, which this
// package does not import, because all packages between them would be compiled again for its tests.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for begin := time.Now(); !ok(); {
		waited := time.Since(begin)
		if waited > time.Minute {
			t.Fatalf("waited in vain: %s", what)
		}
		<-time.After(max(2*time.Millisecond, waited/8))
	}
}

// testIsolateFollower isolates a follower. It answers its clients with old data until it notices that
// it has lost its leader. Afterwards it catches up.
func testIsolateFollower(t *testing.T, ensemble *curatortest.Ensemble) {
	lost := follower(ensemble)
	near, far := connectTCP(t, lost.ConnectString()), connectTCP(t, ensemble.Leader().ConnectString())
	heal := lost.Isolate()
	do(t, far, jute.OpCreate, create("/new", 0))
	do(t, near, jute.OpPing, nil)
	if f, err := near.Do(jute.OpExists, read("/new")); err != nil || f.Err != jute.CodeNoNode {
		t.Errorf("a read from the past: %v, code %d", err, f.Err)
	}
	isolated := time.Now()
	ended(t, near)
	t.Logf("the follower has noticed after %v", time.Since(isolated))
	heal()
	heal()
	eventually(t, "the follower serves again and has caught up", func() bool {
		c, err := rawclient.Connect(dialTCP(t, lost.ConnectString()), jute.ConnectRequest{TimeOut: 4000})
		if err != nil {
			return false
		}
		do(t, c, jute.OpSync, &jute.PathRequest{Path: "/new"})
		do(t, c, jute.OpExists, read("/new"))
		return true
	})
}

// testIsolateLeader isolates the leader. The others elect a new leader, and the
// old one follows it afterwards.
func testIsolateLeader(t *testing.T, ensemble *curatortest.Ensemble) {
	old := ensemble.Leader()
	c := connectTCP(t, old.ConnectString())
	heal := old.Isolate()
	ended(t, c) // the old leader stops serving, because it has no followers
	next := ensemble.Leader()
	if next == old {
		t.Fatal("a server alone leads")
	}
	far := connectTCP(t, next.ConnectString())
	do(t, far, jute.OpCreate, create("/newer", 0))
	heal()
	eventually(t, "the old leader follows", func() bool {
		c, err := rawclient.Connect(dialTCP(t, old.ConnectString()), jute.ConnectRequest{TimeOut: 4000})
		if err != nil {
			return false
		}
		do(t, c, jute.OpSync, &jute.PathRequest{Path: "/newer"})
		do(t, c, jute.OpExists, read("/newer"))
		return true
	})
	if ensemble.Leader() != next {
		t.Error("another one leads")
	}
}
