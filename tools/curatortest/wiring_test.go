package curatortest_test

import (
	"strings"
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

// TestIsolateFollower isolates a follower. It answers its clients with old data until it notices that
// it has lost its leader. Afterwards it catches up.
func TestIsolateFollower(t *testing.T) {
	ensemble := curatortest.RealEnsemble(t, 3, curatortest.WithTickTime(200*time.Millisecond))
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

// TestIsolateLeader isolates the leader of an ensemble of five. The others elect a new leader, and the
// old one follows it afterwards.
func TestIsolateLeader(t *testing.T) {
	ensemble := curatortest.RealEnsemble(t, 5, curatortest.WithTickTime(200*time.Millisecond))
	old := ensemble.Leader()
	c := connectTCP(t, old.ConnectString())
	heal := old.Isolate()
	ended(t, c) // the old leader stops serving, because it has no followers
	next := ensemble.Leader()
	if next == old {
		t.Fatal("a server alone leads")
	}
	far := connectTCP(t, next.ConnectString())
	do(t, far, jute.OpCreate, create("/new", 0))
	heal()
	eventually(t, "the old leader follows", func() bool {
		c, err := rawclient.Connect(dialTCP(t, old.ConnectString()), jute.ConnectRequest{TimeOut: 4000})
		if err != nil {
			return false
		}
		do(t, c, jute.OpSync, &jute.PathRequest{Path: "/new"})
		do(t, c, jute.OpExists, read("/new"))
		return true
	})
	if ensemble.Leader() != next {
		t.Error("another one leads")
	}
}

func TestIsolateNobody(t *testing.T) {
	tb := &stoppingTB{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer tb.end()
		curatortest.Real(tb).Member(0).Isolate()
	}()
	<-done
	if strings.HasPrefix(tb.how, "skip") {
		curatortest.Real(t) // there is no ZooKeeper, so this skips the test
	}
	if !strings.HasPrefix(tb.how, "fatal: ") {
		t.Errorf("how the test ended: %q", tb.how)
	}
}
