package layout

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// The names of items are Java's, and so is their order.
func TestItemNames(t *testing.T) {
	for want, got := range map[string]string{
		"queue-100000000": PriorityPrefix(0), "queue-100000001": PriorityPrefix(1), "queue-1000000FF": PriorityPrefix(255),
		"queue-17FFFFFFF": PriorityPrefix(math.MaxInt32), "queue-0FFFFFFFF": PriorityPrefix(-1), "queue-080000000": PriorityPrefix(math.MinInt32),
		"queue-|18BCFE56800|": DelayPrefix(time.UnixMilli(1700000000000)), "queue-|000000FF|": DelayPrefix(time.UnixMilli(255)),
		"queue-|00000001|":         DelayPrefix(time.Unix(0, 1)),
		"queue-|FFFFFFFFFFFFFFFF|": DelayPrefix(time.UnixMilli(-1)),
		"queue-|a_b_c|":            IDPrefix("a/b|c"), "queue-||": IDPrefix(""),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, order := range []struct {
		kind  ItemKind
		names []string // in order
	}{
		{PlainItems, []string{"queue-0000000001", "queue-0000000002", "queue-0000000010"}},
		{SimpleItems, []string{"qn-0000000001", "qn-0000000002", "qn-0000000010"}},
		{PriorityItems, []string{
			"queue-0000000009", "queue-0FFFFFFFF0000000007", "queue-1000000000000000008", "queue-1000000010000000003", "queue-1000000010000000004",
		}},
		{IDItems, []string{"queue-0000000000", "queue-|z|0000000001", "queue-|a|0000000002", "queue-|a|0000000003"}},
		{DelayItems, []string{
			"queue-0000000009", "queue-|FFFFFFFFFFFFFFFF|0000000004", "queue-|none|0000000001",
			"queue-|000000FF|0000000003", "queue-|18BCFE56800|0000000000", "queue-|18BCFE56801|0000000002",
		}},
	} {
		shuffled := slices.Clone(order.names)
		slices.Reverse(shuffled)
		slices.SortStableFunc(shuffled, func(a, b string) int { return order.kind.Order(a).Compare(order.kind.Order(b)) })
		if !slices.Equal(shuffled, order.names) {
			t.Errorf("%s: %q, want %q", order.kind, shuffled, order.names)
		}
	}
}

// An item that is put back keeps its priority, id or time, and its name does not grow.
func TestPutBackNames(t *testing.T) {
	for _, c := range []struct {
		kind         ItemKind
		name, prefix string
	}{
		{PlainItems, "queue-0000000001", "queue-"},
		{PlainItems, "queue--000000001", "queue-"},
		{PriorityItems, "queue-1000000FF0000000003", "queue-1000000FF"},
		{PriorityItems, "queue-1000000FF-2147483648", "queue-1000000FF"},
		{PriorityItems, "queue-0000000003", "queue-"}, // put back by Java
		{IDItems, "queue-|a|0000000003", "queue-|a|"},
		{IDItems, "queue-||0000000003", "queue-||"},
		{IDItems, "queue-0000000003", "queue-"},
		{DelayItems, "queue-|18BCFE56800|0000000000", "queue-|18BCFE56800|"},
		{DelayItems, "queue-0000000003", "queue-"}, // put back by Java
		{SimpleItems, "qn-0000000003", "qn-"},
	} {
		prefix := c.kind.Prefix(c.name)
		if prefix != c.prefix {
			t.Errorf("%s: %s is put back as %q, want %q", c.kind, c.name, prefix, c.prefix)
		}
		if again := c.kind.Prefix(prefix + "0000000004"); again != prefix || !strings.HasPrefix(c.name, prefix) {
			t.Errorf("%s: %s is put back as %q, and then as %q", c.kind, c.name, prefix, again)
		}
	}
	if !HasID("queue-|a_b|0000000003", "a/b") || HasID("queue-|ab|0000000003", "a/b") || HasID("other-|a|0000000003", "a") || HasID("queue-0000000003", "") {
		t.Error("wrong ids")
	}
}

// A queue knows its own kind: the same name is a time in one and an id in another.
func TestParseItem(t *testing.T) {
	due := time.UnixMilli(0x19A00000000).UTC()
	for name, want := range map[string]Item{
		"queue-0000000001":               {Kind: PlainItems, Prefix: "queue-", Number: "0000000001"},
		"queue--2147483648":              {Kind: PlainItems, Prefix: "queue-", Number: "-2147483648"},
		"queue-1000000050000000001":      {Kind: PriorityItems, Prefix: "queue-100000005", Number: "0000000001", Priority: 5},
		"queue-1000000FF0000000003":      {Kind: PriorityItems, Prefix: "queue-1000000FF", Number: "0000000003", Priority: 255},
		"queue-0FFFFFFFF0000000003":      {Kind: PriorityItems, Prefix: "queue-0FFFFFFFF", Number: "0000000003", Priority: -1},
		"queue-080000000-2147483648":     {Kind: PriorityItems, Prefix: "queue-080000000", Number: "-2147483648", Priority: math.MinInt32},
		"queue-200000005" + "0000000001": {Kind: PlainItems, Prefix: "queue-200000005", Number: "0000000001"},
		"queue-|19A00000000|0000000002":  {Kind: DelayItems, Prefix: "queue-|19A00000000|", Number: "0000000002", Due: due},
		"queue-|18BCFE56800|0000000000":  {Kind: DelayItems, Prefix: "queue-|18BCFE56800|", Number: "0000000000", Due: time.UnixMilli(1700000000000).UTC()},
		"queue-|job 7|0000000000":        {Kind: IDItems, Prefix: "queue-|job 7|", Number: "0000000000", ID: "job 7"},
		"queue-|19a00000000|0000000002":  {Kind: IDItems, Prefix: "queue-|19a00000000|", Number: "0000000002", ID: "19a00000000"},
		"queue-|000000FF|0000000002":     {Kind: IDItems, Prefix: "queue-|000000FF|", Number: "0000000002", ID: "000000FF"},
		"queue-||0000000000":             {Kind: IDItems, Prefix: "queue-||", Number: "0000000000"},
		"queue-x0000000001":              {Kind: PlainItems, Prefix: "queue-x", Number: "0000000001"},
		"qn-0000000001":                  {Kind: SimpleItems, Prefix: "qn-", Number: "0000000001"},
		"queue-x":                        {}, "queue-": {}, "queue-00000001": {}, "lock-0000000001": {}, "qn-1": {}, "": {},
		"queue-53345f98-9423-4e0c-a7b5-000000000000": {}, // a part of a QueueSharder
	} {
		got, ok := ParseItem(name)
		if got != want || ok != (want != Item{}) {
			t.Errorf("%s: %+v, %t, want %+v", name, got, ok, want)
		}
		if ok && (got.Name() != name || !got.Kind.IsItem(name)) {
			t.Errorf("%s is printed as %s", name, got.Name())
		}
	}
}

// FuzzItemNames reads the names of items, which anybody may have made, and makes names.
func FuzzItemNames(f *testing.F) {
	f.Add("queue-|18BCFE56800|0000000001", "a/b|c", int64(1700000000000), int32(-1))
	f.Add("queue-17FFFFFFF0000000001", "", int64(-1), int32(math.MaxInt32))
	f.Add("queue-||", "|", int64(math.MinInt64), int32(math.MinInt32))
	f.Add("queue-|-8000000000000000|1", "\xff", int64(math.MaxInt64), int32(0))
	f.Add("qn-0000000001", "19A00000000", int64(1), int32(1))
	f.Fuzz(func(t *testing.T, name, id string, ms int64, priority int32) {
		for _, k := range []ItemKind{PlainItems, PriorityItems, IDItems, DelayItems} {
			if order, again := k.Order(name), k.Order(name); order.Compare(again) != 0 || order.Due < 0 {
				t.Errorf("%s: %q has the order %+v", k, name, order)
			}
			if prefix := k.Prefix(name); !strings.HasPrefix(name, prefix) && prefix != PlainPrefix {
				t.Errorf("%s: an item %q is put back as %q", k, name, prefix)
			}
		}
		if it, ok := ParseItem(name); ok && (it.Name() != name || it.Prefix == "" || !it.Kind.IsItem(name)) {
			t.Errorf("%q is read as %+v", name, it)
		}
		const number = "0000000001"
		if made := IDPrefix(id) + number; !HasID(made, id) || IDItems.Order(made).Text != PlainPrefix+number || IDItems.Prefix(made)+number != made {
			t.Errorf("the name of an item with the id %q is %q", id, made)
		}
		made := PriorityPrefix(priority) + number
		if it, ok := ParseItem(made); !ok || it.Kind != PriorityItems || it.Priority != priority || PriorityItems.Prefix(made)+number != made {
			t.Errorf("the priority of %q is %d", made, it.Priority)
		}
		due := time.UnixMilli(ms)
		made = DelayPrefix(due) + number
		if ms >= 0 && DelayItems.Order(made).Due != ms || DelayItems.Prefix(made)+number != made {
			t.Errorf("%q is due at %d, not %d", made, DelayItems.Order(made).Due, ms)
		}
		if it, ok := ParseItem(made); ok && it.Kind == DelayItems && !it.Due.Equal(due) {
			t.Errorf("%q is due at %v, not %v", made, it.Due, due)
		}
	})
}
