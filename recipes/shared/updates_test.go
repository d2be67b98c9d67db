package shared_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/shared"
)

// Updates waits for Start, yields what there is, then what is newer, merges what a slow body
// does not see, and ends with its context, with Close, and with break.
func TestUpdates(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.set(1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		values := make(chan int)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for v := range e.count.Updates(ctx) {
				values <- v.Value
			}
		}()
		synctest.Wait()
		select {
		case n := <-values:
			t.Fatalf("%d before Start", n)
		default:
		}
		e.start()
		if n := <-values; n != 1 {
			t.Fatalf("the first is %d", n)
		}
		for n := range int32(10) {
			e.set(10 + n)
			e.until(10 + int(n))
			synctest.Wait() // the body has what it is about to see
		}
		if first, second := <-values, <-values; first != 10 || second != 19 {
			t.Errorf("%d and %d follow, want 10, which the body was about to see, and 19", first, second)
		}
		cancel()
		<-ended

		for v := range e.count.Updates(t.Context()) {
			if v.Value != 19 {
				t.Errorf("the present value is %d", v.Value)
			}
			break
		}
		ended = make(chan struct{})
		seen := make(chan shared.VersionedValue[int], 1)
		go func() {
			defer close(ended)
			for v := range e.count.Updates(t.Context()) {
				seen <- v
			}
		}()
		<-seen
		e.close(t.Context())
		<-ended
		for v := range e.count.Updates(t.Context()) {
			t.Errorf("%v after Close", v)
		}
	})
}

// Listeners of the count hear of other numbers only, those of the value of each newer one.
func TestListenersHearChanges(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, shared.WithoutCreate())
		var values []int
		e.count.Listenable().Add(func(_ context.Context, v shared.VersionedValue[int]) { values = append(values, v.Value) })
		e.start()
		for _, n := range []int{seed, seed, 1, 1} {
			suite.Got(e.count.Set(t.Context(), n)).OK(e.t)
			synctest.Wait()
		}
		e.network.Cut() // after which the value is read again
		synctest.Wait()
		e.untilConnected()
		synctest.Wait()
		if len(values) != 4 || len(e.told) != 1 || e.told[0] != 1 {
			t.Errorf("heard of the values %v and the numbers %v", values, e.told)
		}
	})
}
