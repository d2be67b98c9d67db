package background_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/internal/background"
)

func TestGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g background.Group
		if n := g.Wait(t.Context()); n != 0 {
			t.Errorf("%d run in an empty group", n)
		}
		end := make(chan struct{})
		for range 2 {
			if !g.Start(func() { <-end }) {
				t.Fatal("the group is closed")
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if n := g.Wait(ended); n != 2 {
			t.Errorf("%d run, want 2", n)
		}
		g.Close()
		if g.Start(func() {}) || g.Enter() {
			t.Error("a closed group has started something")
		}
		close(end)
		if n := g.Wait(t.Context()); n != 0 {
			t.Errorf("%d run behind Wait", n)
		}
	})
}

func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g background.Group
		var q background.Queue
		var got []int
		goOn := make(chan struct{})
		q.Add(&g, func() { <-goOn })
		for i := range 10 {
			q.Add(&g, func() { got = append(got, i) })
		}
		g.Close()
		if !q.Add(&g, func() { got = append(got, 10) }) {
			t.Error("what waits behind others was refused")
		}
		close(goOn)
		g.Wait(t.Context())
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(got, want) {
			t.Errorf("ran %v", got)
		}
		if q.Add(&g, func() {}) {
			t.Error("the queue of a closed group has taken a task")
		}
	})
}

// A task can end its goroutine, as t.FailNow does. The others run all the same, and are joined.
func TestQueueGoesOnBehindGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g background.Group
		var q background.Queue
		var got []int
		for i := range 3 {
			q.Add(&g, func() {
				got = append(got, i)
				runtime.Goexit()
			})
		}
		g.Close()
		if n := g.Wait(t.Context()); n != 0 || !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("ran %v, %d run behind Wait", got, n)
		}
	})
}

func TestInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		inbox := background.NewInbox(func(i int) { got = append(got, i) })
		const many = 1000
		release := inbox.Hold()
		for i := range many / 2 {
			inbox.Add(i)
		}
		synctest.Wait()
		if len(got) > 0 {
			t.Errorf("%d were handled while they were held", len(got))
		}
		release()
		for i := many / 2; i < many; i++ {
			inbox.Add(i)
		}
		inbox.Close(t.Context())
		inbox.Add(many)
		synctest.Wait()
		if len(got) != many || !slices.IsSorted(got) {
			t.Errorf("%d of %d were handled, in order %v", len(got), many, slices.IsSorted(got))
		}
	})
}
