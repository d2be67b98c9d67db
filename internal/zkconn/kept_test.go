package zkconn_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

func newKept(path string, kind zkconn.WatchKind, fn func(zkconn.WatchEvent)) *zkconn.Watch {
	return new(zkconn.Watch).InitKept(path, kind, fn)
}

// keptWatch is a kept watch, and what it must tell.
type keptWatch struct {
	path    string
	kind    zkconn.WatchKind
	watch   *zkconn.Watch
	events  []zkconn.EventType
	changed bool // since the read that has set it was answered
	missing bool // the node was, then
	unsure  bool // it was created and is missing again: a server that did not have the watch meanwhile cannot tell
}

func (w *keptWatch) tell(e zkconn.WatchEvent) { w.events = append(w.events, e.Type) }

// keptHistory is a client with kept watches, one that changes their nodes, and what is true of these.
type keptHistory struct {
	*fixture
	other   *fixture
	id      int64
	rng     *rand.Rand
	exist   map[string]bool
	watches []*keptWatch
	subs    map[string]*zkconn.Subscription
}

var keptPaths = []string{"/a", "/b", "/a/c", "/a/d"}

func (h *keptHistory) path() string { return keptPaths[h.rng.IntN(len(keptPaths))] }

func (h *keptHistory) news(kind zkconn.WatchKind, path string) {
	for _, w := range h.watches {
		if w.kind == kind && w.path == path {
			w.unsure = w.unsure || w.changed && w.missing
			w.changed = true
		}
	}
}

// change changes a node, as the other client.
func (h *keptHistory) change() {
	path := h.path()
	switch {
	case !h.exist[path]:
		if path != "/a" && path != "/b" && !h.exist["/a"] {
			return
		}
		made, _ := create(path, 0)
		h.other.do(made)
	case h.rng.IntN(2) == 0:
		h.other.do(zkconn.SetData(path, []byte{1}, -1))
		h.news(zkconn.WatchData, path)
		return
	case path == "/a" && (h.exist["/a/c"] || h.exist["/a/d"]):
		return
	default:
		h.other.do(zkconn.Delete(path, -1))
		h.news(zkconn.WatchChildren, path)
	}
	h.exist[path] = !h.exist[path]
	h.news(zkconn.WatchData, path)
	if len(path) > 2 {
		h.news(zkconn.WatchChildren, "/a")
	}
}

// watch sets a kept watch. One whose read fails is none.
func (h *keptHistory) watch() {
	w := &keptWatch{path: h.path(), kind: zkconn.WatchData}
	read := zkconn.GetData
	switch h.rng.IntN(3) {
	case 0:
		read = zkconn.Exists
	case 1:
		w.kind, read = zkconn.WatchChildren, zkconn.List
	}
	w.watch = newKept(w.path, w.kind, w.tell)
	call := read(w.path, w.watch)
	err := h.conn.Do(h.Context(), 0, call)
	w.missing = call.Err != nil
	if err == nil && (!w.missing || call.Op == jute.OpExists) {
		h.watches = append(h.watches, w)
	}
}

// subscribe sets a persistent watch of a path, or gives it back.
func (h *keptHistory) subscribe() {
	path := h.path()
	if sub := h.subs[path]; sub != nil {
		delete(h.subs, path)
		h.conn.UnsubscribeAsync(sub)
		return
	}
	sub := zkconn.NewSubscription(path, h.rng.IntN(2) == 0, func(zkconn.WatchEvent) {})
	if h.conn.Subscribe(h.Context(), sub) == nil {
		h.subs[path] = sub
	}
}

// cut ends connections: at once, or when the watches are set again, before or behind that.
func (h *keptHistory) cut() {
	op, fate := "setWatches", curatortest.CutAfter()
	switch h.rng.IntN(6) {
	case 0:
		fate = curatortest.CutBefore()
	case 1:
		op = "sync" // which is answered ahead of the watches
	case 2, 3:
		op = ""
	}
	if op != "" {
		h.server.Inject(curatortest.Rule{Op: op, SessionID: h.id, Times: 1 + h.rng.IntN(2), Do: fate})
	}
	h.server.DisconnectSession(h.id)
	if h.rng.IntN(2) == 0 {
		synctest.Wait()
	}
}

// judge wants each watch to have told of a change, once, and of nothing else.
func (h *keptHistory) judge(seed uint64) {
	h.watches = slices.DeleteFunc(h.watches, func(w *keptWatch) bool {
		want := 0
		if w.changed && (!w.unsure || len(w.events) > 0) {
			want = 1
		}
		if len(w.events) != want || want == 1 && w.events[0] > zkconn.NodeChildrenChanged {
			h.Fatalf("seed %d: the watch of %s, kind %d, got %v; changed: %t", seed, w.path, w.kind, w.events, w.changed)
		}
		return w.changed
	})
}

// settle waits until the client is connected, has set its watches again and was told of what it has missed.
func (h *keptHistory) settle() {
	for quiet := 0; quiet < 3; quiet++ { // cuts may wait for the next connections
		time.Sleep(time.Second)
		if h.conn.Do(h.Context(), 0, exists("/")) != nil {
			quiet = 0
		}
		synctest.Wait()
	}
}

// Kept watches tell of each change once, however often the connection ends, and whatever else watches their
// nodes. Kept watches of one node at a time share the server's.
func TestKeptWatches(t *testing.T) {
	for seed := range uint64(300) {
		virtual(t, func(t *fixture) {
			t.open(nil)
			other := &fixture{T: t.T, server: t.server}
			other.open(nil)
			t.do(exists("/"))
			other.do(exists("/"))
			h := &keptHistory{
				fixture: t, other: other, rng: rand.New(rand.NewPCG(seed, 1)),
				exist: map[string]bool{}, subs: map[string]*zkconn.Subscription{},
			}
			h.id, _ = t.conn.Session()
			for range 40 {
				switch n := h.rng.IntN(20); {
				case n < 7:
					h.change()
				case n < 14:
					h.watch()
				case n < 16:
					h.subscribe()
				case n < 19:
					h.cut()
				default:
					h.settle()
					h.judge(seed)
				}
				if h.rng.IntN(2) == 0 {
					synctest.Wait()
				}
			}
			h.settle()
			h.judge(seed)
			if now, _ := t.conn.Session(); now != h.id {
				t.Fatalf("seed %d: another session", seed)
			}
		})
	}
}

// Kept watches end with the session and with the client, each with one event.
func TestKeptWatchesEnd(t *testing.T) {
	ends := map[string]struct {
		end  func(t *fixture)
		want zkconn.EventType
	}{
		"expired": {func(t *fixture) { id, _ := t.conn.Session(); t.server.ExpireSession(id) }, zkconn.WatchSessionLost},
		"expired without a connection": {func(t *fixture) {
			accept := t.server.Refuse()
			t.server.Disconnect()
			time.Sleep(2 * timeout)
			accept()
		}, zkconn.WatchSessionLost},
		"closed": {func(t *fixture) { _ = t.conn.Close(t.Context()) }, zkconn.WatchClosed},
		"closed without a connection": {func(t *fixture) {
			t.server.Refuse()
			t.server.Disconnect()
			_ = t.conn.Close(t.Context())
		}, zkconn.WatchClosed},
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				t.open(nil)
				var told []zkconn.WatchEvent
				note := func(e zkconn.WatchEvent) { told = append(told, e) }
				t.do(zkconn.List("/", newKept("/", zkconn.WatchChildren, note)),
					zkconn.Exists("/", newKept("/", zkconn.WatchData, note)))
				c.end(t)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if len(told) != 2 || told[0].Type != c.want || told[1].Type != c.want || told[0].Path != "/" {
					t.Fatalf("told %v", told)
				}
			})
		})
	}
}

// So many kept watches that they do not fit one request are set again in several, each small enough for
// every server.
func TestManyKeptWatches(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		made, _ := create("/n", 0)
		t.do(made)
		const n = 20_000
		told := 0
		for i := range n / 100 {
			var calls []*zkconn.Call
			for j := range 100 {
				path := fmt.Sprintf("/n/%0100d", 100*i+j)
				calls = append(calls, zkconn.Exists(path, newKept(path, zkconn.WatchData, func(zkconn.WatchEvent) { told++ })))
			}
			if err := t.conn.Do(t.Context(), 0, calls...); err != nil {
				t.Fatal(err)
			}
		}
		id, _ := t.conn.Session()
		t.server.DisconnectSession(id)
		synctest.Wait()
		t.do(exists("/"))
		if t.server.Watches() != n || t.conn.Watches() != n {
			t.Fatalf("%d watches at the server, %d here", t.server.Watches(), t.conn.Watches())
		}
		for _, i := range []int{0, n / 2, n - 1} {
			made, _ := create(fmt.Sprintf("/n/%0100d", i), 0)
			t.do(made)
		}
		synctest.Wait()
		if told != 3 {
			t.Fatalf("%d were told", told)
		}
	})
}

// keptOf sets a kept data watch of a path, and returns its call and what it tells.
func keptOf(path string) (*zkconn.Call, *keptWatch) {
	w := &keptWatch{path: path}
	w.watch = newKept(path, zkconn.WatchData, w.tell)
	return zkconn.GetData(path, w.watch), w
}

// besides is a client with a node, and another client that changes it.
func besides(t *fixture, change func(*zkconn.Config)) (other *fixture) {
	t.Helper()
	t.open(change)
	other = &fixture{T: t.T, server: t.server}
	other.open(nil)
	made, _ := create("/a", 0)
	t.do(made)
	other.do(exists("/a"))
	return other
}

func subscription() *zkconn.Subscription {
	return zkconn.NewSubscription("/a", false, func(zkconn.WatchEvent) {})
}

// A kept watch whose persistent watch is given back before its read is answered is set again, also if another persistent
// watch comes meanwhile.
func TestKeptWatchLosesItsServer(t *testing.T) {
	for _, another := range []bool{false, true} {
		virtual(t, func(t *fixture) {
			other := besides(t, nil)
			first := subscription()
			if err := t.conn.Subscribe(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			resume := t.server.Pause()
			read, w := keptOf("/a")
			done := make(chan error, 2)
			go func() { done <- t.conn.Do(t.Context(), 0, read) }()
			synctest.Wait()
			t.conn.UnsubscribeAsync(first)
			if another {
				t.server.Inject(curatortest.Rule{Op: "addWatch", Do: curatortest.Delay(time.Second)})
				go func() { done <- t.conn.Subscribe(t.Context(), subscription()) }()
			} else {
				done <- nil
			}
			synctest.Wait()
			resume()
			synctest.Wait()
			other.do(zkconn.SetData("/a", nil, -1))
			time.Sleep(2 * time.Second)
			synctest.Wait()
			for range 2 {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			if len(w.events) != 1 || w.events[0] != zkconn.NodeDataChanged {
				t.Errorf("another %t: told %v", another, w.events)
			}
		})
	}
}

// A kept watch whose persistent watch is given back while the connection is just beginning is not told of what its read has
// shown.
func TestKeptWatchOfYoungConnection(t *testing.T) {
	virtual(t, func(t *fixture) {
		other := besides(t, nil)
		sub := subscription()
		if err := t.conn.Subscribe(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
		read, w := keptOf("/a")
		t.do(read)
		t.server.Inject(curatortest.Rule{Op: "sync", Do: curatortest.Delay(time.Second)})
		id, _ := t.conn.Session()
		t.server.DisconnectSession(id)
		synctest.Wait()
		t.conn.UnsubscribeAsync(sub)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(w.events) != 0 {
			t.Fatalf("told %v", w.events)
		}
		other.do(zkconn.SetData("/a", nil, -1))
		synctest.Wait()
		if len(w.events) != 1 || w.events[0] != zkconn.NodeDataChanged {
			t.Errorf("told %v", w.events)
		}
	})
}

// A read whose answer is too large leaves no watch at the server, be it kept or not.
func TestWatchOfLargeAnswer(t *testing.T) {
	virtual(t, func(t *fixture) {
		_ = besides(t, func(cfg *zkconn.Config) { cfg.MaxReply = 1024 })
		t.do(zkconn.SetData("/a", make([]byte, 2000), -1))
		kept, w := keptOf("/a")
		plain, events := read("/a")
		if err := t.conn.Do(t.Context(), 0, kept, plain); err != nil || kept.Err == nil || plain.Err == nil {
			t.Fatal(err, kept.Err, plain.Err)
		}
		synctest.Wait()
		if t.server.Watches() != 0 || t.conn.Watches() != 0 || len(w.events)+len(events) != 0 {
			t.Errorf("%d watches at the server, %d here", t.server.Watches(), t.conn.Watches())
		}
	})
}
