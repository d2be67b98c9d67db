package zkconn_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/internal/zkconn"
)

// told notes who is told of a new connection, in order.
type told struct {
	mu  sync.Mutex
	who []string
}

func (l *told) note(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.who = append(l.who, who)
}

// A connection that is taken into use is told of in an order that others rely on: the watches of the old one, then
// subscriptions, then observers, who collect what these were told, then the state, and calls that wait are answered behind
// the observers. A cache, for one, is told by its subscription that it may have missed events, and only then, by
// its observer, that it can read again.
func TestOrderOfANewConnection(t *testing.T) {
	virtual(t, func(t *fixture) {
		var l told
		t.open(func(cfg *zkconn.Config) {
			cfg.OnLoss = func(e zkconn.Event) {
				if e.Kind == zkconn.StateChanged && e.State.IsConnected() {
					l.note("state")
				}
			}
		})
		reset := func(who string) func(zkconn.WatchEvent) {
			return func(e zkconn.WatchEvent) {
				if e.Type == zkconn.WatchReset {
					l.note(who)
				}
			}
		}
		t.do(zkconn.GetData("/", zkconn.NewWatch("/", zkconn.WatchData, reset("watch"))))
		made, _ := create("/a", 0)
		t.do(made)
		if err := t.conn.Subscribe(t.Context(), zkconn.NewSubscription("/a", true, reset("subscription"))); err != nil {
			t.Fatal(err)
		}
		o, _ := t.conn.Observe(func(e zkconn.EventType) {
			if e == zkconn.WatchReset {
				l.note("observer")
			}
		})
		defer t.conn.Unobserve(o)
		synctest.Wait()
		l.who = nil
		accept := t.server.Refuse()
		t.server.Disconnect()
		synctest.Wait()
		var call sync.WaitGroup
		call.Go(func() {
			if err := t.conn.Do(t.Context(), 0, exists("/")); err != nil {
				t.Error(err)
			}
			l.note("call")
		})
		synctest.Wait()
		accept()
		call.Wait()
		synctest.Wait()
		state, answered := slices.Index(l.who, "state"), slices.Index(l.who, "call")
		if !slices.Equal(l.who[:3], []string{"watch", "subscription", "observer"}) || len(l.who) != 5 || state < 3 || answered < 3 {
			t.Errorf("%q", l.who)
		}
	})
}
