package watchset_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a client with the nodes /a and /b, and a set.
type fixture struct {
	t      *testing.T
	server *curatortest.Server
	client *framework.Client
	conn   *zkconn.Conn
	set    *watchset.Set
}

var (
	dataOfA  = watchset.Want{Path: "/a", Tag: 1}
	dataOfB  = watchset.Want{Path: "/b", Tag: 2}
	missingC = watchset.Want{Path: "/c", Kind: watchset.Exists, Tag: 3}
	children = watchset.Want{Path: "/a", Kind: watchset.Children, Tag: 4}
)

func virtual(t *testing.T, test func(f *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, server: curatortest.Start(t, curatortest.Virtual()), set: watchset.New()}
		f.client = f.server.Client(t)
		f.create("/a")
		f.create("/b")
		conn, err := zkclient.Of(f.client).Conn()
		if err != nil {
			t.Fatal(err)
		}
		f.conn = conn
		test(f)
		f.set.Close(conn, nil)
		synctest.Wait()
		if n := f.server.Watches(); n != 0 {
			t.Errorf("%d watches are left at the server", n)
		}
	})
}

func (f *fixture) create(path string) {
	f.t.Helper()
	if _, err := f.client.Create().ForPath(f.t.Context(), path); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) delete(path string) {
	f.t.Helper()
	if err := f.client.Delete().ForPath(f.t.Context(), path); err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
}

// read arms the set by reading, and returns the paths that were read.
func (f *fixture) read(wants ...watchset.Want) (paths []string) {
	f.t.Helper()
	reads, idle := f.set.ArmByReading(wants)
	for _, w := range idle {
		f.conn.Unwatch(&w.Watch)
	}
	for _, r := range reads {
		if err := f.conn.Do(f.t.Context(), 0, r.Call); err != nil {
			f.t.Fatal(err)
		}
		f.set.Keep(r, r.Call.Err == nil || r.Kind == watchset.Exists && errors.Is(r.Call.Err, framework.ErrNoNode))
		paths = append(paths, r.Want.Path)
	}
	synctest.Wait()
	return paths
}

// woken reports whether the set has woken its goroutine since the last call.
func (f *fixture) woken() bool {
	select {
	case <-f.set.C():
		return true
	default:
		return false
	}
}

// Whichever watch fires wakes the goroutine, and only that one has fired.
func TestFires(t *testing.T) {
	for tag, change := range map[int8]func(f *fixture){
		dataOfA.Tag:  func(f *fixture) { _, _ = f.client.SetData().ForPath(f.t.Context(), "/a", []byte("new")) },
		dataOfB.Tag:  func(f *fixture) { f.delete("/b") },
		missingC.Tag: func(f *fixture) { f.create("/c") },
		children.Tag: func(f *fixture) { f.create("/a/child") },
	} {
		virtual(t, func(f *fixture) {
			f.read(dataOfA, dataOfB, missingC, children)
			if f.woken() || f.set.AnyFired() {
				t.Fatal("woken before anything changed")
			}
			change(f)
			synctest.Wait()
			if !f.woken() || !f.set.AnyFired() {
				t.Errorf("tag %d: not woken", tag)
			}
			for w := range f.set.Backward() {
				if fired := w.Fired() != 0; fired != (w.Tag == tag) {
					t.Errorf("tag %d: the watch with tag %d has fired: %v", tag, w.Tag, fired)
				}
			}
		})
	}
}

// Watches that are silent and still wanted are kept, those that have fired are set again, and
// those that are not wanted any more are given back.
func TestArmedAgain(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.read(dataOfA, missingC)
		f.create("/c")
		synctest.Wait()
		if paths := f.read(dataOfA, dataOfB); len(paths) != 1 || paths[0] != "/b" {
			t.Errorf("read %q, want /b only", paths)
		}
		if n := f.server.Watches(); n != 2 {
			t.Errorf("%d watches, want those of /a and /b", n)
		}
	})
}

// A read that fails leaves no watch in the set.
func TestNotKept(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.delete("/b")
		f.read(dataOfB)
		if f.set.Take(dataOfB.Tag) != nil {
			t.Error("a watch that the server does not have")
		}
	})
}

// One request sets all watches. What is not as it should be fires before the reply.
func TestArmedTogether(t *testing.T) {
	virtual(t, func(f *fixture) {
		var stat framework.Stat
		if _, err := f.client.GetData().StoringStatIn(&stat).ForPath(f.t.Context(), "/b"); err != nil {
			t.Fatal(err)
		}
		f.delete("/a")
		if err := f.conn.Do(f.t.Context(), 0, f.set.ArmTogether([]watchset.Want{dataOfA, dataOfB, missingC}, stat.Czxid)); err != nil {
			t.Fatal(err)
		}
		for w := range f.set.Backward() {
			if fired := w.Fired() == zkconn.NodeDeleted; fired != (w.Tag == dataOfA.Tag) {
				t.Errorf("%s has fired: %v", w.Want.Path, w.Fired())
			}
		}
	})
}

// A watch that is handed to somebody else tells its new owner, also if it has fired before.
func TestHandTo(t *testing.T) {
	for _, early := range []bool{false, true} {
		virtual(t, func(f *fixture) {
			f.read(dataOfA, dataOfB)
			own := f.set.Take(dataOfA.Tag)
			if early {
				f.delete("/a")
				f.woken()
			}
			told := make(chan zkconn.WatchEvent, 2)
			if fired := own.HandTo(func(e zkconn.WatchEvent) { told <- e }); fired != early {
				t.Errorf("fired %v, want %v", fired, early)
			}
			if !early {
				f.delete("/a")
			}
			synctest.Wait()
			if len(told) != 1 || (<-told).Type != zkconn.NodeDeleted {
				t.Error("the new owner was not told, or twice")
			}
			if f.woken() {
				t.Error("the former owner was woken")
			}
		})
	}
}

// After the end of the session all watches have fired.
func TestSessionEnds(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.read(dataOfA, missingC)
		f.server.ExpireSession(f.client.SessionID())
		time.Sleep(time.Second) // the client connects again, and learns of it
		if !f.woken() {
			t.Error("not woken")
		}
		for w := range f.set.Backward() {
			if w.Fired() == 0 {
				t.Errorf("%s has not fired", w.Want.Path)
			}
		}
		if f.set.OnlyReset() {
			t.Error("the watches could be set together again")
		}
	})
}
