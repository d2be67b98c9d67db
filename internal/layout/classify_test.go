package layout

import (
	"slices"
	"strings"
	"testing"
)

// Names of which Java Curator 5.4.0 has made those that have no remark.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name      string
		ephemeral bool
		class     Class
		order     string
	}{
		{protection + "lock-0000000003", true, LockNode, "0000000003"},
		{zkDriver + "lock-0000000003", true, LockNode, "0000000003"}, // go-zookeeper's
		{protection + "__READ__0000000001", true, ReadNode, "0000000001"},
		{protection + "__WRIT__0000000000", true, WriteNode, "0000000000"},
		{protection + "latch-0000000002", true, LatchNode, "0000000002"},
		{protection + "lease-0000000002", true, LeaseNode, "0000000002"},
		{kazoo + "__lock__0000000001", true, KazooNode, "0000000001"},  // kazoo's
		{kazoo + "__rlock__0000000001", true, KazooNode, "0000000001"}, // kazoo's
		{"leases", false, LeasesNode, "leases"},
		{"locks", false, LocksNode, "locks"},
		{"locks", true, MemberNode, "locks"}, // it can have no children
		{"queue-0000000003", false, ItemNode, "queue-0000000003"},
		{"queue-1000000FF0000000003", false, ItemNode, "queue-1000000FF0000000003"},
		{"queue-|18BCFE56800|0000000000", false, ItemNode, "queue-|0000018BCFE56800|0000000000"},
		{"queue-|a_1|0000000000", false, ItemNode, "queue-0000000000"},
		{"queue-|a_1|0000000000", true, ClaimNode, "queue-0000000000"},
		{"queue-0000000003", true, ClaimNode, "queue-0000000003"},
		{"qn-0000000003", false, SimpleNode, "qn-0000000003"},
		{"queue-53345f98-9423-4e0c-a7b5-9f8190000000", false, Other, ""},
		{"53345f98-9423-4e0c-a7b5-9f819e3ec2e1", true, BarrierNode, "53345f98-9423-4e0c-a7b5-9f819e3ec2e1"},
		{"53345f98-9423-4e0c-a7b5-9f819e3ec2e1", false, Other, ""},
		{"ready", false, ReadyNode, "ready"},
		{"ready", true, MemberNode, "ready"},
		{"10.1.2.3", true, MemberNode, "10.1.2.3"},
		{"touch", false, Other, ""},
		{"meta-0000000000", false, Other, ""},
		{"x__READ__lock-0000000001", true, MemberNode, "x__READ__lock-0000000001"}, // no contender of either
		{"x__WRIT____READ__0000000001", true, WriteNode, "0000000001"},             // by Java's rule
		{protection + "lock-0000000003.released", false, Other, ""},
		{"lock-", true, MemberNode, "lock-"},
		{"", false, Other, ""},
	} {
		if class, order := Classify(c.name, c.ephemeral); class != c.class || order != c.order {
			t.Errorf("%q, ephemeral %t: %d %q, want %d %q", c.name, c.ephemeral, class, order, c.class, c.order)
		}
	}
}

// The items of one queue have the order of its consumers, also those that Java has put back.
func TestOrderOfItems(t *testing.T) {
	for _, want := range []string{
		"queue-0000000009 queue-|18BCFE56800|0000000007 queue-|18BCFE56801|0000000002",
		"queue-0000000000 queue-|z|0000000001 queue-|a|0000000002",
		"queue-0000000009 queue-0FFFFFFFF0000000007 queue-1000000010000000003",
	} {
		names := strings.Fields(want)
		slices.Reverse(names)
		slices.SortFunc(names, func(a, b string) int {
			_, x := Classify(a, false)
			_, y := Classify(b, false)
			return strings.Compare(x, y)
		})
		if got := strings.Join(names, " "); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// The names of ephemeral nodes begin with "!".
func TestKinds(t *testing.T) {
	for names, want := range map[string]string{
		"":                         "",
		"notes":                    "",
		"!a-lock-0000000001 notes": "mutex",
		"!a__READ__0000000001 !b__WRIT__0000000002":     "read-write",
		"!a-latch-0000000001":                           "latch",
		"queue-0000000001 notes":                        "queue",
		"qn-0000000001":                                 "queue",
		"!queue-0000000001":                             "claims",
		"ready":                                         "double-barrier",
		"ready !53345f98-9423-4e0c-a7b5-9f819e3ec2e1":   "double-barrier",
		"!53345f98-9423-4e0c-a7b5-9f819e3ec2e1":         "double-barrier",
		"!web-1 !53345f98-9423-4e0c-a7b5-9f819e3ec2e1":  "group",
		"!web-1 ready":                                  "group",
		"!a-lock-0000000001 !a-latch-0000000002 !web-1": "mutex latch",
		"!a-lock-0000000001 !a__lock__0000000001":       "mutex kazoo",
		"leases locks":                                  "",
	} {
		var c Children
		for name := range strings.FieldsSeq(names) {
			name, ephemeral := strings.CutPrefix(name, "!")
			class, _ := Classify(name, ephemeral)
			c[class]++
		}
		if got := strings.Join(c.Kinds(), " "); got != want {
			t.Errorf("%s: %q, want %q", names, got, want)
		}
		if n := len(strings.Fields(names)); c.Len() != n {
			t.Errorf("%s: %d children", names, c.Len())
		}
	}
}
