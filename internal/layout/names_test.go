package layout

import (
	"slices"
	"strings"
	"testing"
)

const (
	protection = "_c_53345f98-9423-4e0c-a7b5-9f819e3ec2e1-"
	zkDriver   = "_c_8f14e45fceea467a9b3ec9a0d0a1b2c3-" // of go-zookeeper, which has no protection for Curator
	kazoo      = "8f14e45fceea467a9b3ec9a0d0a1b2c3"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct{ name, mark, want string }{
		{protection + "lock-0000000003", LockMark, "0000000003"}, // of Java Curator 5.4.0
		{protection + "latch-2147483647", LatchMark, "2147483647"},
		{protection + "lease-0000000000", LeaseMark, "0000000000"},
		{protection + "__READ__0000000001", ReadMark, "0000000001"},
		{zkDriver + "lock-0000000007", LockMark, "0000000007"},
		{"lock--2147483648", LockMark, "-2147483648"}, // the server has wrapped around
		{"lock-lock-0000000001", LockMark, "0000000001"},
		{kazoo + "__lock__0000000001", LockMark, ""},
		{"lock--000000001", LockMark, ""},
		{"lock-1", LockMark, ""},
		{"lock-00000000010", LockMark, ""},
		{"lock-000000000x", LockMark, ""},
		{"lock-\u0660000000001", LockMark, ""},
		{"lock-0000000001.released", LockMark, ""},
		{"", "", ""},
	} {
		if got := Number(c.name, c.mark); got != c.want {
			t.Errorf("the number of %q behind %q is %q, want %q", c.name, c.mark, got, c.want)
		}
	}
}

func TestSequence(t *testing.T) {
	for name, want := range map[string]int64{
		"lock-0000000042": 42, "x2147483647": 2147483647, "lock-2147483648": -1, "lock--000000001": -1, "000000042": -1, "": -1,
	} {
		mark := LockMark
		if name == "x2147483647" {
			mark = "x"
		}
		if n, ok := Sequence(name, mark); ok != (want >= 0) || ok && n != want {
			t.Errorf("the number of %q is %d, %t, want %d", name, n, ok, want)
		}
	}
}

func TestProtection(t *testing.T) {
	const id = "53345f98-9423-4e0c-a7b5-9f819e3ec2e1"
	for name, want := range map[string][2]string{
		protection + "lock-0000000003":               {id, "lock-0000000003"},
		protection:                                   {id, ""},
		"_c_" + strings.ToUpper(id) + "-x":           {strings.ToUpper(id), "x"},
		"_c_" + id:                                   {"", "_c_" + id},
		"_c_" + id + "+x":                            {"", "_c_" + id + "+x"},
		"c_" + id + "-x":                             {"", "c_" + id + "-x"},
		"_c_g3345f98-9423-4e0c-a7b5-9f819e3ec2e1-x":  {"", "_c_g3345f98-9423-4e0c-a7b5-9f819e3ec2e1-x"},
		"_c_53345f98_9423-4e0c-a7b5-9f819e3ec2e1-xx": {"", "_c_53345f98_9423-4e0c-a7b5-9f819e3ec2e1-xx"},
		zkDriver + "lock-0000000000":                 {"", zkDriver + "lock-0000000000"},
		"":                                           {"", ""},
	} {
		if id, rest := CutProtection(name); id != want[0] || rest != want[1] {
			t.Errorf("%q is split into %q and %q, want %q", name, id, rest, want)
		}
	}
}

func TestUUID(t *testing.T) {
	for random, want := range map[[16]byte]string{
		{}: "00000000-0000-4000-8000-000000000000",
		{0: 0x53, 1: 0x34, 2: 0x5f, 3: 0x98, 6: 0xff, 8: 0xff, 15: 0xe1}: "53345f98-0000-4f00-bf00-0000000000e1",
	} {
		if got := UUID(random); got != want || !IsUUID(got) {
			t.Errorf("the UUID of %x is %q, want %q", random, got, want)
		}
	}
}

// FuzzNames reads the names of children, which anybody may have made.
func FuzzNames(f *testing.F) {
	f.Add("_c_6f2b6a5e-0a5c-4d5e-9d0f-0123456789ab-lock-0000000042", "latch-0000000001", "x__READ__2147483647")
	f.Add("lock--000000001", "lock-lock-0000000001", "lock-\u0660000000001")
	f.Add("leases", "", "0000000001")
	f.Add("x__WRIT__0000000001", "x__READ__0000000001", "_c_")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		id := UUID([16]byte{1, 2, 3})
		names := []string{a, b, c}
		for _, name := range names {
			wantSound(t, name)
			if got, rest := CutProtection(Protected(name, id)); got != id || rest != name {
				t.Errorf("%q with the protection %s is read as %q, %q", name, id, got, rest)
			}
		}
		for _, kind := range []string{KindMutex, KindLatch, KindReadWrite} {
			wantTotal(t, names, func(name string) string { return LockOrder(kind, name) })
		}
		wantTotal(t, names, Tail)
	})
}

// wantTotal sees that the order in which a server lists names makes no difference.
func wantTotal(t *testing.T, names []string, order func(name string) string) {
	t.Helper()
	queue := Sort(names, order)
	if !slices.IsSortedFunc(queue, func(a, b string) int { return strings.Compare(order(a), order(b)) }) {
		t.Errorf("%q was sorted as %q", names, queue)
	}
	names = slices.Clone(names)
	slices.Reverse(names)
	if again := Sort(names, order); !slices.Equal(queue, again) {
		t.Errorf("%q, and listed in another order %q", queue, again)
	}
}

// wantSound sees that what is read from a name agrees with itself.
func wantSound(t *testing.T, name string) {
	t.Helper()
	for _, mark := range []string{LockMark, LatchMark, ReadMark, WriteMark} {
		switch number := Number(name, mark); {
		case number == "":
		case !strings.HasSuffix(name, mark+number), len(number) < 10, len(number) > 11:
			t.Errorf("the number of %q behind %q is %q", name, mark, number)
		case LockKind(name) == "":
			t.Errorf("%q has the number %q, and no kind", name, number)
		}
	}
	if kind := LockKind(name); kind != "" && kind != KindSemaphoreV2 && kind != KindReadWrite && LockOrder(kind, name) == "" {
		t.Errorf("%q is of a %s, and has no place in it", name, kind)
	}
	if n, ok := Sequence(name, LockMark); ok && (n < 0 || n > 2147483647) {
		t.Errorf("%q has the number %d", name, n)
	}
	for _, ephemeral := range []bool{false, true} {
		class, order := Classify(name, ephemeral)
		if (class == Other) != (order == "") && name != "" {
			t.Errorf("%q has the class %d and the order %q", name, class, order)
		}
		if want := map[Class]string{LockNode: KindMutex, LatchNode: KindLatch, ReadNode: KindReadWrite, WriteNode: KindReadWrite, LeasesNode: KindSemaphoreV2, LocksNode: KindSemaphoreV2}[class]; want != "" && LockKind(name) != want {
			t.Errorf("%q has the class %d, and is of a %q", name, class, LockKind(name))
		}
	}
}

// A contended lock sorts its queue again and again.
func TestAllocations(t *testing.T) {
	names := []string{protection + "lock-0000000003", protection + "lock-0000000001", zkDriver + "lock-0000000002", "notes"}
	order := func(name string) string { return Number(name, LockMark) }
	for what, c := range map[string]struct {
		most float64
		do   func()
	}{
		"Number":          {0, func() { Number(names[0], LockMark) }},
		"ReadWriteNumber": {0, func() { ReadWriteNumber(names[0]) }},
		"LockKind":        {0, func() { LockKind(names[0]) }},
		"Classify":        {0, func() { Classify(names[0], true) }},
		"Sequence":        {0, func() { Sequence(names[0], LockMark) }},
		"CutProtection":   {0, func() { CutProtection(names[0]) }},
		"Sort":            {2, func() { Sort(names, order) }},
		"ParseItem":       {0, func() { ParseItem("queue-|18BCFE56800|0000000001") }},
		"Order":           {0, func() { DelayItems.Order("queue-|18BCFE56800|0000000001") }},
		"Order of ids":    {1, func() { IDItems.Order("queue-|a|0000000001") }},
	} {
		if n := testing.AllocsPerRun(100, c.do); n > c.most {
			t.Errorf("%s makes %v allocations, want at most %v", what, n, c.most)
		}
	}
}
