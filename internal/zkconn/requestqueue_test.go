package zkconn

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever comes and goes, the queue gives back what was put in, in that order, and keeps
// nothing of what was taken.
func TestPendingQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l pendingQueue
		next, oldest := int32(0), int32(0)
		for _, n := range rapid.SliceOf(rapid.IntRange(-40, 40)).Draw(t, "added, or if negative taken") {
			for ; n > 0; n-- {
				l.add(pending{xid: next, batch: new(batch)})
				next++
			}
			for ; n < 0 && oldest < next; n++ {
				if p := l.take(); p.xid != oldest || p.batch == nil {
					t.Fatalf("took %+v, want %d", p, oldest)
				}
				oldest++
			}
			waiting := l.waiting()
			if len(waiting) != int(next-oldest) || len(waiting) > 0 && waiting[0].xid != oldest {
				t.Fatalf("%d wait, from %v; want %d, from %d", len(waiting), waiting, next-oldest, oldest)
			}
			kept := 0
			for _, p := range l.all[:cap(l.all)] {
				if p.batch != nil {
					kept++
				}
			}
			if kept != len(waiting) {
				t.Fatalf("%d are kept, of which %d wait", kept, len(waiting))
			}
		}
	})
}

// A queue of constant length needs no new memory, and one that was very long gives it back.
func TestPendingQueueMemory(t *testing.T) {
	var l pendingQueue
	for range 3 {
		l.add(pending{})
	}
	if n := testing.AllocsPerRun(1000, func() { l.add(pending{}); l.take() }); n != 0 {
		t.Errorf("%v allocations for each", n)
	}
	for range 100_000 {
		l.add(pending{})
	}
	for range 100_003 {
		l.take()
	}
	if cap(l.all) != 0 {
		t.Errorf("room for %d is kept", cap(l.all))
	}
}
