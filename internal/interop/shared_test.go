package interop_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/retry"
)

func (e *env) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// goValue returns a shared text that is followed, on a client of its own.
func (e *env) goValue() *shared.Value[string] {
	e.t.Helper()
	v, err := shared.NewValue(e.longClient(), e.path, "go", codec.String())
	e.must(err)
	e.must(v.Start(e.t.Context()))
	e.t.Cleanup(func() {
		if err := v.Close(context.WithoutCancel(e.t.Context())); err != nil {
			e.t.Error(err)
		}
	})
	return v
}

// Both languages set and follow one value, compare and set it, and end with the same one.
func TestSharedValue(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	java, other := e.newJava(e.jvm), e.newJava(e.jvm)
	if seed := java.do("sharedGet", e.path); seed != "java" {
		t.Fatalf("the seed is %q", seed)
	}
	values := []*shared.Value[string]{e.goValue(), e.goValue(), e.goValue()}
	everywhere := func(want string) {
		t.Helper()
		suite.Eventually(t, want+" everywhere", func() bool {
			for _, v := range values {
				if v.Get() != want {
					return false
				}
			}
			return java.do("sharedGet", e.path) == want && other.do("sharedGet", e.path) == want
		})
	}
	everywhere("java")
	java.do("sharedSet", e.path, "one")
	everywhere("one")
	_, err := values[0].Set(t.Context(), "two")
	e.must(err)
	everywhere("two")
	if set := other.do("sharedTry", e.path, "three"); set != "true" {
		t.Errorf("Java's trySetValue: %s", set)
	}
	everywhere("three")
	if _, set, err := values[1].TrySet(t.Context(), values[1].VersionedValue(), "four"); !set || err != nil {
		t.Errorf("TrySet: %t, %v", set, err)
	}
	everywhere("four")
	var setting sync.WaitGroup
	for i, v := range values {
		setting.Go(func() {
			for n := range 10 {
				if _, err := v.Set(t.Context(), fmt.Sprint("go", i, ".", n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range 10 {
		java.do("sharedSet", e.path, fmt.Sprint("java.", n))
	}
	setting.Wait()
	data, err := e.observer.GetData().ForPath(t.Context(), e.path)
	e.must(err)
	everywhere(string(data))
}

// A maximum that Go sets is that of Java's semaphore.
func TestSharedCountSetByGo(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	limit := e.b.Path("limit")
	count, err := shared.NewCount(e.longClient(), limit, 1)
	e.must(err)
	e.must(count.Start(t.Context()))
	defer count.Close(t.Context())
	java := e.newJava(e.jvm)
	if java.do("lease", e.path, limit) == "" || java.do("tryLease", e.path, limit, 20) != "" {
		t.Fatal("Java does not keep to the maximum of 1")
	}
	inJava := java.jvm.request(java.name, "lease", e.path, limit)
	e.leases(1, 2)
	_, err = count.Set(t.Context(), 2)
	e.must(err)
	e.wait(inJava)
	java.do("return", e.path)
	java.do("return", e.path)
}

func (e *env) goLong() *atomics.DistributedAtomicLong {
	e.t.Helper()
	n, err := atomics.NewDistributedAtomicLong(e.longClient(), e.path, retry.NTimes(1000, time.Millisecond))
	e.must(err)
	return n
}

// Eight writers of both languages lose nothing, and each reads what the other has written.
func TestAtomicLong(t *testing.T) {
	t.Parallel()
	const each = 100
	e := newEnv(t)
	var answers []*answer
	for range 4 {
		java := e.newJava(e.jvm)
		answers = append(answers, java.jvm.request(java.name, "atomicAdd", e.path, each))
		n := e.goLong()
		a := newAnswer()
		go func() {
			for range each {
				if _, err := n.Increment(t.Context()); err != nil {
					a.give("", err)
					return
				}
			}
			a.give("", nil)
		}()
		t.Cleanup(func() { <-a.done })
		answers = append(answers, a)
	}
	for _, a := range answers {
		e.wait(a)
	}
	n, java := e.goLong(), e.newJava(e.jvm)
	sum, err := n.Get(t.Context())
	if text := java.do("atomicGet", e.path); sum != 8*each || text != fmt.Sprint(sum) || err != nil {
		t.Errorf("the sum is %d, in Java %s, %v; want %d", sum, text, err, 8*each)
	}
	for _, number := range []int64{0, -1, 1 << 40, -1 << 63, 1<<63 - 1} {
		java.do("atomicSet", e.path, number)
		if got, err := n.Get(t.Context()); got != number || err != nil {
			t.Errorf("Java's %d is %d, %v", number, got, err)
		}
		e.must(n.ForceSet(t.Context(), number))
		if got := java.do("atomicGet", e.path); got != fmt.Sprint(number) {
			t.Errorf("%d is %s in Java", number, got)
		}
	}
	if swapped := java.do("atomicSwap", e.path, int64(1<<63-1), 5); swapped != "true" {
		t.Errorf("Java's compareAndSet: %s", swapped)
	}
	if swapped, err := n.CompareAndSet(t.Context(), 5, 6); !swapped || err != nil {
		t.Errorf("CompareAndSet: %t, %v", swapped, err)
	}
	if created := java.do("atomicInitialize", e.path, 7); created != "false" {
		t.Errorf("Java's initialize: %s", created)
	}
	short, err := atomics.NewDistributedAtomicInteger(e.longClient(), e.path+"-short", retry.None())
	e.must(err)
	if sum := java.do("atomicShort", e.path+"-short", -3); sum != "-3" {
		t.Errorf("Java's integer is %s", sum)
	}
	if out, err := short.Add(t.Context(), 5); out.Post != 2 || err != nil {
		t.Errorf("the integer is %d, %v", out.Post, err)
	}
	if sum := java.do("atomicShort", e.path+"-short", 1); sum != "3" {
		t.Errorf("Java's integer is %s", sum)
	}
}

// Each language waits at a barrier that the other one sets and removes.
func TestBarrier(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	java := e.newJava(e.jvm)
	barrier, err := barriers.NewDistributedBarrier(e.longClient(), e.path)
	e.must(err)
	e.must(barrier.Wait(t.Context()))
	java.do("barrierWait", e.path)

	java.do("barrierSet", e.path)
	inGo := newAnswer()
	go func() { inGo.give("", barrier.Wait(t.Context())) }()
	t.Cleanup(func() { <-inGo.done })
	suite.Eventually(t, "a watch", func() bool { return len(e.watchers(e.path)) == 1 })
	e.notYet(inGo)
	java.do("barrierRemove", e.path)
	e.wait(inGo)

	e.must(barrier.Set(t.Context()))
	inJava := java.jvm.request(java.name, "barrierWait", e.path)
	suite.Eventually(t, "a watch", func() bool { return len(e.watchers(e.path)) == 1 })
	e.notYet(inJava)
	e.must(barrier.Remove(t.Context()))
	e.wait(inJava)
}

// A double barrier of two members, one of them in Java, for one round. Java removes "ready" under
// slow members, so Enter has a deadline; and Java 5.4 may sleep through an event, so that only
// what Go does is judged.
func TestRuleB12(t *testing.T) {
	t.Parallel()
	for name, javaFirst := range map[string]bool{"Java first": true, "Java last": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 5 {
				e := newEnv(t)
				java := e.newJava(e.jvm)
				member, err := barriers.NewDistributedDoubleBarrier(e.longClient(), e.path, 2)
				e.must(err)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				inGo := newAnswer()
				enter := func() { inGo.give("", member.Enter(ctx)) }
				t.Cleanup(func() { <-inGo.done })
				var inJava *answer
				if javaFirst {
					inJava = java.jvm.request(java.name, "doubleEnter", e.path, 2)
				} else {
					go enter()
				}
				suite.Eventually(t, "the first member", func() bool { return len(e.children(e.path)) == 1 })
				if javaFirst {
					go enter()
				} else {
					inJava = java.jvm.request(java.name, "doubleEnter", e.path, 2)
				}
				e.wait(inGo)
				if in := e.wait(inJava); in != "true" {
					t.Fatalf("Java's enter: %s", in)
				}
				outOfJava := java.jvm.request(java.name, "doubleLeave", e.path)
				e.must(member.Leave(ctx))
				if out := e.wait(outOfJava); out != "true" {
					t.Fatalf("Java's leave: %s", out)
				}
				if names := e.children(e.path); len(names) != 0 {
					t.Logf("left over: %q", names) // "ready", if both were the last one
				}
			}
		})
	}
}

// The first one of two members in Go is killed in a round. The other one removes "ready", so a member in Java
// that comes next waits for another one.
func TestRuleB10(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	java := e.newJava(e.jvm)
	clients := []*framework.Client{e.longClient(), e.longClient()}
	var members []*barriers.DistributedDoubleBarrier
	var entering []*answer
	first := ""
	for i, client := range clients {
		member, err := barriers.NewDistributedDoubleBarrier(client, e.path, 2)
		e.must(err)
		inGo := newAnswer()
		go func() { inGo.give("", member.Enter(t.Context())) }()
		members, entering = append(members, member), append(entering, inGo)
		if i == 0 {
			suite.Eventually(t, "the first member", func() bool { return len(e.children(e.path)) == 1 })
			first = e.children(e.path)[0]
		}
	}
	for _, a := range entering {
		e.wait(a)
	}
	if first != layout.BarrierMembers(e.children(e.path))[0] {
		slices.Reverse(clients)
		slices.Reverse(members)
	}
	leaving := newAnswer()
	go func() { leaving.give("", members[1].Leave(t.Context())) }()
	suite.Eventually(t, "a member that waits", func() bool { return len(e.children(e.path)) == 2 })
	e.must(clients[0].Close(t.Context())) // its session ends, and it has not left
	e.wait(leaving)
	if left := e.children(e.path); len(left) != 0 {
		t.Fatalf("left over: %q", left)
	}

	inJava := java.jvm.request(java.name, "doubleEnter", e.path, 2)
	suite.Eventually(t, "a member in Java that waits", func() bool {
		return len(e.children(e.path)) == 1 && len(e.watchers(e.path+"/ready")) == 1
	})
	e.notYet(inJava)
	e.must(members[1].Enter(t.Context()))
	if in := e.wait(inJava); in != "true" {
		t.Fatalf("Java's enter: %s", in)
	}
	outOfJava := java.jvm.request(java.name, "doubleLeave", e.path)
	e.must(members[1].Leave(t.Context()))
	if out := e.wait(outOfJava); out != "true" {
		t.Fatalf("Java's leave: %s", out)
	}
}
