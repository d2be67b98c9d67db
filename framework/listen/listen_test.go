package listen_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/framework/listen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble runs fn in a bubble of its own, which waits at the end for every goroutine: what
// leaks one never ends.
func bubble(t *testing.T, fn func(t *testing.T, set *listen.Set[int])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { fn(t, new(listen.Set[int])) })
}

// collect adds a listener that keeps what it gets; the result is good after
// synctest.Wait or Close.
func collect(set *listen.Set[int]) (got *[]int, remove func()) {
	got = new([]int)
	remove = set.Listenable().Add(func(_ context.Context, event int) { *got = append(*got, event) })
	return got, remove
}

func mustClose(t *testing.T, set *listen.Set[int]) {
	t.Helper()
	if err := set.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func count(from, to int) []int {
	var all []int
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

func TestEveryListenerGetsEverythingInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		first, _ := collect(set)
		second, _ := collect(set)
		for i := range 1000 {
			set.Notify(i)
		}
		synctest.Wait()
		for i := 1000; i < 1100; i++ { // after a rest, without a goroutine
			set.Notify(i)
		}
		synctest.Wait()
		for _, got := range []*[]int{first, second} {
			if !slices.Equal(*got, count(0, 1100)) {
				t.Errorf("got %d events, or another order", len(*got))
			}
		}
		mustClose(t, set)
	})
}

func TestNoReplay(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		set.Notify(1)
		got, _ := collect(set)
		set.Notify(2)
		mustClose(t, set)
		if !slices.Equal(*got, []int{2}) {
			t.Errorf("got %v, want [2]", *got)
		}
	})
}

func TestConcurrentNotifiesHaveOneOrder(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		first, _ := collect(set)
		second, _ := collect(set)
		var wg sync.WaitGroup
		for source := range 8 {
			wg.Go(func() {
				for i := range 100 {
					set.Notify(source*100 + i)
				}
			})
		}
		wg.Wait()
		mustClose(t, set)
		if len(*first) != 800 || !slices.Equal(*first, *second) {
			t.Errorf("the listeners got %d and %d events, or in different orders", len(*first), len(*second))
		}
	})
}

func TestSlowListenerHoldsUpNobody(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		var slow []int
		set.Listenable().Add(func(_ context.Context, event int) {
			time.Sleep(time.Hour)
			slow = append(slow, event)
		})
		quick, _ := collect(set)
		start := time.Now()
		for i := range 30 {
			set.Notify(i)
		}
		synctest.Wait()
		if len(*quick) != 30 || time.Since(start) > 0 {
			t.Errorf("the quick listener got %d events in %v", len(*quick), time.Since(start))
		}
		mustClose(t, set)
		if !slices.Equal(slow, count(0, 30)) || time.Since(start) != 30*time.Hour {
			t.Errorf("the slow listener got %v in %v", slow, time.Since(start))
		}
	})
}

func TestOneCallAtATime(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		var running atomic.Int32
		set.Listenable().Add(func(context.Context, int) {
			if running.Add(1) > 1 {
				t.Error("two calls at once")
			}
			time.Sleep(time.Millisecond)
			running.Add(-1)
		})
		for range 10 {
			set.Notify(0)
			time.Sleep(time.Millisecond / 2)
		}
		mustClose(t, set)
	})
}

func TestRemove(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		got, remove := collect(set)
		other, _ := collect(set)
		set.Notify(1)
		synctest.Wait()
		remove()
		remove() // twice is harmless
		set.Notify(2)
		mustClose(t, set)
		if !slices.Equal(*got, []int{1}) || !slices.Equal(*other, []int{1, 2}) {
			t.Errorf("got %v and %v, want [1] and [1 2]", *got, *other)
		}
	})
}

func TestRemoveFromTheListener(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		var got []int
		var remove func()
		remove = set.Listenable().Add(func(_ context.Context, event int) {
			got = append(got, event)
			remove()
		})
		for i := range 5 {
			set.Notify(i)
		}
		mustClose(t, set)
		if !slices.Equal(got, []int{0}) {
			t.Errorf("got %v, want [0]", got)
		}
	})
}

// A call that is running is not waited for, what waits behind it is dropped, and no
// goroutine is left behind, closed or not.
func TestRemoveDuringACall(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		var got []int
		remove := set.Listenable().Add(func(_ context.Context, event int) {
			time.Sleep(time.Hour)
			got = append(got, event)
		})
		for i := range 5 {
			set.Notify(i)
		}
		synctest.Wait()
		start := time.Now()
		remove()
		if time.Since(start) > 0 {
			t.Error("remove waited")
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if !slices.Equal(got, []int{0}) {
			t.Errorf("got %v, want [0]", got)
		}
	})
}

func TestNotifyAndAddFromAListener(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		var late *[]int
		var got []int
		set.Listenable().Add(func(_ context.Context, event int) {
			got = append(got, event)
			if event == 0 {
				late, _ = collect(set)
			}
			if event < 3 {
				set.Notify(event + 1)
			}
		})
		set.Notify(0)
		synctest.Wait()
		if !slices.Equal(got, []int{0, 1, 2, 3}) || !slices.Equal(*late, []int{1, 2, 3}) {
			t.Errorf("got %v, and the one added within %v", got, *late)
		}
	})
}

func TestNothingToDo(t *testing.T) {
	var none listen.Listenable[int]
	none.Add(func(context.Context, int) { t.Error("called") })()

	var set listen.Set[int]
	set.Listenable().Add(nil)()
	set.Notify(1)
	mustClose(t, &set)
	mustClose(t, &set) // twice is harmless

	set.Listenable().Add(func(context.Context, int) { t.Error("called after Close") })()
	set.Notify(2)
	mustClose(t, &set)
}

// Between events a set owns no goroutine, so a recipe that forgets Close leaks none: the
// bubble fails if one is left at its end.
func TestIdleSetHasNoGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		for range 10 {
			collect(set)
		}
		set.Notify(1)
		synctest.Wait()
	})
}

// A listener that ends its goroutine, as one that calls t.FailNow does, is neither waited
// for nor deaf from then on.
func TestListenerThatEndsItsGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		var got []int
		set.Listenable().Add(func(_ context.Context, event int) {
			got = append(got, event)
			runtime.Goexit()
		})
		for i := range 3 {
			set.Notify(i)
		}
		mustClose(t, set)
		if !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("got %v, want [0 1 2]", got)
		}
	})
}

func TestConcurrentSafe(t *testing.T) {
	var set listen.Set[int]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 200 {
				remove := set.Listenable().Add(func(context.Context, int) {})
				set.Notify(i)
				remove()
				set.Listenable().Add(func(context.Context, int) {})
			}
		})
	}
	wg.Go(func() {
		if err := set.Close(t.Context()); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Close: %v", err)
		}
	})
	wg.Wait()
	mustClose(t, &set)
}

func isStillRunning(err error, n string) bool {
	return err != nil && strings.Contains(err.Error(), "still running: "+n)
}
