package exclusion_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/verify/exclusion"
)

// held is a hold from one millisecond to another.
func held(name string, from, to int, change ...func(h *exclusion.Hold)) namedHold {
	h := namedHold{name: name, Hold: exclusion.Hold{Begin: time.Duration(from) * time.Millisecond, End: time.Duration(to) * time.Millisecond}}
	for _, c := range change {
		c(&h.Hold)
	}
	return h
}

type namedHold struct {
	name string
	exclusion.Hold
}

func through(h *exclusion.Hold) { h.Through = true }
func reader(h *exclusion.Hold)  { h.Shared = true }
func leaseOf(n int) func(h *exclusion.Hold) {
	return func(h *exclusion.Hold) { h.Shared, h.Leases = true, n }
}
func wrongBy(ms int) func(h *exclusion.Hold) {
	return func(h *exclusion.Hold) { h.Error = time.Duration(ms) * time.Millisecond }
}

// Each table is the holds of a lock, with the conflicts in them: who began beside whom, and for how long.
func TestFind(t *testing.T) {
	for name, tt := range map[string]struct {
		holds []namedHold
		want  string
	}{
		"nobody":                       {nil, ""},
		"one after the other":          {[]namedHold{held("a", 0, 10), held("b", 20, 30)}, ""},
		"over when the next one is in": {[]namedHold{held("a", 0, 10), held("b", 10, 30)}, ""},
		"believed when the next one is in": {
			[]namedHold{held("a", 0, 10, through), held("b", 10, 30)}, "b beside a for 0s",
		},
		"both believe":                     {[]namedHold{held("a", 0, 25), held("b", 10, 30)}, "b beside a for 15ms"},
		"one within the other":             {[]namedHold{held("a", 0, 100), held("b", 10, 30)}, "b beside a for 20ms"},
		"in another order":                 {[]namedHold{held("b", 10, 30), held("a", 0, 25)}, "b beside a for 15ms"},
		"beside two":                       {[]namedHold{held("a", 0, 50), held("b", 10, 40), held("c", 20, 30)}, "b beside a for 30ms, c beside a for 10ms, c beside b for 10ms"},
		"believed only when granted":       {[]namedHold{held("a", 0, 50), held("b", 10, 10)}, "b beside a for 0s"},
		"believed when granted at once":    {[]namedHold{held("a", 10, 10), held("b", 10, 30)}, "a beside b for 0s"},
		"the same in another order":        {[]namedHold{held("b", 10, 30), held("a", 10, 10)}, "a beside b for 0s"},
		"both over at once":                {[]namedHold{held("a", 10, 10), held("b", 10, 10)}, ""},
		"both believed for an instant":     {[]namedHold{held("a", 10, 10, through), held("b", 10, 10, through)}, "b beside a for 0s"},
		"one more lease, and over at once": {[]namedHold{held("a", 10, 10, leaseOf(1)), held("b", 10, 30, leaseOf(1))}, "a beside b for 0s"},
		"after one that was long over":     {[]namedHold{held("a", 0, 50), held("b", 60, 70), held("c", 65, 80)}, "c beside b for 5ms"},
		"readers":                          {[]namedHold{held("a", 0, 50, reader), held("b", 10, 50, reader), held("c", 20, 50, reader)}, ""},
		"a reader beside a writer":         {[]namedHold{held("a", 0, 50), held("b", 10, 40, reader)}, "b beside a for 30ms"},
		"a writer beside a reader":         {[]namedHold{held("a", 0, 50, reader), held("b", 10, 40)}, "b beside a for 30ms"},
		"as many as there are leases":      {[]namedHold{held("a", 0, 50, leaseOf(2)), held("b", 10, 50, leaseOf(2)), held("c", 50, 60, leaseOf(2))}, ""},
		"more than there are leases": {
			[]namedHold{held("a", 0, 50, leaseOf(2)), held("b", 10, 25, leaseOf(2)), held("c", 20, 60, leaseOf(2))}, "c beside a, b for 5ms",
		},
		"two of one lease": {[]namedHold{held("a", 0, 50, leaseOf(1)), held("b", 10, 25, leaseOf(1))}, "b beside a for 15ms"},
		"not longer than its error": {
			[]namedHold{held("a", 0, 25, wrongBy(10)), held("b", 10, 30, wrongBy(5))}, "b beside a for 15ms (doubtful)",
		},
		"longer than its error": {[]namedHold{held("a", 0, 25, wrongBy(10)), held("b", 10, 30, wrongBy(4))}, "b beside a for 15ms"},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tt.holds)
			var found []string
			for _, c := range exclusion.Find(tt.holds, func(h namedHold) exclusion.Hold { return h.Hold }) {
				var others []string
				for _, other := range c.Others {
					others = append(others, other.name)
				}
				text := fmt.Sprintf("%s beside %s for %v", c.Begun.name, strings.Join(others, ", "), c.By)
				if c.Doubtful() {
					text += " (doubtful)"
				}
				found = append(found, text)
			}
			if got := strings.Join(found, ", "); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
			if !slices.Equal(before, tt.holds) {
				t.Error("the holds were changed")
			}
		})
	}
}
