package leader_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
)

func TestParticipants(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		latch := suite.Got(leader.NewLeaderLatch(e.observer, e.path)).OK(t)
		if all, err := latch.Participants(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("no path: %+v, %v", all, err)
		}
		suite.Got(latch.Leader(t.Context())).Fails(t, leader.ErrNoLeader)
		ids := []string{"plain", "", "ünïcode\nof two lines", "plain"}
		var members []*member
		for _, id := range ids {
			members = append(members, e.joined(id))
		}
		all, err := latch.Participants(t.Context())
		if err != nil || len(all) != len(ids) {
			t.Fatalf("%+v, %v", all, err)
		}
		for i, p := range all {
			m := members[i]
			if p.ID != ids[i] || p.Leader != (i == 0) || p.SessionID != m.client.SessionID() || !strings.HasPrefix(p.Path, e.path+"/_c_") ||
				i > 0 && p.Token <= all[i-1].Token || p.Since.IsZero() || !b.Virtual && time.Since(p.Since).Abs() > time.Minute {
				t.Errorf("participant %d is %+v", i, p)
			}
		}
		lease := members[0].leads()
		if p, err := latch.Leader(t.Context()); err != nil || p != all[0] || p.Token != lease.Token() || p.Path != lease.Path() {
			t.Errorf("the leader is %+v, %v", p, err)
		}
		suite.Got(e.observer.Create().ForPath(t.Context(), e.path+"/no-participant")).OK(t)
		if again, err := latch.Participants(t.Context()); err != nil || len(again) != len(all) {
			t.Errorf("%+v, %v", again, err)
		}
		for _, m := range members {
			m.close()
		}
		suite.Got(latch.Leader(t.Context())).Fails(t, leader.ErrNoLeader)
	})
}

// Participants that go away between the list and the reads are left out, and the first that is
// there leads.
func TestParticipantsVanish(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		var members []*member
		for i := range 40 {
			members = append(members, e.joined(fmt.Sprint(i)))
		}
		client, network := b.Client(t)
		latch := suite.Got(leader.NewLeaderLatch(client, e.path)).OK(t)
		network.On(jute.OpGetData, suite.Late, func() {
			for i := 0; i < len(members); i += 2 {
				members[i].close()
			}
		})
		all, err := latch.Participants(t.Context())
		if err != nil || len(all) != 20 {
			t.Fatalf("%d participants, %v", len(all), err)
		}
		for i, p := range all {
			if p.ID != fmt.Sprint(2*i+1) || p.Leader != (i == 0) {
				t.Errorf("participant %d is %+v", i, p)
			}
		}
		network.On(jute.OpGetData, suite.Late, func() { members[1].close() })
		if p, err := latch.Leader(t.Context()); err != nil || p.ID != "3" || !p.Leader {
			t.Errorf("%+v, %v", p, err)
		}
		for i := 3; i < len(members); i += 2 {
			members[i].close()
		}
	})
}

// Without WithID a participant names its program, its machine and its process.
func TestDefaultID(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		for name, opts := range map[string][]framework.Option{"traced": nil, "not traced": {framework.WithoutTracing()}} {
			client, _ := b.Client(t, opts...)
			latch, err := leader.NewLeaderLatch(client, e.path)
			if err == nil {
				err = latch.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := latch.Leader(t.Context())
			if err != nil || !strings.Contains(p.ID, " on ") || !strings.Contains(p.ID, ", pid ") || !strings.HasPrefix(p.ID, filepath.Base(os.Args[0])+" ") {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
			if err := latch.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// nodesOf gives the nodes of participants an ACL of their own.
type nodesOf []framework.ACL

func (a nodesOf) ACLForPath(path string) []framework.ACL {
	if strings.Contains(path, "latch-") || strings.Contains(path, "lock-") {
		return a
	}
	return framework.OpenACLUnsafe()
}

// A participant whose node may not be read is listed without its id, and the others are listed with
// theirs. Newer servers show nothing of it but its name.
func TestUnreadableParticipants(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		members := []*member{
			e.joined("private", framework.WithAuthorization("digest", []byte("first:a")),
				framework.WithACLProvider(nodesOf(framework.CreatorAllACL()))),
			e.joined("plain"),
		}
		e.untilNodes(len(members))
		all := e.participants()
		if len(all) != len(members) {
			t.Fatalf("%+v", all)
		}
		for i, want := range []string{"", "plain"} {
			if p := all[i]; want == "" && b.ExistsNeedsRead(t) {
				if (p != leader.Participant{Path: p.Path, Leader: true}) || !strings.Contains(p.Path, "latch-") {
					t.Errorf("participant %d is %+v", i, p)
				}
			} else if p.ID != want || p.Leader != (i == 0) || p.SessionID == 0 || p.Token == 0 || p.Since.IsZero() {
				t.Errorf("participant %d is %+v", i, p)
			}
		}
		latch := suite.Got(leader.NewLeaderLatch(e.observer, e.path)).OK(t)
		if p, err := latch.Leader(t.Context()); err != nil || p != all[0] {
			t.Errorf("the leader is %+v, %v", p, err)
		}
		for _, m := range members {
			m.close()
		}
	})
}
