package queue

import (
	"math"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkconn"
)

// An event that comes between the two lists is not undone by the second one. An item is taken once
// both lists are there.
func TestEventBetweenLists(t *testing.T) {
	l := newListing(layout.PlainItems, "/q", "/locks", func(string) {})
	event := func(on func(zkconn.WatchEvent), kind zkconn.EventType, path string) {
		on(zkconn.WatchEvent{Type: kind, Path: path})
	}
	next := func(want string) {
		t.Helper()
		i := l.next(time.Now())
		switch {
		case i == nil && want != "":
			t.Errorf("nothing is next, want %s", want)
		case i != nil && i.name != want:
			t.Errorf("%s is next, want %q", i.name, want)
		}
		if i != nil {
			l.again(i)
		}
	}
	for range 2 {
		l.setItems([]string{"queue-0000000001"})
		event(l.onItem, zkconn.NodeCreated, "/q/queue-0000000000")
		event(l.onItem, zkconn.NodeDeleted, "/q/queue-0000000001")
		next("")
		event(l.onLock, zkconn.NodeCreated, "/locks/queue-0000000000")
		l.setLocks([]string{"queue-0000000000"})
		next("")
		event(l.onLock, zkconn.NodeDeleted, "/locks/queue-0000000000")
		next("queue-0000000000")
		event(l.onItem, zkconn.NodeCreated, "/q/queue-0000000000/below")
		event(l.onItem, zkconn.NodeDataChanged, "/q/queue-0000000000")
		next("queue-0000000000")
		event(l.onItem, zkconn.WatchReset, "/q")
		event(l.onLock, zkconn.WatchReset, "/locks")
		next("")
	}
}

// An item whose name somebody has made by hand does not hold up the items behind it.
func TestImpossibleTimes(t *testing.T) {
	for _, due := range []string{"-7FFFFFFFFFFFFFFF", "-1", "8000000000000000", "x", ""} {
		l := newListing(layout.DelayItems, "/q", "", func(string) {})
		l.setItems([]string{"queue-|" + due + "|0000000001", layout.DelayPrefix(time.UnixMilli(1)) + "0000000002"})
		for range 2 {
			if i := l.next(time.Now()); i == nil {
				t.Errorf("the time %q: an item that is due is not next", due)
			}
		}
	}
}

// Times that do not fit into 64 bits of milliseconds are as far away as can be, or past.
func TestTimesThatDoNotFit(t *testing.T) {
	const far = 1 << 61
	for name, c := range map[string]struct {
		due  time.Time
		past bool
	}{
		"far future":   {time.Unix(far, 999_999_999), false},
		"last moment":  {time.UnixMilli(math.MaxInt64), false},
		"behind it":    {time.UnixMilli(math.MaxInt64).Add(1), false},
		"far past":     {time.Unix(-far, 0), true},
		"first moment": {time.UnixMilli(math.MinInt64), true},
		"before it":    {time.UnixMilli(math.MinInt64).Add(-1), true},
		"no time":      {time.Time{}, true},
	} {
		if due := layout.DelayItems.Order(layout.DelayPrefix(c.due) + "0000000001").Due; (due == 0) != c.past || due < 0 || !c.past && due != math.MaxInt64 {
			t.Errorf("%s: due at %d", name, due)
		}
	}
}
