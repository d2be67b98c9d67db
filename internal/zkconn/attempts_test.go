package zkconn_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// threeServers is an Order of three servers, that counts what it is asked.
type threeServers struct {
	mu        sync.Mutex
	next      int
	since     int // the last Connected
	connected int
}

func (o *threeServers) Len() int { return 3 }

func (o *threeServers) Next() (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.next++
	o.since++
	return fmt.Sprintf("s%d:1", o.next%3), o.since > 3 && o.since%3 == 1
}

func (o *threeServers) Connected() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.connected++
	o.since = 0
}

// An Order decides which server is tried, and is told of the one that is of use. How attempts go is told in order.
func TestOrder(t *testing.T) {
	virtual(t, func(t *fixture) {
		o := &threeServers{}
		accept := t.server.Refuse()
		t.open(func(cfg *zkconn.Config) { cfg.Order = o })
		fast := zkconn.FailFast(t.Context(), time.Hour)
		if err := t.conn.Do(fast, 0, exists("/")); !errors.Is(err, zkconn.ErrNoServer) || errors.Is(err, zkconn.ErrConnectionLoss) {
			t.Fatal(err)
		}
		if o.next < 3 || o.connected != 0 {
			t.Errorf("%d attempts, %d connected", o.next, o.connected)
		}
		accept()
		t.do(exists("/"))
		synctest.Wait()
		if o.connected != 1 || t.conn.Server() != fmt.Sprintf("s%d:1", o.next%3) {
			t.Errorf("%d connected, on %s after %d attempts", o.connected, t.conn.Server(), o.next)
		}
		kinds, _ := t.took()
		kinds = slices.DeleteFunc(kinds, func(k zkconn.EventKind) bool { return k == zkconn.StateChanged })
		if n := len(kinds); n < 3 || !slices.Equal(kinds[n-3:], []zkconn.EventKind{zkconn.Attempting, zkconn.Reached, zkconn.Attempted}) {
			t.Errorf("%v", kinds)
		}
	})
}

// There is one pause for each round of an Order, not one for each of its servers.
func TestOrderPausesOnceARound(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.server.Refuse()
		var mu sync.Mutex
		var began []time.Time
		t.open(func(cfg *zkconn.Config) {
			cfg.Order = &threeServers{}
			dial := cfg.Dial
			cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				mu.Lock()
				began = append(began, time.Now())
				mu.Unlock()
				return dial(ctx, network, address)
			}
		})
		time.Sleep(timeout)
		mu.Lock()
		defer mu.Unlock()
		if len(began) < 6 {
			t.Fatalf("%d attempts", len(began))
		}
		for i := 1; i < len(began); i++ {
			if paused := began[i].After(began[i-1]); paused != (i%3 == 0) {
				t.Errorf("a pause before attempt %d: %t", i+1, paused)
			}
		}
	})
}

// oneServer is an Order of one server.
type oneServer struct{ tried atomic.Bool }

func (*oneServer) Len() int               { return 1 }
func (o *oneServer) Next() (string, bool) { return "s:1", o.tried.Swap(true) }
func (o *oneServer) Connected()           {}

// A call that begins in the pause before an attempt waits for that attempt, as with the driver: what the Order says of
// the attempts before ends only calls that have waited for these.
func TestOrderAndPause(t *testing.T) {
	virtual(t, func(t *fixture) {
		accept := t.server.Refuse()
		t.open(func(cfg *zkconn.Config) { cfg.Order = &oneServer{} })
		fast := zkconn.FailFast(t.Context(), time.Hour)
		if err := t.conn.Do(fast, 0, exists("/")); !errors.Is(err, zkconn.ErrNoServer) {
			t.Fatal(err)
		}
		for range 10 {
			synctest.Wait() // in a pause
			began := time.Now()
			if err := t.conn.Do(fast, 0, exists("/")); !errors.Is(err, zkconn.ErrNoServer) || time.Since(began) == 0 {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		}
		synctest.Wait()
		accept()
		if err := t.conn.Do(fast, 0, exists("/")); err != nil {
			t.Errorf("when the server can be reached again: %v", err)
		}
	})
}

// A call that fails fast ends when all servers were tried in vain since it waits, be it the first connection or a later
// one; others go on waiting. With Config.FailFast that is ErrConnectionLoss, which is retried.
func TestFailFast(t *testing.T) {
	for _, always := range []bool{false, true} {
		virtual(t, func(t *fixture) {
			t.open(func(cfg *zkconn.Config) {
				cfg.FailFast = always
				cfg.Servers = []string{"a:1", "b:1", "c:1"}
			})
			ctx, want := t.Context(), error(zkconn.ErrConnectionLoss)
			if !always {
				ctx, want = zkconn.FailFast(ctx, time.Hour), zkconn.ErrNoServer
			}
			if err := t.conn.Do(ctx, 0, exists("/")); err != nil {
				t.Fatal(err)
			}
			accept := t.server.Refuse()
			t.server.Disconnect()
			synctest.Wait()
			for range 3 {
				began := time.Now()
				if err := t.conn.Do(ctx, 0, exists("/")); !errors.Is(err, want) || zkconn.ErrNoServer == want && errors.Is(err, zkconn.ErrConnectionLoss) {
					t.Errorf("%v", err)
				}
				if took := time.Since(began); took > 4*time.Second {
					t.Errorf("after %v", took)
				}
			}
			short, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			if err := t.conn.Do(short, 0, exists("/")); !always && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("one that waits: %v", err)
			}
			accept()
			if err := t.conn.Ready(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A session on which nobody relies may be resumed after a longer silence, with UnusedLossPercent. One that is in use is
// presumed over as without that, also when somebody begins to rely on it meanwhile.
func TestUnusedLossPercent(t *testing.T) {
	for name, tt := range map[string]struct {
		percent     int
		outage      time.Duration // in session timeouts
		used, later bool
		want        bool // the session is kept
	}{
		"kept":              {percent: 400, outage: 3, want: true},
		"kept for too long": {percent: 400, outage: 5},
		"in use":            {percent: 400, outage: 3, used: true},
		"in use, later":     {percent: 400, outage: 3, later: true},
		"without it":        {outage: 3},
	} {
		virtual(t, func(t *fixture) {
			t.open(func(cfg *zkconn.Config) { cfg.UnusedLossPercent = tt.percent })
			t.do(exists("/"))
			id, _ := t.conn.Session()
			if !tt.used { // open has used it
				t.conn.Unuse()
				time.Sleep(2 * timeout)
			}
			t.server.Stop()
			time.Sleep(tt.outage * timeout)
			if tt.later {
				t.conn.Use()
				synctest.Wait()
			}
			t.server.Start()
			t.do(exists("/"))
			kinds, states := t.took()
			now, _ := t.conn.Session()
			if now == id != tt.want || slices.Contains(kinds, zkconn.SessionEnded) == tt.want || slices.Contains(states, state.Lost) == tt.want {
				t.Errorf("%s: session %#x after %#x, told %v, %v", name, now, id, kinds, states)
			}
		})
	}
}

// A session that is given up is over at once, with its connection, and another one follows.
func TestGiveUp(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		t.do(exists("/"))
		id, _ := t.conn.Session()
		t.conn.GiveUp(id + 1) // another one
		t.do(exists("/"))
		var told []zkconn.EventType
		t.do(zkconn.Exists("/", zkconn.NewWatch("/", zkconn.WatchData, func(e zkconn.WatchEvent) { told = append(told, e.Type) })))
		_, _ = t.took()
		t.conn.GiveUp(id)
		if now, _ := t.conn.Session(); now != 0 {
			t.Errorf("session %#x", now)
		}
		if !slices.Equal(told, []zkconn.EventType{zkconn.WatchSessionLost}) {
			t.Errorf("%v", told)
		}
		t.do(exists("/"))
		if now, _ := t.conn.Session(); now == id || now == 0 {
			t.Errorf("session %#x behind %#x", now, id)
		}
		kinds, states := t.took()
		if !slices.Contains(kinds, zkconn.SessionEnded) || !slices.Contains(states, state.Lost) || states[len(states)-1] != state.Reconnected {
			t.Errorf("told %v, %v", kinds, states)
		}
		t.conn.GiveUp(id) // it is over
		t.do(exists("/"))
	})
}

// A listener gets each event from its beginning on, and none from before.
func TestListen(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		t.do(exists("/"))
		var got []zkconn.EventKind
		t.server.Disconnect()
		l, _ := t.conn.Listen(func(e zkconn.Event) { got = append(got, e.Kind) })
		synctest.Wait()
		t.do(exists("/"))
		synctest.Wait()
		if n := len(got); n < 4 || !slices.Contains(got, zkconn.Reached) || !slices.Contains(got, zkconn.Attempted) {
			t.Errorf("%v", got)
		}
		got = nil
		_, server := t.conn.Listen(func(e zkconn.Event) { got = append(got, e.Kind) })
		t.conn.Unlisten(l)
		if server != t.conn.Server() || len(got) != 0 {
			t.Errorf("%q, %v", server, got)
		}
	})
}
