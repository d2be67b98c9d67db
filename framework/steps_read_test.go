package framework_test

import (
	"context"
	"slices"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
)

var readSteps = map[string]check{
	"CheckExists": func(t bench) {
		if t.exists(t.path) {
			t.Fatal("it exists")
		}
		t.create(t.path)
		if !t.exists(t.path) || !t.exists("/") {
			t.Fatal("it does not exist")
		}
	},
	"CheckExists/StoringStatIn": func(t bench) {
		stat := framework.Stat{Version: 7}
		ok, err := t.c.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), t.path)
		if ok || err != nil || stat.Version != 7 {
			t.Fatalf("%t, %v, %+v", ok, err, stat)
		}
	},
	"CheckExists/UsingWatcher": func(t bench) {
		w, events := watch()
		_, err := t.c.CheckExists().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		t.create(t.path)
		t.event(events, framework.NodeCreated)
	},
	"GetData": func(t bench) {
		_, err := t.c.GetData().ForPath(t.Context(), t.path)
		t.want(err, framework.ErrNoNode)
	},
	"GetData/StoringStatIn": func(t bench) {
		t.create(t.path)
		var stat framework.Stat
		data, err := t.c.GetData().StoringStatIn(&stat).ForPath(t.Context(), t.path)
		if err != nil || string(data) != "test" || stat != t.stat(t.path) {
			t.Fatalf("%q, %v, %+v", data, err, stat)
		}
	},
	"GetData/UsingWatcher": testGetDataWatcher,
	"GetChildren": func(t bench) {
		_, err := t.c.GetChildren().ForPath(t.Context(), t.path)
		t.want(err, framework.ErrNoNode)
		t.create(t.path)
		t.create(t.path + "/b")
		t.create(t.path + "/a")
		names, err := t.c.GetChildren().ForPath(t.Context(), t.path)
		slices.Sort(names)
		if err != nil || !slices.Equal(names, []string{"a", "b"}) {
			t.Fatalf("%q, %v", names, err)
		}
	},
	"GetChildren/StoringStatIn": func(t bench) {
		t.create(t.path)
		t.create(t.path + "/a")
		var stat framework.Stat
		_, err := t.c.GetChildren().StoringStatIn(&stat).ForPath(t.Context(), t.path)
		if err != nil || stat != t.stat(t.path) || stat.NumChildren != 1 {
			t.Fatalf("%+v, %v", stat, err)
		}
	},
	"GetChildren/UsingWatcher": func(t bench) {
		t.create(t.path)
		w, events := watch()
		_, err := t.c.GetChildren().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		t.create(t.path + "/a")
		t.event(events, framework.NodeChildrenChanged)
	},
	"CheckExists/CreatingParentsIfNeeded":          testCheckExistsParents,
	"CheckExists/CreatingParentContainersIfNeeded": testCheckExistsContainers,
	"CheckExists/WithACL":                          testCheckExistsACL,
	"CheckExists/Watched": func(t bench) {
		t.watched(func() error {
			_, err := t.c.CheckExists().Watched().ForPath(t.Context(), t.path)
			return err
		}, func() { t.create(t.path) }, framework.NodeCreated)
	},
	"GetData/Watched": func(t bench) {
		_, err := t.c.GetData().Watched().ForPath(t.Context(), t.path) // sets nothing
		t.want(err, framework.ErrNoNode)
		t.create(t.path)
		t.watched(func() error {
			_, err := t.c.GetData().Watched().ForPath(t.Context(), t.path)
			return err
		}, func() { t.set(t.path, "x") }, framework.NodeDataChanged)
	},
	"GetChildren/Watched": func(t bench) {
		t.create(t.path)
		t.watched(func() error {
			_, err := t.c.GetChildren().Watched().ForPath(t.Context(), t.path)
			return err
		}, func() { t.set(t.path, "x"); t.create(t.path + "/a") }, framework.NodeChildrenChanged)
	},
	"GetData/Decompressed":   testGetDataDecompressed,
	"GetData/Undecompressed": testGetDataUndecompressed,
	"GetACL":                 testGetACL,
	"GetACL/StoringStatIn": func(t bench) {
		t.create(t.path)
		stat := framework.Stat{Version: 7}
		_, err := t.c.GetACL().StoringStatIn(&stat).ForPath(t.Context(), t.path+"x")
		if t.want(err, framework.ErrNoNode); stat.Version != 7 {
			t.Fatalf("%+v", stat)
		}
		_, err = t.c.GetACL().StoringStatIn(&stat).ForPath(t.Context(), t.path)
		if err != nil || stat != t.stat(t.path) {
			t.Fatalf("%+v, %v", stat, err)
		}
	},
	"Sync": func(t bench) {
		t.ok(t.c.Sync().ForPath(t.Context(), t.path)) // it need not exist
		if n := t.network.Requests(jute.OpSync); n != 1 {
			t.Fatalf("%d requests", n)
		}
		t.want(t.c.Sync().ForPath(t.Context(), "relative"), framework.ErrInvalidPath)
	},
}

// watched shows that one event, and no more, goes to the listeners of this client alone.
func (t bench) watched(read func() error, change func(), want framework.EventType) {
	t.Helper()
	other, _ := t.b.Client(t.T)
	events, others := make(chan framework.Event, 16), make(chan framework.Event, 16)
	t.c.CuratorListenable().Add(func(_ context.Context, e framework.Event) { events <- e })
	other.CuratorListenable().Add(func(_ context.Context, e framework.Event) { others <- e })
	for range 3 {
		t.ok(read())
	}
	change()
	e := <-events
	if e.Op != "watched" || e.Path != t.path || e.Err != nil || e.Watched == nil || e.Watched.Type != want || e.Watched.Path != t.path {
		t.Fatalf("event %+v, %+v", e, e.Watched)
	}
	t.set(t.path, "once more") // the watch is over
	t.ok(t.c.Close(context.WithoutCancel(t.Context())))
	t.ok(other.Close(context.WithoutCancel(t.Context())))
	for _, ch := range []chan framework.Event{events, others} {
		if e := <-ch; e.Op != "closing" || len(ch) > 0 {
			t.Fatalf("another event %+v", e)
		}
	}
}

func testCheckExistsParents(t bench) {
	ok, err := t.c.CheckExists().CreatingParentsIfNeeded().ForPath(t.Context(), t.path+"/a/b")
	if ok || err != nil {
		t.Fatal(ok, err)
	}
	if t.exists(t.path+"/a/b") || t.stat(t.path+"/a").DataLength != 0 || t.network.Requests(jute.OpCreateContainer) != 0 {
		t.Fatal("not the parents, and they alone")
	}
	t.create(t.path + "/a/b")
	ok, err = t.c.CheckExists().CreatingParentsIfNeeded().ForPath(t.Context(), t.path+"/a/b")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	// A watch is set only if the parents were made, too.
	_, err = t.c.Create().WithACL(readOnly...).ForPath(t.Context(), t.path+"/closed")
	t.ok(err)
	w, events := watch()
	_, err = t.c.CheckExists().CreatingParentsIfNeeded().UsingWatcher(w).ForPath(t.Context(), t.path+"/closed/x/y")
	t.want(err, framework.ErrNoAuth)
	t.want(t.c.Watches().Remove().ForPath(t.Context(), t.path+"/closed/x/y", w), framework.ErrNoWatcher)
	t.silent(events)
}

func testCheckExistsContainers(t bench) {
	ok, err := t.c.CheckExists().CreatingParentContainersIfNeeded().ForPath(t.Context(), t.path+"/a/b")
	if ok || err != nil || t.exists(t.path+"/a/b") || !t.exists(t.path+"/a") {
		t.Fatal(ok, err)
	}
	if n := t.network.Requests(jute.OpCreateContainer); n != 2 {
		t.Fatalf("%d containers were created", n)
	}
	_, err = t.c.CheckExists().CreatingParentContainersIfNeeded().CreatingParentsIfNeeded().ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
}

func testCheckExistsACL(t bench) {
	noWrite := []framework.ACL{{Perms: framework.PermAll &^ framework.PermWrite, Scheme: "world", ID: "anyone"}}
	check := t.c.CheckExists().WithACL(noWrite...)
	_, err := check.CreatingParentsIfNeeded().ForPath(t.Context(), t.path+"/a/b")
	t.ok(err)
	for _, path := range []string{t.path, t.path + "/a"} {
		acl, err := t.c.GetACL().ForPath(t.Context(), path)
		if err != nil || !slices.Equal(acl, noWrite) {
			t.Fatalf("%s: %v, %v", path, acl, err)
		}
	}
	_, err = check.ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
	_, err = check.WithACL().CreatingParentsIfNeeded().ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
	// The nodes of a namespace are others', too.
	root := t.path + "ns"
	view := t.c.UsingNamespace(root[1:])
	_, err = view.CheckExists().WithACL(noWrite...).CreatingParentsIfNeeded().ForPath(t.Context(), "/a/b")
	t.ok(err)
	acl, err := t.c.GetACL().ForPath(t.Context(), root)
	if err != nil || !slices.Equal(acl, framework.OpenACLUnsafe()) {
		t.Fatalf("the namespace has %v, %v", acl, err)
	}
}

func testGetDataDecompressed(t bench) {
	_, err := t.c.Create().Compressed().WithData([]byte("abc")).ForPath(t.Context(), t.path)
	t.ok(err)
	var stat framework.Stat
	data, err := t.c.GetData().Decompressed().StoringStatIn(&stat).ForPath(t.Context(), t.path)
	if err != nil || string(data) != "abc" || int(stat.DataLength) != len(t.data(t.path)) {
		t.Fatalf("%q, %v, %+v", data, err, stat)
	}
	// What cannot be decompressed is an error, and the watch is set.
	t.set(t.path, "plain")
	w, events := watch()
	stat = framework.Stat{Version: 7}
	data, err = t.c.GetData().Decompressed().StoringStatIn(&stat).UsingWatcher(w).ForPath(t.Context(), t.path)
	if t.want(err, framework.ErrDecompress); data != nil || stat.Version != 7 || framework.Retryable(err) {
		t.Fatalf("%q, %+v, %v", data, stat, err)
	}
	t.set(t.path, "other")
	t.event(events, framework.NodeDataChanged)
}

func testGetDataUndecompressed(t bench) {
	packing, _ := t.b.Client(t.T, framework.WithCompression())
	_, err := packing.Create().WithData([]byte("abc")).ForPath(t.Context(), t.path)
	t.ok(err)
	data, err := packing.GetData().Undecompressed().ForPath(t.Context(), t.path)
	if err != nil || !strings.HasPrefix(string(data), gzipMagic) {
		t.Fatalf("%q, %v", data, err)
	}
	if data, err = packing.GetData().ForPath(t.Context(), t.path); err != nil || string(data) != "abc" {
		t.Fatalf("%q, %v", data, err)
	}
	_, err = packing.GetData().Undecompressed().Decompressed().ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
}

func testGetACL(t bench) {
	_, err := t.c.GetACL().ForPath(t.Context(), t.path)
	t.want(err, framework.ErrNoNode)
	owner, _ := t.b.Client(t.T, framework.WithAuthorization("digest", []byte("user:password")))
	acl := append(framework.CreatorAllACL(), framework.ACL{Perms: framework.PermRead, Scheme: "world", ID: "anyone"})
	_, err = owner.Create().WithACL(acl...).ForPath(t.Context(), t.path)
	t.ok(err)
	for c, id := range map[*framework.Client]string{owner: "user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY=", t.c: "user:x"} {
		got, err := c.GetACL().ForPath(t.Context(), t.path)
		if err != nil || len(got) != 2 || got[0] != (framework.ACL{Perms: framework.PermAll, Scheme: "digest", ID: id}) || got[1] != acl[1] {
			t.Fatalf("%v, %v", got, err)
		}
	}
	_, err = owner.SetACL().ForPath(t.Context(), t.path, framework.CreatorAllACL())
	t.ok(err)
	_, err = t.c.GetACL().ForPath(t.Context(), t.path)
	t.want(err, framework.ErrNoAuth)
}

func testGetDataWatcher(t bench) {
	t.create(t.path)
	w, events := watch()
	for range 3 { // however often it is set, it is told once
		_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
	}
	_, err := t.c.SetData().ForPath(t.Context(), t.path, nil)
	t.ok(err)
	t.event(events, framework.NodeDataChanged)
	_, err = t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
	t.ok(err)
	t.network.Cut()
	t.event(events, framework.WatchReset)
	_, err = t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
	t.ok(err)
	t.ok(t.c.Delete().ForPath(t.Context(), t.path))
	t.event(events, framework.NodeDeleted)
	_, err = t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
	t.want(err, framework.ErrNoNode) // and no watch is set
	t.create(t.path)
	if len(events) > 0 {
		t.Fatalf("another event: %+v", <-events)
	}
}
