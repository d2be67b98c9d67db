package zkconn_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// diary is what watches were told, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) of(name string) func(zkconn.WatchEvent) {
	return func(e zkconn.WatchEvent) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.lines = append(d.lines, fmt.Sprint(name, " ", eventNames[e.Type], " ", e.Path))
	}
}

// took returns what was written since the last time, sorted.
func (d *diary) took() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	slices.Sort(lines)
	return lines
}

var eventNames = map[zkconn.EventType]string{
	zkconn.NodeCreated: "created", zkconn.NodeDeleted: "deleted", zkconn.NodeDataChanged: "changed",
	zkconn.NodeChildrenChanged: "children", zkconn.WatchReset: "reset", zkconn.WatchClosed: "closed",
}

func (t *fixture) wrote(d *diary, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := d.took(); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

func setData(path string) *zkconn.Call {
	return &zkconn.Call{Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: path, Version: -1}, Res: &jute.StatResponse{}}
}

func remove(path string) *zkconn.Call {
	return &zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: path, Version: -1}}
}

func (t *fixture) make(paths ...string) {
	t.Helper()
	for _, path := range paths {
		made, _ := create(path, 0)
		t.do(made)
	}
}

// TestSubscriptionsOutliveConnections has subscriptions of both kinds told of a reconnect
// and of a new session, and of what happens after it, even to who reads at once.
func TestSubscriptionsOutliveConnections(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		t.make("/a")
		var d diary
		for _, sub := range []*zkconn.Subscription{
			zkconn.NewSubscription("/a", false, d.of("plain")), zkconn.NewSubscription("/", true, d.of("all")),
		} {
			if err := t.conn.Subscribe(t.Context(), sub); err != nil {
				t.Fatal(err)
			}
		}
		id, _ := t.conn.Session()
		for i, end := range []func(){t.server.Disconnect, func() { t.server.ExpireSession(id) }} {
			path := fmt.Sprintf("/a/%d", i)
			end()
			synctest.Wait()
			t.make(path)
			t.wrote(&d, "all created "+path, "all reset /", "plain children /a", "plain reset /a")
		}
		if t.server.Watches() != 2 || t.conn.Watches() != 2 {
			t.Errorf("%d watches at the server, %d here", t.server.Watches(), t.conn.Watches())
		}
	})
}

// TestSubscribeFails has the server refuse a watch, not answer, and be away.
func TestSubscribeFails(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		t.make("/a")
		var d diary
		sub := zkconn.NewSubscription("/a", false, d.of("sub"))

		refuse := t.server.Inject(curatortest.Rule{Op: "addWatch", Do: curatortest.Fail(zkconn.ErrUnimplemented)})
		err := t.conn.Subscribe(t.Context(), sub)
		t.want(err, zkconn.ErrUnimplemented)
		if err == nil || !strings.Contains(err.Error(), "ZooKeeper 3.6") {
			t.Errorf("%v does not say what is needed", err)
		}
		cut := t.server.Inject(curatortest.Rule{Op: "addWatch", Do: curatortest.CutAfter()})
		t.want(t.conn.Subscribe(t.Context(), sub), zkconn.ErrConnectionLoss)
		if !refuse() || !cut() {
			t.Fatal("the faults did not happen")
		}
		t.do(setData("/a"))

		resume := t.server.Pause()
		ctx, cancel := context.WithTimeout(t.Context(), timeout/10)
		defer cancel()
		t.want(t.conn.Subscribe(ctx, sub), context.DeadlineExceeded)
		resume()
		t.do(setData("/a"))
		d.took() // the first connection may have told it WatchReset
		if t.server.Watches() != 0 || t.conn.Watches() != 0 {
			t.Errorf("%d watches at the server, %d here", t.server.Watches(), t.conn.Watches())
		}
		t.do(setData("/a"))
		t.wrote(&d)
	})
}

// TestRestoreRefused has the server not put the watches back: such a connection is not used.
func TestRestoreRefused(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		t.make("/a")
		var d diary
		if err := t.conn.Subscribe(t.Context(), zkconn.NewSubscription("/a", false, d.of("sub"))); err != nil {
			t.Fatal(err)
		}
		hit := t.server.Inject(curatortest.Rule{Op: "setWatches", Do: curatortest.Fail(zkconn.ErrUnimplemented)})
		t.server.Disconnect()
		time.Sleep(timeout / 4)
		d.took()
		t.do(setData("/a"))
		t.wrote(&d, "sub changed /a")
		if !hit() {
			t.Error("the watches were not put back")
		}
	})
}

// TestManySubscriptions are put back in more than one request.
func TestManySubscriptions(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		var d diary
		const n = 50
		for i := range n {
			path := fmt.Sprintf("/%s%d", strings.Repeat("x", 10_000), i)
			if err := t.conn.Subscribe(t.Context(), zkconn.NewSubscription(path, i%2 == 0, d.of("sub"))); err != nil {
				t.Fatal(err)
			}
		}
		t.server.Disconnect()
		synctest.Wait()
		t.do(exists("/"))
		if t.server.Watches() != n || len(d.took()) != n {
			t.Errorf("%d watches at the server", t.server.Watches())
		}
	})
}

// TestUnsubscribe gives subscriptions back with a connection, without one, and with one that
// does not answer.
func TestUnsubscribe(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		t.make("/a")
		var d diary
		sub := zkconn.NewSubscription("/a", true, d.of("sub"))
		subscribe := func() {
			t.Helper()
			if err := t.conn.Subscribe(t.Context(), sub); err != nil {
				t.Fatal(err)
			}
		}
		giveBack := func(want error) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), timeout/10)
			defer cancel()
			if err := t.conn.Unsubscribe(ctx, sub); !errors.Is(err, want) {
				t.Errorf("unsubscribe: %v, want %v", err, want)
			}
		}
		free := func() {
			t.Helper()
			t.do(setData("/a"))
			t.wrote(&d)
			if t.server.Watches() != 0 || t.conn.Watches() != 0 {
				t.Errorf("%d watches at the server, %d here", t.server.Watches(), t.conn.Watches())
			}
		}
		giveBack(nil) // it is not subscribed
		subscribe()
		giveBack(nil)
		free()

		subscribe()
		resume := t.server.Pause()
		giveBack(context.DeadlineExceeded)
		resume()
		free()

		subscribe()
		accept := t.server.Refuse()
		t.server.Disconnect()
		synctest.Wait()
		giveBack(nil)
		accept()
		free()
	})
}

// TestWatchesTogether sets and gives back watches of all kinds by chance, on few nodes, and
// compares what they are told with what they should be: on an embedded server and on a real
// one, where a watch that is set takes the place of another of the same connection.
func TestWatchesTogether(t *testing.T) {
	t.Run("virtual", func(t *testing.T) {
		virtual(t, func(f *fixture) {
			f.open(nil)
			rapid.Check(t, func(r *rapid.T) { watchTogether(r, f) })
		})
	})
	t.Run("real", func(t *testing.T) {
		server := curatortest.Real(t)
		f := &fixture{T: t}
		f.connect(server.ConnectString(), new(net.Dialer).DialContext, func(c *zkconn.Config) {
			c.SessionTimeout, c.ConnectionTimeout = 20*time.Second, 20*time.Second
		})
		fewerChecks(t, 30)
		rapid.Check(t, func(r *rapid.T) { watchTogether(r, f) })
	})
}

// watching is a model of one watch.
type watching struct {
	name, path string
	oneShot    zkconn.WatchKind // 0 for a subscription
	recursive  bool
	giveBack   func()
}

// hears tells whether a watch is told of what happened to path.
func (w *watching) hears(what, path string) bool {
	switch {
	case w.recursive:
		return what != "children" && (w.path == path || strings.HasPrefix(path, strings.TrimSuffix(w.path, "/")+"/"))
	case w.path != path:
		return false
	case w.oneShot == zkconn.WatchData:
		return what != "children"
	case w.oneShot == zkconn.WatchChildren:
		return what == "children" || what == "deleted"
	default:
		return true
	}
}

// together is a run of TestWatchesTogether: what there is, and what should be told.
type together struct {
	*fixture
	r       *rapid.T
	d       diary
	exist   map[string]bool
	watches map[string]*watching
	want    []string // of the step
}

func watchTogether(r *rapid.T, f *fixture) {
	t := &together{fixture: f, r: r, exist: map[string]bool{}, watches: map[string]*watching{}}
	defer t.cleanUp()
	paths := []string{"/together", "/together/a", "/together/a/b", "/together/c"}
	for i := range rapid.IntRange(1, 30).Draw(r, "steps") {
		t.want = nil
		t.step(fmt.Sprint("w", i), rapid.SampledFrom(paths).Draw(r, "path"))
		slices.Sort(t.want)
		_ = t.try(exists("/")) // what was told is told by now
		if got := t.d.took(); !slices.Equal(got, t.want) {
			r.Fatalf("told %q, want %q", got, t.want)
		}
	}
}

func (t *together) cleanUp() {
	for _, name := range slices.Sorted(maps.Keys(t.watches)) {
		t.watches[name].giveBack()
	}
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(t.exist))) {
		_ = t.try(remove(path))
	}
	if t.conn.Watches() != 0 {
		t.r.Errorf("%d watches are left", t.conn.Watches())
	}
}

// try returns the server's answer.
func (t *together) try(call *zkconn.Call) error {
	if err := t.conn.Do(t.Context(), 0, call); err != nil {
		t.r.Fatal(err)
	}
	return call.Err
}

func (t *together) step(name, path string) {
	parent := path[:strings.LastIndexByte(path, '/')]
	switch rapid.SampledFrom([]string{"create", "delete", "set", "subscribe", "subscribe", "read", "read", "several", "several", "give back"}).Draw(t.r, "step") {
	case "create":
		made, _ := create(path, 0)
		if t.try(made) == nil {
			t.exist[path] = true
			t.tell("created", path)
			t.tell("children", parent)
		}
	case "delete":
		if t.try(remove(path)) == nil {
			delete(t.exist, path)
			t.tell("deleted", path)
			t.tell("children", parent)
		}
	case "set":
		if t.try(setData(path)) == nil {
			t.tell("changed", path)
		}
	case "subscribe":
		t.subscribe(&watching{name: name, path: path, recursive: rapid.Bool().Draw(t.r, "recursive")})
	case "read":
		t.read(&watching{name: name, path: path, oneShot: rapid.SampledFrom([]zkconn.WatchKind{zkconn.WatchData, zkconn.WatchChildren}).Draw(t.r, "kind")})
	case "several":
		t.several(name, path, rapid.SampledFrom([]string{"/together", "/together/a"}).Draw(t.r, "missing"))
	case "give back":
		if len(t.watches) > 0 {
			t.giveBack(t.watches[rapid.SampledFrom(slices.Sorted(maps.Keys(t.watches))).Draw(t.r, "watch")])
		}
	}
}

func (t *together) subscribe(w *watching) {
	sub := zkconn.NewSubscription(w.path, w.recursive, t.d.of(w.name))
	if err := t.conn.Subscribe(t.Context(), sub); err != nil {
		t.r.Fatal(err)
	}
	w.giveBack = func() {
		if err := t.conn.Unsubscribe(t.Context(), sub); err != nil {
			t.r.Fatal(err)
		}
	}
	t.watches[w.name] = w
}

// read sets a one-shot watch: by exists, which does so on a missing node, too, or by
// getChildren, which does not.
func (t *together) read(w *watching) {
	watch := zkconn.NewWatch(w.path, w.oneShot, t.d.of(w.name))
	w.giveBack = func() { t.conn.Unwatch(watch) }
	if t.try(reading(w.path, watch, w.oneShot)) == nil || w.oneShot == zkconn.WatchData {
		t.watches[w.name] = w
	}
}

func (t *together) giveBack(w *watching) {
	w.giveBack()
	delete(t.watches, w.name)
	if w.oneShot != 0 {
		return
	}
	for name, other := range t.watches { // who has shared its watch at the server reads again
		if other.oneShot != 0 && other.path == w.path {
			t.want = append(t.want, name+" reset "+w.path)
			delete(t.watches, name)
		}
	}
}

// tell notes who should be told of an event, and forgets the watches that it ends.
func (t *together) tell(what, path string) {
	for name, w := range t.watches {
		if w.hears(what, path) {
			t.want = append(t.want, fmt.Sprint(name, " ", what, " ", path))
			if w.oneShot != 0 {
				delete(t.watches, name)
			}
		}
	}
}

// reading returns the read that sets a watch.
func reading(path string, watch *zkconn.Watch, kind zkconn.WatchKind) *zkconn.Call {
	call := &zkconn.Call{Req: &jute.PathWatchRequest{Path: path, Watch: true}, Watch: watch}
	if kind == zkconn.WatchChildren {
		call.Op, call.Res = jute.OpGetChildren, &jute.GetChildrenResponse{}
	} else {
		call.Op, call.Res = jute.OpExists, &jute.StatResponse{}
	}
	return call
}
