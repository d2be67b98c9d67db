package queue

import (
	"math"
	"strings"
	"testing"
	"time"
)

// FuzzItemNames reads the names of items, which anybody may have made, and makes names.
func FuzzItemNames(f *testing.F) {
	f.Add("queue-|18BCFE56800|0000000001", "a/b|c", int64(1700000000000), int32(-1))
	f.Add("queue-17FFFFFFF0000000001", "", int64(-1), int32(math.MaxInt32))
	f.Add("queue-||", "|", int64(math.MinInt64), int32(math.MinInt32))
	f.Add("queue-|-8000000000000000|1", "\xff", int64(math.MaxInt64), int32(0))
	f.Fuzz(func(t *testing.T, name, id string, ms int64, priority int32) {
		for _, s := range []scheme{plainNames, priorityNames, idNames, delayNames} {
			_ = s.key(name)
			if prefix := s.prefix(name); !strings.HasPrefix(name, prefix) && prefix != itemPrefix {
				t.Errorf("%s: an item %q is put back as %q", s.kind, name, prefix)
			}
		}
		const number = "0000000001"
		if made := idName(id) + number; !hasID(made, id) || withoutID(made) != itemPrefix+number || markedPrefix(made)+number != made {
			t.Errorf("the name of an item with the id %q is %q", id, made)
		}
		if made := priorityName(priority) + number; priorityPrefix(made)+number != made {
			t.Errorf("the priority of %q is lost", made)
		}
		due := time.UnixMilli(ms)
		if made := delayName(due) + number; ms >= 0 && dueOf(made) != ms || markedPrefix(made)+number != made {
			t.Errorf("%q is due at %d, not %d", made, dueOf(made), ms)
		}
	})
}
