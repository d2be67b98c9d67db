package zk_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// watches are the watches of a node that is there, by the call that sets them.
var watches = map[string]func(c api, p string) (<-chan zk.Event, error){
	"GetW":      func(c api, p string) (<-chan zk.Event, error) { _, _, ch, err := c.GetW(p); return ch, err },
	"ExistsW":   func(c api, p string) (<-chan zk.Event, error) { _, _, ch, err := c.ExistsW(p); return ch, err },
	"ChildrenW": func(c api, p string) (<-chan zk.Event, error) { _, _, ch, err := c.ChildrenW(p); return ch, err },
}

// changes are changes of a node, and the event of each watch.
var changes = map[string]struct {
	change func(c api, p string) error
	want   map[string]zk.EventType // no event of the others
}{
	"set": {
		func(c api, p string) error { _, err := c.Set(p, nil, -1); return err },
		map[string]zk.EventType{"GetW": zk.EventNodeDataChanged, "ExistsW": zk.EventNodeDataChanged},
	},
	"delete": {
		func(c api, p string) error { return c.Delete(p, -1) },
		map[string]zk.EventType{"GetW": zk.EventNodeDeleted, "ExistsW": zk.EventNodeDeleted, "ChildrenW": zk.EventNodeDeleted},
	},
	"child": {
		func(c api, p string) error { _, err := c.Create(p+"/c", nil, 0, world); return err },
		map[string]zk.EventType{"ChildrenW": zk.EventNodeChildrenChanged},
	},
}

// cuts are what happens to the connection before the node is changed.
var cuts = map[string]func(n *suite.Network){
	"connected": func(*suite.Network) {},
	"cut":       func(n *suite.Network) { n.Cut() },
	"cut twice": func(n *suite.Network) { n.On(jute.OpSetWatches, suite.CutBefore, nil); n.Cut() },
	"cut behind the answer": func(n *suite.Network) {
		n.On(jute.OpSetWatches, suite.CutAfter, nil)
		n.Cut()
	},
}

// settle returns when the cut has happened that may follow the answer behind an event.
func settle(t *testing.T, c *zk.Conn) {
	t.Helper()
	if _, _, err := c.Exists("/"); err != nil && err != zk.ErrConnectionClosed {
		t.Error(err)
	}
}

// The channel of each watch gets the event of the first change, however often the connection ends before it, and is
// closed. A change that is none for the watch is not told.
func TestWatchEvents(t *testing.T) {
	t.Parallel()
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		other, _, _ := connect(t, b)
		for how, cut := range cuts {
			c, _, n := connect(t, b) // of its own: pauses between connections that end at once grow to the session's timeout
			for what, change := range changes {
				p := b.Path("w-" + what + "-" + how[:3] + how[len(how)-3:])
				makeAll(t, other, p)
				set := map[string]<-chan zk.Event{}
				for name, watch := range watches {
					ch, err := watch(c, p)
					if err != nil {
						t.Fatal(err)
					}
					set[name] = ch
				}
				cut(n)
				if err := change.change(other, p); err != nil {
					t.Fatal(err)
				}
				for name, ch := range set {
					want, told := change.want[name]
					if !told {
						continue
					}
					if e := next(t, ch); e.Type != want || e.Path != p || e.Err != nil || e.State != zk.StateSyncConnected {
						t.Errorf("%s, %s, %s: %+v", how, what, name, e)
					}
					if _, open := <-ch; open {
						t.Errorf("%s, %s, %s: a second event", how, what, name)
					}
				}
				settle(t, c)
				for name, ch := range set {
					if _, told := change.want[name]; !told && len(ch) > 0 {
						t.Errorf("%s, %s, %s: %+v", how, what, name, <-ch)
					}
				}
			}
		}
	})
}

// ExistsW of a node that is missing gets its creation, also one that comes while there is no connection.
func TestWatchOfMissing(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _, n := connect(t, b)
		other, _, _ := connect(t, b)
		dir := b.Path("missing")
		makeAll(t, other, dir)
		for how, cut := range cuts {
			p := dir + "/" + how
			ok, s, ch, err := c.ExistsW(p)
			if ok || s == nil || err != nil {
				t.Fatal(ok, s, err)
			}
			cut(n)
			makeAll(t, other, p)
			if e := next(t, ch); e.Type != zk.EventNodeCreated || e.Path != p {
				t.Errorf("%s: %+v", how, e)
			}
			settle(t, c)
		}
	})
}

// Every channel ends with the session and with the Conn. A server that answers a reconnect with another session ends it,
// too.
func TestWatchesEnd(t *testing.T) {
	ends := map[string]struct {
		end  func(t *testing.T, b *suite.Backend, c *zk.Conn, n *suite.Network)
		want error
	}{
		"expired": {func(t *testing.T, _ *suite.Backend, _ *zk.Conn, n *suite.Network) { n.Expire(t) }, zk.ErrSessionExpired},
		"closed":  {func(_ *testing.T, _ *suite.Backend, c *zk.Conn, _ *suite.Network) { c.Close() }, zk.ErrClosing},
		"closed without a connection": {func(_ *testing.T, b *suite.Backend, c *zk.Conn, _ *suite.Network) {
			b.Server().Refuse()
			b.Server().Disconnect()
			c.Close()
		}, zk.ErrClosing},
		"no server": {func(_ *testing.T, b *suite.Backend, _ *zk.Conn, _ *suite.Network) {
			b.Server().Refuse()
			b.Server().Disconnect()
		}, zk.ErrSessionExpired},
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				conn, ch, n := connect(t, b)
				await(t, ch, zk.StateHasSession)
				var all []<-chan zk.Event
				for _, watch := range watches {
					ch, err := watch(conn, "/")
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, ch)
				}
				c.end(t, b, conn, n)
				for _, ch := range all {
					if e := next(t, ch); e.Type != zk.EventNotWatching || e.Err != c.want || e.Path != "/" {
						t.Errorf("%+v", e)
					}
					if _, open := <-ch; open {
						t.Error("a second event")
					}
				}
			})
		})
	}
}

// A thousand watches are set again by one reconnect, in requests that each server takes.
func TestManyWatches(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime, func(t *testing.T, b *suite.Backend) {
		c, _, n := connect(t, b)
		all := make([]<-chan zk.Event, 5000)
		for i := range all {
			var err error
			if _, _, all[i], err = c.ExistsW(b.Path("many") + time.Duration(i).String()); err != nil {
				t.Fatal(err)
			}
		}
		n.Cut()
		synctest.Wait()
		if _, _, err := c.Exists("/"); err != nil || b.Watches() != len(all) || n.Requests(jute.OpSetWatches) < 2 {
			t.Errorf("%v, %d watches, %d requests", err, b.Watches(), n.Requests(jute.OpSetWatches))
		}
	})
}
