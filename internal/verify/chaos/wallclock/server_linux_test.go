package wallclock_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/verify/chaos/wallclock"
	"github.com/go-curator/curator/tools/curatortest"
)

// withClock is a test whose servers have a clock.
type withClock struct {
	*testing.T
	*wallclock.Clock
}

func (w withClock) ServerEnvironment(int) []string { return w.Environment() }

// A real server tells the time of its own clock. The session of a client that sends a request now and
// then outlives every step, and ephemeral nodes with it.
func TestServer(t *testing.T) {
	clock := newClock(t)
	server := curatortest.Real(withClock{t, clock}, curatortest.WithTickTime(100*time.Millisecond),
		curatortest.WithSessionTimeouts(time.Second, suite.LongSession)) // every step is longer
	client := server.Client(t, framework.WithSessionTimeout(suite.LongSession))
	if _, err := client.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/member"); err != nil {
		t.Fatal(err)
	}
	id := client.SessionID()
	for _, offset := range []time.Duration{30 * time.Second, -3 * time.Hour, 40 * time.Hour, 0} {
		if err := clock.Set(offset); err != nil {
			t.Fatal(err)
		}
		<-time.After(300 * time.Millisecond) // three ticks, of which each looks for sessions that are over
		stat, err := client.SetData().ForPath(t.Context(), "/member", []byte("x"))
		if err != nil {
			t.Fatalf("offset %v: %v", offset, err)
		}
		if off := time.Until(stat.Mtime.Add(-offset)); off < -time.Minute || off > time.Minute {
			t.Errorf("offset %v: the server's clock is %v off", offset, off)
		}
	}
	if now := client.SessionID(); now != id {
		t.Errorf("the session is %#x, and was %#x", now, id)
	}
}

// newClock returns a clock. The test fails without a C compiler, which the race detector needs, too.
func newClock(t *testing.T) *wallclock.Clock {
	t.Helper()
	library, err := wallclock.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	clock, err := library.Clock("one")
	if err != nil {
		t.Fatal(err)
	}
	return clock
}
