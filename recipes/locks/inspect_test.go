package locks_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

// look inspects the lock, and wants these nodes in this order.
func (e *env) look(kind string, holders, waiters []string) *locks.Inspection {
	e.t.Helper()
	i := suite.Got(locks.Inspect(e.t.Context(), e.observer, e.path)).OK(e.t)
	paths := func(all []locks.Contender) (paths []string) {
		for _, c := range all {
			paths = append(paths, c.Path)
		}
		return paths
	}
	if i.Path != e.path || i.Kind != kind || !slices.Equal(paths(i.Holders), holders) || !slices.Equal(paths(i.Waiters), waiters) {
		e.t.Fatalf("%q %q: held by %q, waited for by %q; want %q, %q and %q", i.Path, i.Kind, paths(i.Holders), paths(i.Waiters), kind, holders, waiters)
	}
	return i
}

// Who holds a read-write lock, and who waits, is told by the rules of each side.
func TestInspectReadWrite(t *testing.T) {
	onRW(t, withRealServer, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		e.look("", nil, nil)
		before := time.Now()
		write := e.acquire(rw.WriteLock())
		reader := e.queue(t.Context(), e.otherRW().ReadLock(), 2)
		node := func(i int) string { return e.path + "/" + e.nodes()[i] }
		holder := e.look("read-write", []string{write.Path()}, []string{node(1)}).Holders[0]
		if holder.Token != write.Token() || holder.SessionID != e.client.SessionID() || e.b.Virtual && holder.Since.Before(before.Truncate(time.Millisecond)) {
			t.Errorf("the holder is %+v", holder)
		}
		e.release(write)
		read := e.granted(reader)
		second := e.acquire(rw.ReadLock())
		writer := e.queue(t.Context(), e.otherRW().WriteLock(), 3)
		last := e.queue(t.Context(), e.otherRW().ReadLock(), 4)
		e.look("read-write", []string{read.Path(), second.Path()}, []string{node(2), node(3)})
		e.release(read)
		e.release(second)
		e.release(e.granted(writer))
		e.release(e.granted(last))
	})
}

// A downgraded reader holds the lock beside the writer that it was, while that is there.
func TestInspectDowngrade(t *testing.T) {
	onRW(t, suite.InVirtualTime, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		for range 8 { // which of the two sorts before the other is chance
			write := e.acquire(rw.WriteLock())
			read := e.acquireFrom(write.Context(), rw.ReadLock())
			i, err := locks.Inspect(t.Context(), e.observer, e.path)
			if err != nil || len(i.Waiters) != 0 || len(i.Holders) != 2 {
				t.Errorf("%+v, %v", i, err)
			}
			e.release(write)
			e.look("read-write", []string{read.Path()}, nil)
			e.release(read)
		}
	})
}

// Of a semaphore in Java's layout the leases are the holders, one of whom may wait still, and
// those at the mutex the waiters.
func TestInspectSemaphoreV2(t *testing.T) {
	onLeased(t, 2, func(e *leasedEnv) {
		e.look("semaphore-v2", nil, nil)
		all := e.full()
		waiting := e.wait(e.soon(), e.semaphore)
		below := func(dir string) (paths []string) {
			for _, name := range e.below(dir) {
				paths = append(paths, e.path+"/"+dir+"/"+name)
			}
			return paths
		}
		i := e.look("semaphore-v2", below("leases"), below("locks"))
		if i.Holders[1].Token != all.Parts()[1].Token() || i.Waiters[0].SessionID != e.client.SessionID() {
			e.t.Errorf("%+v", i)
		}
		e.release(all)
		e.release(e.granted(waiting))
		e.intact()
	})
}

// What is no lock, or more than one, is told.
func TestInspectOtherPaths(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		create := e.observer.Create().CreatingParentsIfNeeded()
		for _, name := range []string{"/notes", "/x-lock-1"} {
			suite.Got(create.ForPath(t.Context(), e.path+name)).OK(t)
		}
		e.look("", nil, nil)
		for _, name := range []string{"/x-lock-0000000000", "/x-__READ__0000000001"} {
			suite.Got(create.ForPath(t.Context(), e.path+name)).OK(t)
		}
		suite.Got(locks.Inspect(t.Context(), e.observer, e.path)).Fails(t, locks.ErrKindMismatch)
		for _, path := range []string{"", "relative", "/a//b"} {
			suite.Got(locks.Inspect(t.Context(), e.observer, path)).Fails(t, framework.ErrInvalidPath)
		}
	})
}

// TestInspect looks at a mutex.
func TestInspect(t *testing.T) {
	onBackends(t, withRealServer, func(t *testing.T, e *env) {
		look := func(kind string, holders, waiters int) *locks.Inspection {
			t.Helper()
			i := suite.Got(locks.Inspect(t.Context(), e.observer, e.path)).OK(t)
			if i.Kind != kind || len(i.Holders) != holders || len(i.Waiters) != waiters {
				t.Fatalf("%q with %d holders and %d waiters, want %q with %d and %d", i.Kind, len(i.Holders), len(i.Waiters), kind, holders, waiters)
			}
			return i
		}
		look("", 0, 0)
		lease := e.acquire(e.lock(e.client, locks.WithNodeData([]byte("worker 7"))))
		waiting := e.queue(t.Context(), e.other(), 2)
		holder := look("mutex", 1, 1).Holders[0]
		if holder.Path != lease.Path() || holder.Token != lease.Token() || holder.SessionID != e.client.SessionID() || holder.Data != "worker 7" {
			t.Errorf("the holder is %+v", holder)
		}
		e.release(lease)
		e.release(e.granted(waiting))
		e.untilNodes(0)
	})
}

// A contender whose node the inspecting client may not read is listed without its data, and the
// others are listed with theirs. Newer servers show nothing of it but its name.
func TestInspectListsUnreadableContenders(t *testing.T) {
	onReleases(t, withRealServer, func(t *testing.T, e *env) {
		holder := e.acquire(e.lock(private(t, e.b, "holder:a")))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		waiter := e.queue(ctx, e.lock(e.client), 2)
		i := e.look("mutex", []string{holder.Path()}, []string{e.path + "/" + e.nodes()[1]})
		c := i.Holders[0]
		if e.b.ExistsNeedsRead(t) {
			if (c != locks.Contender{Path: holder.Path()}) || c.String() != holder.Path()+" (its node may not be read)" {
				t.Errorf("the holder is %+v", c)
			}
		} else if c.Data != "" || c.Owner != "" || c.TraceParent != "" || c.Token != holder.Token() || c.SessionID == 0 || c.Since.IsZero() {
			t.Errorf("the holder is %+v", c)
		}
		if c := i.Waiters[0]; c.Data == "" || c.Owner == "" {
			t.Errorf("the waiter is %+v", c)
		}
		cancel() // it would not hear that the holder has gone
		<-waiter.done
		suite.WantErr(t, waiter.err, context.Canceled)
		e.release(holder)
	})
}

// lockNodes gives the nodes of contenders an ACL of their own.
type lockNodes []framework.ACL

func (a lockNodes) ACLForPath(path string) []framework.ACL {
	if strings.Contains(path, "lock-") {
		return a
	}
	return framework.OpenACLUnsafe()
}

// private returns a client whose nodes nobody else may read.
func private(t *testing.T, b *suite.Backend, user string) *framework.Client {
	t.Helper()
	client, _ := b.Client(t, framework.WithAuthorization("digest", []byte(user)),
		framework.WithACLProvider(lockNodes(framework.CreatorAllACL())))
	return client
}

// A waiter that must not read the node ahead of it, and would not hear that it has gone, is told
// so: at once if it is as secretive itself, else when the wait has lasted for a while.
func TestUnreadablePredecessor(t *testing.T) {
	onReleases(t, withRealServer, func(t *testing.T, e *env) {
		holder := e.acquire(e.lock(private(t, e.b, "holder:a")))
		waiters := map[string]*framework.Client{"private": private(t, e.b, "waiter:b")}
		if e.b.Virtual { // the while is ten seconds
			waiters["open"] = e.client
		}
		for name, waiter := range waiters {
			ctx := bounded(t, 30*time.Second)
			_, err := e.lock(waiter).Acquire(ctx)
			if ctx.Err() != nil {
				t.Errorf("%s: waited on", name)
			}
			suite.WantErr(t, err, framework.ErrNoAuth)
		}
		e.wantNodes(1)
		e.release(holder)
	})
}

// A waiter that must not read its own node would not hear that it has gone, and a marker would
// let it in all the same.
func TestUnreadableOwnNode(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		first := enqueue(t, s, virtualMutex(t))
		holder := enqueue(t, s, virtualMutex(t))
		first.release()
		if !holder.in() {
			t.Fatal("the second is not in")
		}
		admin := framework.ACL{Perms: framework.PermRead, Scheme: "digest", ID: "admin:RB3ulR0Dd8Rq5vnlfXyZ5Xrmk+g="}
		client := s.Client(t, framework.WithACLProvider(lockNodes{admin}))
		ctx := bounded(t, time.Minute)
		suite.Got(mutexOf(t, client).Acquire(ctx)).Fails(t, framework.ErrNoAuth)
		synctest.Wait()
		wantQueue(t, s, 1)
		holder.release()
	})
}

// TestNodeData checks what a lock's node says of its owner, byte by byte.
func TestNodeData(t *testing.T) {
	host := suite.Got(os.Hostname()).OK(t)
	owner := func(label string) string {
		return fmt.Sprintf("test\nowner=%s\nhost=%s\npid=%d", label, host, os.Getpid())
	}
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		for _, c := range []struct {
			name  string
			spans tracing.Option
			opts  []framework.Option
			lock  []locks.MutexOption
			want  string
		}{
			{name: "not traced", want: owner(filepath.Base(os.Args[0]))},
			{name: "labelled", opts: []framework.Option{framework.WithOwnerLabel("orders api")}, want: owner("orders api")},
			{name: "no label", opts: []framework.Option{framework.WithOwnerLabel("")}, want: strings.ReplaceAll(owner(""), "owner=\n", "")},
			{name: "traced", opts: []framework.Option{framework.WithOwnerLabel("a")}, want: owner("a") + "\ntraceparent=%s"},
			{name: "no links", spans: tracing.WithoutHolderLinks(), want: "test"},
			{name: "no tracing", opts: []framework.Option{framework.WithoutTracing()}, want: "test"},
			{name: "own data", lock: []locks.MutexOption{locks.WithNodeData([]byte("mine"))}, want: "mine"},
			{name: "no data", lock: []locks.MutexOption{locks.WithNodeData(nil)}, want: ""},
		} {
			spans := suite.NewSpans()
			if c.name != "not traced" && c.name != "labelled" && c.name != "no label" {
				c.opts = append([]framework.Option{framework.WithTracing(spans.Option(), c.spans)}, c.opts...)
			}
			e := newEnv(t, b, c.opts...)
			lease := e.acquire(e.lock(e.client, c.lock...))
			data := suite.Got(e.observer.GetData().ForPath(t.Context(), lease.Path())).OK(t)
			if strings.Contains(c.want, "%s") {
				acquire := spans.Named(tracing.SpanLockAcquire)[0].SpanContext()
				c.want = fmt.Sprintf(c.want, fmt.Sprintf("00-%s-%s-01", acquire.TraceID(), acquire.SpanID()))
			}
			if string(data) != c.want {
				t.Errorf("%s: data %q, want %q", c.name, data, c.want)
			}
			e.release(lease)
		}
	})
}

// TestInspectOwner looks at who holds a lock, for each of those who may.
func TestInspectOwner(t *testing.T) {
	host := suite.Got(os.Hostname()).OK(t)
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		spans := suite.NewSpans()
		e := newEnv(t, b, framework.WithOwnerLabel("orders"), framework.WithTracing(spans.Option()))
		look := func() locks.Contender {
			t.Helper()
			i, err := locks.Inspect(t.Context(), e.observer, e.path)
			if err != nil || len(i.Holders) != 1 {
				t.Fatalf("%+v, %v", i, err)
			}
			return i.Holders[0]
		}
		lease := e.acquire(e.mutex)
		traced := spans.Named(tracing.SpanLockAcquire)[0].SpanContext()
		want := fmt.Sprintf("orders on %s, pid %d", host, os.Getpid())
		if got := look(); got.Owner != want || !strings.Contains(got.TraceParent, traced.TraceID().String()) {
			t.Errorf("owner %q, trace %q; want %q", got.Owner, got.TraceParent, want)
		}
		suite.OK(t, locks.AttemptRevoke(t.Context(), e.observer, lease.Path()))
		if got := look(); got.Owner != "" || got.TraceParent != "" || got.Data != "__REVOKE__" {
			t.Errorf("asked to let go: %+v", got)
		}
		e.release(lease)
		for data, want := range map[string]string{
			"10.1.2.3":                             "10.1.2.3", // Java's
			"10.1.2.3\nowner=\x1b[31mred\npid=1\n": "[31mred, pid 1",
			"10.1.2.3\nhost=h\nnonsense\n=\npid=x": "on h",
			"\xff\xfe":                             "",
			"":                                     "",
		} {
			lease := e.acquire(e.lock(e.client, locks.WithNodeData([]byte(data))))
			if got := look().Owner; got != want {
				t.Errorf("of %q the owner is %q, want %q", data, got, want)
			}
			e.release(lease)
		}
	})
}
