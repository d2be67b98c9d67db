package lockqueue

import (
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// FuzzNames reads the names of children, which anybody may have made.
func FuzzNames(f *testing.F) {
	f.Add("_c_6f2b6a5e-0a5c-4d5e-9d0f-0123456789ab-lock-0000000042", "latch-0000000001", "x__READ__2147483647")
	f.Add("lock--000000001", "lock-lock-0000000001", "lock-\u0660000000001")
	f.Add("leases", "", "0000000001")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		names := []string{a, b, c}
		for _, name := range names {
			wantSound(t, name)
		}
		order := func(name string) string { return Order(name, MutexName) }
		queue := Sort(names, order)
		if !slices.IsSortedFunc(queue, func(a, b string) int { return strings.Compare(order(a), order(b)) }) {
			t.Errorf("%q was sorted as %q", names, queue)
		}
		slices.Reverse(names)
		if again := Sort(names, order); !slices.Equal(queue, again) {
			t.Errorf("%q, and listed in another order %q", queue, again)
		}
	})
}

// wantSound sees that what is read from a name agrees with itself.
func wantSound(t *testing.T, name string) {
	for _, kind := range []string{MutexName, LatchName, ReadName, WriteName} {
		switch order := Order(name, kind); {
		case order == "":
		case !strings.HasSuffix(name, kind+order), len(order) < 10, len(order) > 11:
			t.Errorf("the order of %q among %q is %q", name, kind, order)
		case KindOf(name) == "":
			t.Errorf("%q has the number %q, and no kind", name, order)
		}
	}
	if n, ok := sequence(name); ok && (n < 0 || n > 2147483647-reserve) {
		t.Errorf("%q has the number %d", name, n)
	}
}
