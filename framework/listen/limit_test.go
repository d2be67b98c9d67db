package listen_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework/listen"
)

// sums is a backlog that adds events up.
type sums struct{ sum, n int }

func (s *sums) Add(event int) { s.sum, s.n = s.sum+event, s.n+1 }
func (s *sums) Take() []int {
	if s.sum == 0 {
		return nil
	}
	return []int{s.sum, -s.n}
}

func newSums() listen.Backlog[int] { return &sums{} }

// heldUp adds a listener that waits in its first call until it may go on.
func heldUp(set *listen.Set[int]) (got *[]int, goOn chan struct{}) {
	got, goOn = new([]int), make(chan struct{})
	set.Listenable().Add(func(_ context.Context, event int) {
		*got = append(*got, event)
		<-goOn
	})
	return got, goOn
}

func notify(set *listen.Set[int], events ...int) {
	for _, event := range events {
		set.Notify(event)
	}
	synctest.Wait()
}

func TestLimit(t *testing.T) {
	for name, c := range map[string]struct{ events, want []int }{
		"there is room":          {[]int{1, 2, 3, 4}, []int{1, 2, 3, 4}},
		"one too many":           {[]int{1, 2, 3, 4, 5}, []int{1, 2, 3, 4, 5, -1}},
		"many too many":          {[]int{1, 2, 3, 4, 5, 6, 7}, []int{1, 2, 3, 4, 18, -3}},
		"the rest sums up to 0":  {[]int{1, 2, 3, 4, 5, -5}, []int{1, 2, 3, 4}},
		"the rest sums up again": {[]int{1, 2, 3, 4, 5, -5, 1}, []int{1, 2, 3, 4, 1, -3}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, set *listen.Set[int]) {
				set.Limit(3, newSums)
				quick, _ := collect(set)
				got, goOn := heldUp(set)
				for _, event := range c.events {
					notify(set, event)
				}
				close(goOn)
				synctest.Wait()
				notify(set, 100, 101)
				if want := append(slices.Clone(c.want), 100, 101); !slices.Equal(*got, want) {
					t.Errorf("got %v, want %v", *got, want)
				}
				if want := append(slices.Clone(c.events), 100, 101); !slices.Equal(*quick, want) {
					t.Errorf("the listener that is quick got %v, want %v", *quick, want)
				}
				mustClose(t, set)
			})
		})
	}
}

// What comes while the listener works off a full queue waits behind it, and comes as one.
func TestLimitUntilTheQueueIsEmpty(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		set.Limit(2, newSums)
		var got []int
		step := make(chan struct{})
		set.Listenable().Add(func(_ context.Context, event int) {
			<-step
			got = append(got, event)
		})
		notify(set, 1)
		notify(set, 2, 3, 4)
		step <- struct{}{} // there is room for one again
		notify(set, 5)
		step <- struct{}{}
		step <- struct{}{} // now for all
		synctest.Wait()
		notify(set, 6)
		close(step)
		mustClose(t, set)
		if want := []int{1, 2, 3, 9, -2, 6}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestNewest(t *testing.T) {
	bubble(t, func(t *testing.T, set *listen.Set[int]) {
		set.Limit(1, listen.Newest)
		got, goOn := heldUp(set)
		for i := range 10 {
			notify(set, i)
		}
		close(goOn)
		synctest.Wait()
		notify(set, 10)
		if want := []int{0, 1, 9, 10}; !slices.Equal(*got, want) {
			t.Errorf("got %v, want %v", *got, want)
		}
		mustClose(t, set)
	})
}

// What is behind a full queue is delivered by Close, and dropped with the listener.
func TestLimitAtTheEnd(t *testing.T) {
	for _, removed := range []bool{false, true} {
		bubble(t, func(t *testing.T, set *listen.Set[int]) {
			set.Limit(1, listen.Newest)
			var got []int
			goOn := make(chan struct{})
			remove := set.Listenable().Add(func(_ context.Context, event int) {
				got = append(got, event)
				<-goOn
			})
			for i := range 10 {
				notify(set, i)
			}
			want := []int{0, 1, 9}
			if removed {
				remove()
				want = want[:1]
			}
			close(goOn)
			mustClose(t, set)
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
