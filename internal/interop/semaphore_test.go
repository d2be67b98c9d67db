package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/shared"
)

// goSemaphore is the semaphore at the test's path on a client of its own.
type goSemaphore struct {
	e      *env
	client *framework.Client
	*locks.InterProcessSemaphoreV2
}

func (e *env) goSemaphore(most int) *goSemaphore {
	e.t.Helper()
	client := e.longClient()
	s, err := locks.NewInterProcessSemaphoreV2(client, e.path, most)
	if err != nil {
		e.t.Fatal(err)
	}
	return &goSemaphore{e, client, s}
}

func (e *env) longClient() *framework.Client {
	e.t.Helper()
	client, _ := e.b.Client(e.t)
	return client
}

// goLease is a lease that is waited for; it is there with the answer.
type goLease struct {
	*answer
	lease *locks.Lease
}

func (e *env) start(lock locks.InterProcessLock) *goLease {
	l := &goLease{answer: newAnswer()}
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	go func() {
		defer cancel()
		var err error
		l.lease, err = lock.Acquire(ctx)
		l.give(l.lease.Path(), err)
	}()
	e.t.Cleanup(func() { <-l.done })
	return l
}

func (e *env) take(lock locks.InterProcessLock) *locks.Lease {
	e.t.Helper()
	l := e.start(lock)
	e.wait(l.answer)
	return l.lease
}

func (e *env) giveBack(lease *locks.Lease) {
	e.t.Helper()
	if err := lease.Release(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// isBusy fails unless neither language gets a lease, be it at once or soon.
func (e *env) isBusy(lock locks.InterProcessLock, java *javaContender, try ...any) {
	e.t.Helper()
	if lease, err := lock.TryAcquire(e.t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
		e.t.Fatalf("Go: lease %q, %v", lease.Path(), err)
	}
	for _, wait := range []time.Duration{0, 20 * time.Millisecond} {
		if got := java.do(append(try, wait.Milliseconds())...); got != "" {
			e.t.Fatalf("Java: lease %q", got)
		}
	}
}

func (e *env) children(path string) []string {
	e.t.Helper()
	names, err := e.observer.GetChildren().ForPath(context.Background(), path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		e.t.Fatal(err)
	}
	return names
}

// leases waits until the semaphore has so many leases and nobody else acquires one.
func (e *env) leases(waiting, leases int) {
	e.t.Helper()
	suite.Eventually(e.t, "the nodes of the leases", func() bool {
		return len(e.children(e.path+"/locks")) == waiting && len(e.children(e.path+"/leases")) == leases
	})
}

// Both languages count each other's leases, and wait for them.
func TestSemaphore(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s, waiter, java := e.goSemaphore(2), e.goSemaphore(2), e.newJava(e.jvm)
	look := e.newLook()
	node := java.do("lease", e.path, 2)
	lease := e.take(s)
	e.leases(0, 2)
	look.wantHolders(0, e.path+"/leases/"+node, lease.Path())
	if names := e.children(e.path + "/leases"); e.path+"/leases/"+names[0] != lease.Path() && e.path+"/leases/"+names[1] != lease.Path() ||
		names[0] != node && names[1] != node {
		t.Fatalf("leases %q and %q, nodes %q", node, lease.Path(), names)
	}
	e.isBusy(s, java, "tryLease", e.path, 2)
	e.leases(0, 2)

	next := e.start(waiter)
	e.leases(1, 3)
	look.wantHolders(1, e.path+"/leases/"+node, lease.Path()) // Go waits
	java.do("return", e.path)                                 // from Java to Go
	e.wait(next.answer)
	e.leases(0, 2)
	look.wantHolders(0, lease.Path(), next.lease.Path())

	again := java.jvm.request(java.name, "lease", e.path, 2)
	e.leases(1, 3)
	look.wantHolders(1, lease.Path(), next.lease.Path()) // Java waits
	e.giveBack(lease)                                    // from Go to Java
	node = e.wait(again)
	e.leases(0, 2)
	look.wantHolders(0, next.lease.Path(), e.path+"/leases/"+node)
	e.isBusy(s, e.newJava(e.jvm), "tryLease", e.path, 2)

	e.giveBack(next.lease)
	java.do("return", e.path)
	e.leases(0, 0)
}

// look is what the command line says of the test's semaphore.
type look struct {
	e    *env
	tool string // its path
}

func (e *env) newLook() *look { return &look{e, buildTool(e.t)} }

func (l *look) run(args ...string) ([]byte, error) {
	cmd := exec.Command(l.tool, append([]string{args[0], "--connect", l.e.b.ConnectString(), l.e.path}, args[1:]...)...)
	return cmd.Output()
}

// wantHolders fails unless curator locks shows these holders, and so many waiters, and curator verify
// finds of each lease whether it is among them.
func (l *look) wantHolders(waiters int, holders ...string) {
	l.e.t.Helper()
	out, err := l.run("locks", "-o", "json")
	type contenders []struct{ Node string }
	var view struct {
		Locks []struct{ Holders, Waiters contenders }
	}
	if err == nil {
		err = json.Unmarshal(out, &view)
	}
	if err != nil || len(view.Locks) != 1 {
		l.e.t.Fatalf("curator locks: %v: %s", err, out)
	}
	var nodes []string
	for _, h := range view.Locks[0].Holders {
		nodes = append(nodes, h.Node)
	}
	slices.Sort(nodes)
	slices.Sort(holders)
	if !slices.Equal(nodes, holders) || len(view.Locks[0].Waiters) != waiters {
		l.e.t.Errorf("curator locks shows the holders %q and %d waiters, want %q and %d", nodes, len(view.Locks[0].Waiters), holders, waiters)
	}
	for _, name := range l.e.children(l.e.path + "/leases") {
		node := l.e.path + "/leases/" + name
		_, err := l.run("verify", strconv.FormatInt(l.e.look(node).Stat.Czxid, 10))
		if (err == nil) != slices.Contains(holders, node) {
			l.e.t.Errorf("curator verify of %s: %v", node, err)
		}
	}
}

// However many want leases, there are never more than the maximum.
func TestSemaphoreLimit(t *testing.T) {
	t.Parallel()
	const most, rounds = 2, 8
	e := newEnv(t)
	inside := e.b.Path("inside")
	if _, err := e.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), inside); err != nil {
		t.Fatal(err)
	}
	var answers []*answer
	for range 2 {
		java := e.newJava(e.jvm)
		answers = append(answers, e.goSemaphore(most).work(inside, rounds), java.jvm.request(java.name, "work", e.path, most, inside, rounds))
	}
	for _, a := range answers {
		if peak, err := strconv.Atoi(e.wait(a)); err != nil || peak < 1 || peak > most {
			t.Errorf("up to %d were in at a time, %v", peak, err)
		}
	}
	e.leases(0, 0)
}

// work takes leases, and answers how many had one meanwhile.
func (s *goSemaphore) work(inside string, rounds int) *answer {
	a := newAnswer()
	go func() {
		var err error
		peak := 0
		for i := 0; i < rounds && err == nil; i++ {
			err = locks.Do(s.e.t.Context(), s, func(ctx context.Context, _ *locks.Lease) error {
				node, err := s.client.Create().WithMode(framework.EphemeralSequential).ForPath(ctx, inside+"/go-")
				if err != nil {
					return err
				}
				names, err := s.client.GetChildren().ForPath(ctx, inside)
				peak = max(peak, len(names))
				return errors.Join(err, s.client.Delete().ForPath(ctx, node))
			})
		}
		a.give(strconv.Itoa(peak), err)
	}()
	s.e.t.Cleanup(func() { <-a.done })
	return a
}

// The lease of a process that dies is free when its session ends.
func TestSemaphoreHolderDies(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	s, java := e.goSemaphore(1), e.newJava(e.ownJVM())
	java.do("lease", e.path, 1)
	next := e.start(s)
	e.leases(1, 2)
	java.jvm.kill()
	e.wait(next.answer)
	e.leases(0, 1)
	e.giveBack(next.lease)
}

// What Java's SharedCount writes is read, with its version, and is the maximum for both.
func TestSharedCount(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	limit := e.b.Path("limit")
	client, java, writer := e.longClient(), e.newJava(e.jvm), e.newJava(e.jvm)
	count, err := shared.NewCount(client, limit, 5, shared.WithoutCreate())
	if err == nil {
		err = count.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer count.Close(t.Context())
	set := func(n int) {
		t.Helper()
		version := writer.do("count", limit, n)
		suite.Eventually(t, "the count", func() bool {
			v := count.VersionedValue()
			return v.Value == n && strconv.Itoa(int(v.Version)) == version
		})
	}
	for _, n := range []int{7, -1, 1<<31 - 1, -1 << 31, 1} {
		set(n)
	}

	s, err := locks.NewInterProcessSemaphoreV2WithCount(client, e.path, count)
	if err != nil {
		t.Fatal(err)
	}
	leases := []*locks.Lease{e.take(s)}
	inJava := java.jvm.request(java.name, "lease", e.path, limit)
	e.leases(1, 2)
	set(2)
	e.wait(inJava)
	inGo := e.start(s)
	e.leases(1, 3)
	set(3)
	e.wait(inGo.answer)
	leases = append(leases, inGo.lease)
	set(2) // which takes none back
	e.isBusy(s, writer, "tryLease", e.path, limit)
	e.leases(0, 3)
	for _, lease := range leases {
		e.giveBack(lease)
	}
	java.do("return", e.path)
	e.leases(0, 0)
}

// The mutexes made of semaphores exclude each other, and hand over in both directions.
func TestSemaphoreMutex(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	java := e.newJava(e.jvm)
	mutex, err := locks.NewInterProcessSemaphoreMutex(e.longClient(), e.path)
	if err != nil {
		t.Fatal(err)
	}
	java.do("enter", e.path)
	e.isBusy(mutex, e.newJava(e.jvm), "tryEnter", e.path)
	inGo := e.start(mutex)
	e.leases(1, 2)
	java.do("exit", e.path)
	e.wait(inGo.answer)
	e.isBusy(mutex, java, "tryEnter", e.path)
	inJava := java.jvm.request(java.name, "enter", e.path)
	e.leases(1, 2)
	e.giveBack(inGo.lease)
	e.wait(inJava)
	e.leases(0, 1)
	java.do("exit", e.path)
	e.leases(0, 0)
}
