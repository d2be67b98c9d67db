package zkconn_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// openAsleep opens a connection on a machine that has slept for asleep, and returns its session.
func (t *fixture) openAsleep(asleep *atomic.Int64) (session int64) {
	t.Helper()
	t.open(func(c *zkconn.Config) {
		c.Asleep = func() time.Duration { return time.Duration(asleep.Load()) }
	})
	session, err := t.conn.Connected(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.took()
	return session
}

// TestSleepingMachine has the machine sleep, for less and for more than the session lives:
// the deadline passes by the servers' time, and it is known as soon as somebody asks.
func TestSleepingMachine(t *testing.T) {
	virtual(t, func(t *fixture) {
		var asleep atomic.Int64
		asleep.Store(int64(time.Hour)) // it has slept before
		session := t.openAsleep(&asleep)
		sleep := func(d time.Duration) { asleep.Add(int64(d)) }

		sleep(timeout * 7 / 8)
		if deadline, ok := t.conn.Deadline(session); !ok || time.Now().Before(deadline) {
			t.Errorf("after a sleep the deadline is in %v, %t", time.Until(deadline), ok)
		}
		time.Sleep(timeout / 20)
		if kinds, _ := t.took(); len(kinds) != 1 || kinds[0] != zkconn.DeadlinePassed {
			t.Errorf("events %v", kinds)
		}
		if err := t.conn.AwaitProof(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		if deadline, ok := t.conn.Deadline(session); !ok || time.Until(deadline) < timeout/4 {
			t.Errorf("after two proofs the deadline is in %v, %t", time.Until(deadline), ok)
		}
		t.took()

		t.server.Pause() // an answer after the sleep would show that the session lives
		sleep(timeout)
		time.Sleep(timeout / 20)
		_, states := t.took()
		if len(states) < 2 || states[0] != state.Suspended || states[1] != state.Lost {
			t.Errorf("states %v", states)
		}
		if _, ok := t.conn.Deadline(session); ok {
			t.Error("the session is still believed in")
		}
	})
}

// TestClockSetBack has somebody set the wall clock back, by which sleeps are measured elsewhere than on
// Linux: the session is kept, and its deadline stays where it was.
func TestClockSetBack(t *testing.T) {
	virtual(t, func(t *fixture) {
		var asleep atomic.Int64
		session := t.openAsleep(&asleep)
		before, _ := t.conn.Deadline(session)
		asleep.Store(-int64(time.Hour))
		if deadline, ok := t.conn.Deadline(session); !ok || !deadline.Equal(before) {
			t.Errorf("the deadline is %v, %t, and was %v", deadline, ok, before)
		}
		time.Sleep(2 * timeout)
		if err := t.conn.AwaitProof(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		if deadline, ok := t.conn.Deadline(session); !ok || time.Until(deadline) < timeout/4 {
			t.Errorf("the deadline is in %v, %t", time.Until(deadline), ok)
		}
		if kinds, states := t.took(); len(kinds) != 0 || len(states) != 0 {
			t.Errorf("events %v, states %v", kinds, states)
		}
	})
}

// TestJitterOfClocks has the clocks differ by as little as two readings do.
func TestJitterOfClocks(t *testing.T) {
	virtual(t, func(t *fixture) {
		var calls atomic.Int64
		t.open(func(c *zkconn.Config) {
			c.Asleep = func() time.Duration { return time.Duration(calls.Add(1)%7) * time.Millisecond }
		})
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for range 10 {
			if deadline, ok := t.conn.Deadline(session); !ok || deadline.Sub(start) != timeout*7/8 {
				t.Fatalf("the deadline is in %v, %t", deadline.Sub(start), ok)
			}
		}
	})
}
