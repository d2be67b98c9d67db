package ui_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
	"github.com/go-curator/curator/tools/curator/internal/ui/model"
	"github.com/go-curator/curator/tools/curator/internal/view"
	"github.com/go-curator/curator/tools/curatortest"
)

// directory is a node, and what the command line and the page say of it.
type directory struct {
	nodes string // below it, in the order of their creation; @ and the number of the session that owns one
	kind  string // on the command line; "" for no lock that is held or waited for, "refused" for one that no client takes
	page  model.Kind
	// Names. Whatever is in none of the three is foreign, or the parent of others.
	holders, waiters, undecided string
	foreign                     string
}

// directories has the states of locks.
var directories = map[string]directory{
	"nothing":       {},
	"other nodes":   {nodes: "notes a-lock-1 leases-1", foreign: "a-lock-1 leases-1 notes"},
	"a mutex":       {nodes: "b-lock-0000000001@1 a-lock-0000000002@2", kind: "mutex", page: model.Lock, holders: "b-lock-0000000001", waiters: "a-lock-0000000002"},
	"foreign nodes": {nodes: "b-lock-0000000001@1 notes a-lock-1 c-lease-0000000000@2", kind: "mutex", page: model.Lock, holders: "b-lock-0000000001", foreign: "a-lock-1 c-lease-0000000000 notes"},
	"a latch":       {nodes: "a-latch-0000000000@1 b-latch-0000000001@2", kind: "latch", page: model.Election, holders: "a-latch-0000000000", waiters: "b-latch-0000000001"},
	"readers": {
		nodes: "a-__READ__0000000001@1 b-__READ__0000000002@2 c-__WRIT__0000000003@3 d-__READ__0000000004@4", kind: "read-write", page: model.ReadWrite,
		holders: "a-__READ__0000000001 b-__READ__0000000002", waiters: "c-__WRIT__0000000003 d-__READ__0000000004",
	},
	"a downgraded writer": {
		nodes: "z-__WRIT__0000000001@1 a-__READ__0000000001@1 b-__READ__0000000002@2", kind: "read-write", page: model.ReadWrite,
		holders: "a-__READ__0000000001 z-__WRIT__0000000001", waiters: "b-__READ__0000000002",
	},
	"a lock of kazoo": {nodes: "a__lock__0000000001@1", page: model.Unclear, foreign: "a__lock__0000000001"},
	"two kinds":       {nodes: "a-lock-0000000001@1 b-latch-0000000002@2", kind: "refused", page: model.Unclear, foreign: "a-lock-0000000001 b-latch-0000000002"},

	"leases": {nodes: "leases leases/a-lease-0000000000@1 leases/b-lease-0000000001@2 locks", kind: "semaphore-v2", page: model.Semaphore, holders: "a-lease-0000000000 b-lease-0000000001"},
	"a contender without a lease": {
		nodes: "leases leases/a-lease-0000000000@1 locks locks/x-lock-0000000007@2", kind: "semaphore-v2", page: model.Semaphore,
		holders: "a-lease-0000000000", waiters: "x-lock-0000000007",
	},
	"a lease that is being taken": {
		nodes: "leases leases/a-lease-0000000000@1 locks locks/x-lock-0000000007@2 leases/b-lease-0000000001@2", kind: "semaphore-v2", page: model.Semaphore,
		holders: "a-lease-0000000000", waiters: "x-lock-0000000007", undecided: "b-lease-0000000001",
	},
	"the first lease": {
		nodes: "leases locks locks/x-lock-0000000000@1 leases/a-lease-0000000000@1", kind: "semaphore-v2", page: model.Semaphore,
		waiters: "x-lock-0000000000", undecided: "a-lease-0000000000",
	},
	"others behind it": {
		nodes: "leases leases/a-lease-0000000000@1 locks locks/z-lock-0000000006@2 locks/y-lock-0000000008@4 locks/x-lock-0000000007@3 leases/b-lease-0000000001@2",
		kind:  "semaphore-v2", page: model.Semaphore, holders: "a-lease-0000000000", waiters: "z-lock-0000000006 x-lock-0000000007 y-lock-0000000008", undecided: "b-lease-0000000001",
	},
	"a holder that takes another lease": {
		nodes: "leases leases/a-lease-0000000000@1 locks locks/x-lock-0000000007@1 leases/b-lease-0000000001@1", kind: "semaphore-v2", page: model.Semaphore,
		holders: "a-lease-0000000000", waiters: "x-lock-0000000007", undecided: "b-lease-0000000001",
	},
	"a holder that waits for the mutex": {
		nodes: "leases leases/a-lease-0000000000@1 locks locks/x-lock-0000000007@1", kind: "semaphore-v2", page: model.Semaphore,
		holders: "a-lease-0000000000", waiters: "x-lock-0000000007",
	},
	"several leases at once": {
		nodes: "leases locks locks/x-lock-0000000007@1 leases/a-lease-0000000000@1 leases/b-lease-0000000001@1", kind: "semaphore-v2", page: model.Semaphore,
		holders: "a-lease-0000000000", waiters: "x-lock-0000000007", undecided: "b-lease-0000000001",
	},
	"the counter has wrapped around": {
		nodes: "leases leases/a-lease-2147483647@1 locks locks/x-lock-0000000007@2 leases/b-lease--2147483648@2", kind: "semaphore-v2", page: model.Semaphore,
		holders: "a-lease-2147483647", waiters: "x-lock-0000000007", undecided: "b-lease--2147483648",
	},
	"leases of any name": {
		nodes: "leases leases/a-lease-0000000000@1 leases/mine@3 leases/yours locks locks/notes", kind: "semaphore-v2", page: model.Semaphore,
		holders: "a-lease-0000000000 mine yours", foreign: "notes",
	},
	"foreign nodes of a semaphore": {
		nodes: "leases leases/a-lease-0000000000@1 locks locks/x__lock__0000000000@2 locks/y-latch-0000000001@3 notes", kind: "semaphore-v2", page: model.Semaphore,
		holders: "a-lease-0000000000", foreign: "notes x__lock__0000000000 y-latch-0000000001",
	},
	"a free semaphore":               {nodes: "leases locks", page: model.Semaphore},
	"folders of a semaphore's names": {nodes: "leases leases/car locks locks/a", foreign: "a car"},
	"a folder named locks":           {nodes: "locks locks/a", foreign: "a"},
	"a mutex with such a folder":     {nodes: "a-lock-0000000001@1 locks", kind: "refused", page: model.Unclear, foreign: "a-lock-0000000001"},
	"a mutex and a semaphore": {
		nodes: "a-lock-0000000001@1 leases leases/b-lease-0000000000@2 locks", kind: "refused", page: model.Unclear, foreign: "a-lock-0000000001 b-lease-0000000000",
	},
}

// TestUndecided takes leases of a semaphore, and looks whether those that are undecided are found out.
func TestUndecided(t *testing.T) {
	for what, c := range map[string]struct {
		after func(t *testing.T, client *framework.Client) // a quarter of a second after the first look
		holds bool
		took  time.Duration
	}{
		"it is granted":  {func(t *testing.T, c *framework.Client) { remove(t, c, "/s/locks/x-lock-0000000000") }, true, 250 * time.Millisecond},
		"it is given up": {func(t *testing.T, c *framework.Client) { remove(t, c, "/s/leases/a-lease-0000000000") }, false, 250 * time.Millisecond},
		"it waits":       {func(*testing.T, *framework.Client) {}, false, time.Second},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := curatortest.Start(t, curatortest.Virtual())
				client, looker := server.Client(t), server.Client(t)
				takeLease(t, client)
				lock, err := view.LockAt(t.Context(), looker, "/s")
				if err != nil || lock.Undecided == nil {
					t.Fatalf("%+v, %v", lock, err)
				}
				token, begun := lock.Undecided.Token, time.Now()
				if _, err := view.DecidedLock(t.Context(), looker, "/s", token+1); err != nil || time.Since(begun) > 0 {
					t.Errorf("the look at another lease took %v, %v", time.Since(begun), err)
				}
				defer later(250*time.Millisecond, func() { c.after(t, client) })()
				lock, err = view.DecidedLock(t.Context(), looker, "/s", token)
				if err != nil || (len(lock.Holders) == 1 && lock.Holders[0].Token == token) != c.holds {
					t.Errorf("%+v, %v", lock, err)
				}
				if took := time.Since(begun); took < c.took || took > c.took+lookPause {
					t.Errorf("it took %v, want %v", took, c.took)
				}
			})
		})
	}
}

// takeLease makes the nodes of a client that is taking a lease.
func takeLease(t *testing.T, client *framework.Client) {
	t.Helper()
	for _, name := range []string{"", "/leases", "/locks"} {
		create(t, client, "/s"+name, framework.Persistent)
	}
	create(t, client, "/s/locks/x-lock-0000000000", framework.Ephemeral)
	create(t, client, "/s/leases/a-lease-0000000000", framework.Ephemeral)
}

// A waiter that gives up between two requests of a look was no holder.
func TestGivenUpMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client, looker := server.Client(t), server.Client(t)
		takeLease(t, client)
		server.Inject(curatortest.Rule{Op: "getData", Path: "/s/leases/a-lease-0000000000", Do: curatortest.Delay(time.Second)})
		defer later(time.Second/2, func() {
			remove(t, client, "/s/leases/a-lease-0000000000")
			remove(t, client, "/s/locks/x-lock-0000000000")
		})()
		lock, err := view.LockAt(t.Context(), looker, "/s")
		if err != nil || len(lock.Holders)+len(lock.Waiters) > 0 {
			t.Errorf("%+v, %v", lock, err)
		}
	})
}

// later calls fn after a time. wait returns when fn has returned: what it sees must not be that the test has ended.
func later(d time.Duration, fn func()) (wait func()) {
	done := make(chan struct{})
	time.AfterFunc(d, func() {
		defer close(done)
		fn()
	})
	return func() { <-done }
}

// lookPause is at least the pause between two looks.
const lookPause = 60 * time.Millisecond

func create(t *testing.T, client *framework.Client, path string, mode framework.CreateMode) {
	t.Helper()
	if _, err := client.Create().WithMode(mode).ForPath(t.Context(), path); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, client *framework.Client, path string) {
	if err := client.Delete().ForPath(t.Context(), path); err != nil {
		t.Error(err)
	}
}

// TestHoldersOfSemaphore compares the command line and the page with who really holds a semaphore, while
// clients come and go.
func TestHoldersOfSemaphore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		follower, looker := following(t, server), server.Client(t)
		ctx, cancel := context.WithCancel(t.Context())
		var users sync.WaitGroup
		var mu sync.Mutex
		held := map[string]bool{} // the nodes of the leases
		for i := range 5 {
			semaphore, err := locks.NewInterProcessSemaphoreV2(server.Client(t), "/s", 2)
			if err != nil {
				t.Fatal(err)
			}
			users.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(i)))
				for wait.For(ctx, time.Duration(random.Int64N(int64(2*time.Second)))) == nil {
					lease, err := semaphore.Acquire(ctx)
					if err != nil {
						return
					}
					note := func(holds bool) {
						mu.Lock()
						defer mu.Unlock()
						held[path.Base(lease.Path())] = holds
					}
					note(true)
					_ = wait.For(ctx, time.Duration(random.Int64N(int64(2*time.Second)))) // also at the end it is released
					note(false)
					if err := lease.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		full := 0
		for range 100 {
			time.Sleep(333 * time.Millisecond)
			synctest.Wait()
			mu.Lock()
			holders := slices.DeleteFunc(slices.Sorted(maps.Keys(held)), func(node string) bool { return !held[node] })
			mu.Unlock()
			byNumber := func(a, b string) int { return strings.Compare(a[len(a)-10:], b[len(b)-10:]) }
			slices.SortFunc(holders, byNumber)
			want := strings.Join(holders, " ")
			shown := onCommandLine(t, looker, "/s", nil)
			if page := onPage(follower, "/s", nil); shown.holders != want || page.holders != want || shown.waiters != page.waiters {
				t.Errorf("the holders are %q, the command line shows %+v, the page %+v", want, shown, page)
			}
			if len(holders) == 2 && shown.undecided != "" {
				full++
			}
		}
		cancel()
		users.Wait()
		if full < 10 {
			t.Errorf("it was full, with a waiter, %d times", full)
		}
	})
}

// verdicts is what a view shows of a directory.
type verdicts struct{ kind, holders, waiters, undecided, rest string }

// TestDirectories checks that the command line and the page agree about each directory.
func TestDirectories(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		follower := following(t, server)
		client := server.Client(t)
		sessions := map[string]*framework.Client{"": client}
		for i := range 4 {
			sessions[fmt.Sprint(i+1)] = server.Client(t)
		}
		for what, d := range directories {
			at := "/" + strings.ReplaceAll(what, " ", "-")
			var made []string
			create(t, client, at, framework.Persistent)
			for line := range strings.FieldsSeq(d.nodes) {
				name, session, _ := strings.Cut(line, "@")
				mode := framework.Persistent
				if session != "" {
					mode = framework.Ephemeral
				}
				create(t, sessions[session], at+"/"+name, mode)
				if !slices.Contains([]string{"leases", "locks"}, name) {
					made = append(made, path.Base(name))
				}
			}
			slices.Sort(made)
			if got, want := onCommandLine(t, client, at, made), d.wanted(d.kind); got != want {
				t.Errorf("%s: the command line shows %+v, want %+v", what, got, want)
			}
			synctest.Wait()
			if got, want := onPage(follower, at, made), d.wanted(string(d.page)).without(); got != want {
				t.Errorf("%s: the page shows %+v, want %+v", what, got, want)
			}
			begun := time.Now()
			if _, err := view.DecidedLock(t.Context(), client, at, 0); (err != nil) != (d.kind == "refused") {
				t.Errorf("%s: %v", what, err)
			}
			if took := time.Since(begun); (took > time.Second-100*time.Millisecond) != (d.undecided != "") || took > 1100*time.Millisecond {
				t.Errorf("%s: the look took %v", what, took)
			}
		}
	})
}

// following follows the tree of a server as the page does.
func following(t *testing.T, server *curatortest.Server) *follow.Follower {
	f := follow.New(follow.Config{Client: server.Client(t), Root: "/"})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return f
}

func (d directory) wanted(kind string) verdicts {
	return verdicts{kind, d.holders, d.waiters, d.undecided, d.foreign}
}

// without returns verdicts of a view that shows no lease that is undecided.
func (v verdicts) without() verdicts {
	rest := strings.Fields(v.rest + " " + v.undecided)
	slices.Sort(rest)
	v.undecided, v.rest = "", strings.Join(rest, " ")
	return v
}

// see returns verdicts. made has the names of all nodes.
func see(kind string, holders, waiters, undecided, made []string) verdicts {
	rest := slices.DeleteFunc(slices.Clone(made), func(name string) bool {
		return slices.Contains(slices.Concat(holders, waiters, undecided), name)
	})
	text := func(names []string) string { return strings.Join(names, " ") }
	return verdicts{kind, text(holders), text(waiters), text(undecided), text(rest)}
}

// onCommandLine returns what curator locks shows of the lock at a path, which is also what curator verify
// and curator break take for the lock.
func onCommandLine(t *testing.T, client *framework.Client, at string, made []string) verdicts {
	t.Helper()
	list, err := view.Locks(t.Context(), client, at)
	if err != nil {
		t.Fatal(err)
	}
	of, err := view.LockAt(t.Context(), client, at)
	list = slices.DeleteFunc(list, func(l view.Lock) bool { return l.Path != at })
	switch {
	case len(list) == 1 && list[0].Error != "":
		if err == nil {
			t.Errorf("%s is %+v", at, of)
		}
		return see("refused", nil, nil, nil, made)
	case err != nil:
		t.Fatal(err)
	case len(list) == 0:
		if of != nil && len(of.Holders)+len(of.Waiters) > 0 {
			t.Errorf("%s is %+v", at, of)
		}
		return see("", nil, nil, nil, made)
	}
	if fmt.Sprint(of.Holders, of.Waiters) != fmt.Sprint(list[0].Holders, list[0].Waiters) {
		t.Errorf("%s is %+v, and %+v", at, of, list[0])
	}
	names := func(list []view.Contender) (names []string) {
		for _, c := range list {
			names = append(names, path.Base(c.Node))
		}
		return names
	}
	var undecided []view.Contender
	if of.Undecided != nil {
		undecided = append(undecided, *of.Undecided)
	}
	return see(of.Kind, names(of.Holders), names(of.Waiters), names(undecided), made)
}

func onPage(f *follow.Follower, at string, made []string) verdicts {
	r, _ := f.Recipe(at, 0, 100)
	names := func(list []model.Contender) (names []string) {
		for _, c := range list {
			names = append(names, path.Base(c.Node))
		}
		return names
	}
	return see(string(r.Kind), names(r.Holders), names(r.Waiters), nil, made)
}
