package listen_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework/listen"
)

func TestCloseEndsTheContext(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		var ended, before bool
		set.Listenable().Add(func(ctx context.Context, _ int) {
			before = ctx.Err() == nil
			<-ctx.Done()
			ended = true
		})
		set.Notify(1)
		synctest.Wait()
		if ended {
			t.Fatal("the context ended before Close")
		}
		mustClose(t, set)
		if !before || !ended {
			t.Errorf("before Close alive: %t; ended by it and joined: %t", before, ended)
		}
	})
}

func TestRemoveDoesNotEndTheContext(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		remove := set.Listenable().Add(func(ctx context.Context, _ int) {
			time.Sleep(time.Hour)
			if ctx.Err() != nil {
				t.Error("remove ended the context of the running call")
			}
		})
		set.Notify(1)
		synctest.Wait()
		remove()
		time.Sleep(2 * time.Hour)
	})
}

// The last events of a source tend to be notified right before its Close.
func TestCloseDeliversWhatWasNotified(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		got, _ := collect(set)
		for i := range 100 {
			set.Notify(i)
		}
		mustClose(t, set)
		if !slices.Equal(*got, count(0, 100)) {
			t.Errorf("got %d of 100", len(*got))
		}
	})
}

func TestNothingIsDeliveredAfterClose(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		got, _ := collect(set)
		set.Notify(1)
		mustClose(t, set)
		late, _ := collect(set)
		set.Notify(2)
		synctest.Wait()
		if !slices.Equal(*got, []int{1}) || len(*late) > 0 {
			t.Errorf("got %v, and the one added after Close %v", *got, *late)
		}
	})
}

func TestCloseGivesUpWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		var calls, sum atomic.Int32
		for range 2 {
			set.Listenable().Add(func(_ context.Context, event int) {
				time.Sleep(time.Hour) // deaf to its context
				calls.Add(1)
				sum.Add(int32(event))
			})
		}
		collect(set)
		set.Notify(1)
		set.Notify(2)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		err := set.Close(ctx)
		if !isStillRunning(err, "2") || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("Close: %v after %v", err, time.Since(start))
		}
		mustClose(t, set) // waits for those
		if calls.Load() != 2 || sum.Load() != 2 {
			t.Errorf("%d calls; no call may begin once Close has given up", calls.Load())
		}
	})
}

func TestCloseWithAnEndedContext(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		collect(set)
		if err := set.Close(ended); err != nil {
			t.Errorf("nothing runs: %v", err)
		}
	})
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		set.Listenable().Add(func(ctx context.Context, _ int) { <-ctx.Done() })
		set.Notify(1)
		synctest.Wait()
		if err := set.Close(ended); !isStillRunning(err, "1") || !errors.Is(err, context.Canceled) {
			t.Errorf("Close: %v", err)
		}
		mustClose(t, set) // the first one did end the context
	})
}

func TestCloseJoinsRemovedListeners(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		done := false
		remove := set.Listenable().Add(func(context.Context, int) {
			time.Sleep(time.Hour)
			done = true
		})
		set.Notify(1)
		synctest.Wait()
		remove()
		mustClose(t, set)
		if !done {
			t.Error("Close returned while a removed listener was running")
		}
	})
}

func TestConcurrentClose(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		set.Listenable().Add(func(context.Context, int) { time.Sleep(time.Hour) })
		set.Notify(1)
		start := time.Now()
		other := make(chan error)
		go func() { other <- set.Close(t.Context()) }()
		mustClose(t, set)
		if err := <-other; err != nil || time.Since(start) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestCloseFromAListener(t *testing.T) {
	own := func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
	bounded := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	}
	for name, tt := range map[string]struct {
		ctx    func(context.Context) (context.Context, context.CancelFunc)
		other  time.Duration // how long another listener takes
		takes  time.Duration
		others string
	}{
		"its context, alone":            {own, 0, 0, ""},
		"its context, another runs":     {own, time.Second, 0, "1"},
		"a bound, alone":                {bounded, 0, 0, ""},
		"a bound, another runs":         {bounded, time.Second, time.Second, ""},
		"a bound, another runs on":      {bounded, time.Hour, time.Minute, "1"},
		"unrelated waits for itself":    {unrelated(t), 0, time.Minute, "1"},
		"unrelated, and for the others": {unrelated(t), time.Hour, time.Minute, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, set *listen.Set[int]) {
				if tt.other > 0 {
					set.Listenable().Add(func(context.Context, int) { time.Sleep(tt.other) })
				}
				var err error
				var took time.Duration
				set.Listenable().Add(func(ctx context.Context, _ int) {
					ctx, cancel := tt.ctx(ctx)
					defer cancel()
					start := time.Now()
					err = set.Close(ctx)
					took = time.Since(start)
				})
				set.Notify(1)
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if took != tt.takes {
					t.Errorf("took %v, want %v", took, tt.takes)
				}
				if tt.others == "" && err != nil || tt.others != "" && !isStillRunning(err, tt.others) {
					t.Errorf("Close: %v; want %q still running", err, tt.others)
				}
				mustClose(t, set)
			})
		})
	}
}

// unrelated has a context that knows nothing of the listener that closes with it.
func unrelated(t *testing.T) func(context.Context) (context.Context, context.CancelFunc) {
	return func(context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	}
}

// Listeners that close their set at the same time, and somebody else who does, do not wait for each other.
func TestListenersClose(t *testing.T) {
	for _, listeners := range []int{1, 2, 3} {
		bubble(t, func(t *testing.T, set *listen.Set[int]) {
			for range listeners {
				set.Listenable().Add(func(ctx context.Context, _ int) {
					time.Sleep(time.Second)
					if err := set.Close(context.WithoutCancel(ctx)); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Second)
				})
			}
			set.Notify(1)
			begin := time.Now()
			mustClose(t, set)
			// One that is through its Close is waited for by others until it returns.
			if took := time.Since(begin); took < 2*time.Second || took > time.Duration(1+listeners)*time.Second {
				t.Errorf("Close took %v, and each listener 2 s", took)
			}
		})
	}
}

// A listener of one set that closes another is nothing special to the other.
func TestCloseOfAnotherSet(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		var other listen.Set[int]
		otherDone := false
		other.Listenable().Add(func(ctx context.Context, _ int) {
			time.Sleep(time.Second)
			otherDone = true
		})
		set.Listenable().Add(func(ctx context.Context, event int) {
			other.Notify(event)
			if err := other.Close(ctx); err != nil || !otherDone {
				t.Errorf("Close: %v; joined: %t", err, otherDone)
			}
		})
		set.Notify(1)
		time.Sleep(time.Hour)
		mustClose(t, set)
	})
}
