package interop_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// revocable is a lock that both languages have, and how either is asked for it.
type revocable struct {
	lock func(e *env, client *framework.Client, opt locks.RevocableOption) (locks.InterProcessLock, error)
	// What a peer is told: to listen, to acquire and to release.
	listen, acquire, release func(path string) []any
}

var mutexWords = func(verb string) func(path string) []any {
	return func(path string) []any { return []any{verb, path} }
}

func sideWords(verb, side string) func(path string) []any {
	return func(path string) []any { return []any{verb, path, side} }
}

func revocableSide(side string, of func(*locks.InterProcessReadWriteLock) locks.InterProcessLock) revocable {
	return revocable{
		lock: func(e *env, client *framework.Client, opt locks.RevocableOption) (locks.InterProcessLock, error) {
			rw, err := locks.NewInterProcessReadWriteLock(client, e.path, opt)
			if err != nil {
				return nil, err
			}
			return of(rw), nil
		},
		listen: sideWords("rwRevocable", side), acquire: sideWords("rwAcquire", side), release: sideWords("rwRelease", side),
	}
}

var revocableLocks = map[string]revocable{
	"mutex": {
		lock: func(e *env, client *framework.Client, opt locks.RevocableOption) (locks.InterProcessLock, error) {
			return locks.NewInterProcessMutex(client, e.path, opt)
		},
		listen: mutexWords("revocable"), acquire: mutexWords("acquire"), release: mutexWords("release"),
	},
	reading: revocableSide(reading, func(rw *locks.InterProcessReadWriteLock) locks.InterProcessLock { return rw.ReadLock() }),
	writing: revocableSide(writing, func(rw *locks.InterProcessReadWriteLock) locks.InterProcessLock { return rw.WriteLock() }),
}

// open returns the lock on a client of its own.
func (e *env) open(kind revocable, opt locks.RevocableOption) locks.InterProcessLock {
	e.t.Helper()
	client, _ := e.b.Client(e.t)
	lock, err := kind.lock(e, client, opt)
	if err != nil {
		e.t.Fatal(err)
	}
	return lock
}

// obtain acquires in the background; the lease is there with the answer.
func (e *env) obtain(lock locks.InterProcessLock, lease **locks.Lease) *answer {
	a := newAnswer()
	go func() {
		got, err := lock.Acquire(e.t.Context())
		*lease = got
		a.give(got.Path(), err)
	}()
	e.t.Cleanup(func() { <-a.done })
	return a
}

// Java's Revoker asks a waiter in Go, who is told when it is granted the lock, and then the
// holder, who lets go. Readers and writers wait behind a writer.
func TestJavaRevokes(t *testing.T) {
	t.Parallel()
	for name, kind := range revocableLocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			revoker := e.newJava(e.jvm)
			told := make(chan *locks.Lease, 4)
			letGo := locks.WithRevocable(func(ctx context.Context, lease *locks.Lease) {
				if err := lease.Release(context.WithoutCancel(ctx)); err != nil { // the lease's ctx ends, and with it the wait
					t.Error(err)
				}
				told <- lease
			})
			first := revocableLocks[writing]
			if name == "mutex" {
				first = kind
			}
			var holder, waiter *locks.Lease
			node := e.wait(e.obtain(e.open(first, letGo), &holder))
			waiting := e.obtain(e.open(kind, letGo), &waiter)
			suite.Eventually(t, "a waiter", func() bool { return len(e.nodes()) == 2 && len(e.watchers(node)) == 2 })
			revoker.do("revoke", e.nodes()[1])
			e.notYet(waiting)
			revoker.do("revoke", node)
			e.wait(waiting)
			// The waiter is let in, and told, maybe before the holder's Release has returned.
			if first, second := e.told(told), e.told(told); first == second || first != holder && second != holder || first != waiter && second != waiter {
				t.Errorf("told of the leases on %q and %q, want those on %q and %q", first.Path(), second.Path(), holder.Path(), waiter.Path())
			}
			e.wantNodes()

			var kept *locks.Lease
			node = e.wait(e.obtain(e.open(kind, locks.WithRevocable(nil)), &kept))
			revoker.do("revoke", node)
			<-kept.Context().Done()
			e.wantNodes(node) // it is the user who lets go
			if err := kept.Release(t.Context()); err != nil {
				t.Error(err)
			}
			e.wantNodes()
		})
	}
}

func (e *env) told(told <-chan *locks.Lease) *locks.Lease {
	e.t.Helper()
	select {
	case lease := <-told:
		return lease
	case <-time.After(time.Minute):
		e.t.Fatal("not told")
		return nil
	}
}

// AttemptRevoke asks a holder in Java, and a waiter, who is told at once. Neither is told
// before that, nor of the other's.
func TestGoRevokes(t *testing.T) {
	t.Parallel()
	for name, kind := range revocableLocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			peers := []*javaContender{e.newJava(e.jvm), e.newJava(e.jvm)}
			first := revocableLocks[writing]
			if name == "mutex" {
				first = kind
			}
			kinds := []revocable{first, kind}
			var grants []*answer
			for i, peer := range peers {
				peer.do(kinds[i].listen(e.path)...)
				grants = append(grants, e.jvm.request(peer.name, kinds[i].acquire(e.path)...))
				suite.Eventually(t, "a node that its owner watches", func() bool {
					nodes := e.nodes()
					return len(nodes) == i+1 && e.isWatched(nodes[i], peer)
				})
			}
			e.wait(grants[0])
			suite.Eventually(t, "a waiter", func() bool { return e.isWatched(e.nodes()[0], peers[1]) })
			nodes := e.nodes()
			for _, i := range []int{1, 0} {
				for _, peer := range peers {
					if path := peer.do("asked", 0); path != "" {
						t.Fatalf("asked for %q before anybody has", path)
					}
				}
				if err := locks.AttemptRevoke(t.Context(), e.observer, nodes[i]); err != nil {
					t.Fatal(err)
				}
				if path := peers[i].do("asked", 30_000); path != e.path {
					t.Fatalf("contender %d: asked for %q, want %q", i, path, e.path)
				}
			}
			if !slices.Equal(e.nodes(), nodes) {
				t.Errorf("the nodes are %q, want %q", e.nodes(), nodes)
			}
			e.notYet(grants[1])
			peers[0].do(first.release(e.path)...)
			e.wait(grants[1])
			peers[1].do(kind.release(e.path)...)
			e.wantNodes()
		})
	}
}
