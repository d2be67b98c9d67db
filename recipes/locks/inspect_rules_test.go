package locks

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/internal/layout"
)

// Inspect, and everything else that lists holders by package layout, sees the holders that the locks let
// in. A writer is let in without the readers of its own number: they are downgraded from it.
func TestHoldersAreThoseLetIn(t *testing.T) {
	standard := StandardLockInternalsDriver{}
	for kind, marks := range map[string][]string{
		layout.KindMutex: {layout.LockMark}, layout.KindLatch: {layout.LatchMark}, layout.KindReadWrite: {layout.ReadMark, layout.WriteMark},
	} {
		rapid.Check(t, func(r *rapid.T) {
			leases := rapid.IntRange(1, 3).Draw(r, "leases")
			var names []string
			for i := range rapid.IntRange(0, 6).Draw(r, "nodes") {
				mark := rapid.SampledFrom(marks).Draw(r, "mark")
				names = append(names, fmt.Sprintf("%c%d-%s%010d", 'a'+rapid.IntRange(0, 3).Draw(r, "name"), i, mark, rapid.IntRange(0, 4).Draw(r, "number")))
			}
			queue := layout.Sort(names, func(name string) string { return layout.LockOrder(kind, name) })
			seen := layout.ReadLockQueue(kind, names, leases)
			for _, name := range queue {
				var driver LockInternalsDriver = standard
				others, most := queue, leases
				switch {
				case kind == layout.KindLatch:
					most = 1
				case layout.IsReader(name):
					driver = readDriver{}
				case layout.IsWriter(name):
					driver, most = writeDriver{}, 1
					others = slices.DeleteFunc(slices.Clone(queue), func(other string) bool {
						return layout.IsReader(other) && layout.ReadWriteNumber(other) == layout.ReadWriteNumber(name)
					})
				}
				if in := driver.GetsTheLock(others, name, most).GetsTheLock; in != slices.Contains(seen.Holders, name) {
					r.Fatalf("%s: of %q with %d leases %s is let in: %t, and the holders are %q", kind, queue, leases, name, in, seen.Holders)
				}
			}
		})
	}
}
