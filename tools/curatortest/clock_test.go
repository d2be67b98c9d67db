package curatortest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// createTTL returns a request for a node with a TTL of an hour.
func createTTL(path string) rawclient.Raw {
	b := create(path, jute.FlagTTL).Append(nil)
	return (&ttl{time.Hour.Milliseconds()}).Append(b)
}

// ttl is the last field of a create request with a TTL.
type ttl struct{ ms int64 }

func (r *ttl) Append(b []byte) []byte {
	for shift := 56; shift >= 0; shift -= 8 {
		b = append(b, byte(r.ms>>shift))
	}
	return b
}

// ctime returns the ctime of a node.
func ctime(t *testing.T, c *rawclient.Client, path string) time.Time {
	t.Helper()
	var stat jute.StatResponse
	if err := jute.Decode(do(t, c, jute.OpExists, read(path)).Body, &stat); err != nil {
		t.Fatal(err)
	}
	return time.UnixMilli(stat.Stat.Ctime)
}

// TestAdvanceClock advances the clock of a server over TCP, where hardly any real time passes, and of
// one in virtual time.
func TestAdvanceClock(t *testing.T) {
	t.Run("TCP", func(t *testing.T) {
		testAdvanceClock(t, curatortest.Start(t, curatortest.WithTickTime(tick)))
	})
	t.Run("Virtual", func(t *testing.T) { inBubble(t, testAdvanceClock) })
}

func testAdvanceClock(t *testing.T, s *curatortest.Server) {
	silent, c := connect(t, dial(t, s)), connect(t, dial(t, s))
	do(t, silent, jute.OpCreate, create("/e", jute.FlagEphemeral))
	do(t, c, jute.OpCreateContainer, create("/container", jute.FlagContainer))
	do(t, c, jute.OpCreate, create("/container/child", 0))
	do(t, c, jute.OpDelete, &jute.DeleteRequest{Path: "/container/child", Version: -1})
	do(t, c, jute.OpCreateTTL, createTTL("/ttl"))
	do(t, c, jute.OpCreate, create("/before", 0))

	s.AdvanceClock(6 * time.Second)
	do(t, c, jute.OpPing, nil)
	if s.Sessions() != 2 {
		t.Error("a session has ended before its time")
	}
	s.AdvanceClock(6 * time.Second)
	if _, there := s.Get("/e"); there || s.Sessions() != 1 {
		t.Errorf("after 12 s: %d sessions, the ephemeral node %t", s.Sessions(), there)
	}
	ended(t, silent)
	do(t, c, jute.OpPing, nil)
	if _, there := s.Get("/container"); !there {
		t.Error("the container has gone before the server looks for such")
	}
	for range 620 {
		s.AdvanceClock(6 * time.Second)
		do(t, c, jute.OpPing, nil)
	}
	for _, path := range []string{"/container", "/ttl"} {
		if _, there := s.Get(path); there {
			t.Errorf("%s is there after an hour", path)
		}
	}
	do(t, c, jute.OpCreate, create("/after", 0))
	if between := ctime(t, c, "/after").Sub(ctime(t, c, "/before")); between < 622*6*time.Second {
		t.Errorf("timestamps are %v apart", between)
	}
	s.AdvanceClock(0)
	s.AdvanceClock(time.Hour)
	ended(t, c)
}

// TestClockAdvancesWhilePaused advances the clock of a paused server. Sessions and nodes expire at the
// resume.
func TestClockAdvancesWhilePaused(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		do(t, c, jute.OpCreateTTL, createTTL("/ttl"))
		resume := s.Pause()
		s.AdvanceClock(2 * time.Hour)
		synctest.Wait()
		if _, there := s.Get("/ttl"); !there || s.Sessions() != 1 {
			t.Error("a paused server works")
		}
		resume()
		if _, there := s.Get("/ttl"); there || s.Sessions() != 0 {
			t.Error("what was due has not happened")
		}
	})
}

// TestClockGoesOn checks that time passes after the clock was advanced.
func TestClockGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		connect(t, dial(t, s))
		s.AdvanceClock(9 * time.Second)
		pass(500 * time.Millisecond)
		if s.Sessions() != 1 {
			t.Error("the session has ended before its time")
		}
		pass(time.Second)
		if s.Sessions() != 0 {
			t.Error("the session lives")
		}
	})
}

func TestClockDoesNotGoBack(t *testing.T) {
	tb := &fakeTB{}
	s := curatortest.Start(tb)
	s.AdvanceClock(-1)
	tb.end()
	if len(tb.failures) != 1 {
		t.Errorf("failures: %v", tb.failures)
	}
}
