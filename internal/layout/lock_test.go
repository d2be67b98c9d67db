package layout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLockKind(t *testing.T) {
	for name, want := range map[string]string{
		protection + "lock-0000000003":       KindMutex,
		zkDriver + "lock-0000000003":         KindMutex,
		"lock-0000000003":                    KindMutex,
		protection + "latch-0000000003":      KindLatch,
		protection + "__READ__0000000001":    KindReadWrite,
		protection + "__WRIT__0000000000":    KindReadWrite,
		"x__READ__":                          KindReadWrite, // Java takes it for a reader
		"x__READ__lock-0000000001":           KindReadWrite,
		"leases":                             KindSemaphoreV2,
		"locks":                              KindSemaphoreV2,
		protection + "lease-0000000000":      "", // below leases
		kazoo + "__lock__0000000001":         "",
		kazoo + "__rlock__0000000001":        "",
		"lock-1":                             "",
		"notes":                              "",
		"__READ_0000000000":                  "",
		"queue-0000000000":                   "",
		protection + "lock-0000000003.other": "",
	} {
		if got := LockKind(name); got != want {
			t.Errorf("%q belongs to a %q, want %q", name, got, want)
		}
	}
	if kinds := LockKinds([]string{"notes", "latch-0000000001", "lock-0000000001", "latch-0000000002"}); !slices.Equal(kinds, []string{KindLatch, KindMutex}) {
		t.Errorf("the kinds are %q", kinds)
	}
}

// Each row has the names of the holders, those of the waiters, and the foreign ones.
func TestReadLockQueue(t *testing.T) {
	for what, c := range map[string]struct {
		kind   string
		names  string
		leases int
		want   string
	}{
		"nobody":                    {KindMutex, "", 1, " | | "},
		"a mutex":                   {KindMutex, "b-lock-0000000001 a-lock-0000000003 c-lock-0000000002", 1, "b-lock-0000000001 | c-lock-0000000002 a-lock-0000000003 | "},
		"two of three":              {KindMutex, "b-lock-0000000001 a-lock-0000000003 c-lock-0000000002", 2, "b-lock-0000000001 c-lock-0000000002 | a-lock-0000000003 | "},
		"more leases than nodes":    {KindMutex, "b-lock-0000000001", 5, "b-lock-0000000001 | | "},
		"no leases":                 {KindMutex, "b-lock-0000000001", 0, "b-lock-0000000001 | | "},
		"a latch":                   {KindLatch, "b-latch-0000000001 a-latch-0000000000", 2, "a-latch-0000000000 | b-latch-0000000001 | "},
		"foreign nodes":             {KindMutex, "x__lock__0000000000 0 b-lock-0000000001 lock-1", 1, "b-lock-0000000001 | | 0 lock-1 x__lock__0000000000"},
		"readers":                   {KindReadWrite, "a__READ__0000000001 b__READ__0000000002 c__WRIT__0000000003 d__READ__0000000004", 1, "a__READ__0000000001 b__READ__0000000002 | c__WRIT__0000000003 d__READ__0000000004 | "},
		"a writer":                  {KindReadWrite, "a__WRIT__0000000001 b__READ__0000000002", 1, "a__WRIT__0000000001 | b__READ__0000000002 | "},
		"a downgraded writer":       {KindReadWrite, "z__WRIT__0000000001 a__READ__0000000001 b__READ__0000000002", 1, "a__READ__0000000001 z__WRIT__0000000001 | b__READ__0000000002 | "},
		"a writer and its reader":   {KindReadWrite, "a__WRIT__0000000001 z__READ__0000000001 b__WRIT__0000000002", 1, "a__WRIT__0000000001 z__READ__0000000001 | b__WRIT__0000000002 | "},
		"what was downgraded":       {KindReadWrite, "z__READ__0000000001 b__READ__0000000002 a__WRIT__0000000003", 1, "z__READ__0000000001 b__READ__0000000002 | a__WRIT__0000000003 | "},
		"a read lock without one":   {KindReadWrite, "x__READ__ a__READ__0000000001", 1, "a__READ__0000000001 | | x__READ__"},
		"a wrapped counter":         {KindMutex, "a-lock--2147483648 b-lock-2147483647", 1, "a-lock--2147483648 | b-lock-2147483647 | "},
		"a kind without contenders": {KindSemaphoreV2, "leases", 1, " | | leases"},
	} {
		q := ReadLockQueue(c.kind, strings.Fields(c.names), c.leases)
		if got := fmt.Sprint(strings.Join(q.Holders, " "), " | ", strings.Join(q.Waiters, " "), " | ", strings.Join(q.Foreign, " ")); got != strings.ReplaceAll(c.want, "| |", "|  |") {
			t.Errorf("%s: %s\nwant %s", what, got, c.want)
		}
	}
}

// Turn agrees with Java's rules, one contender at a time: a reader holds a lock if no writer is ahead but
// that of its own number, and a writer if nobody is but such a reader.
func TestTurn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var names []string
		for i := range rapid.IntRange(0, 6).Draw(r, "nodes") {
			mark := rapid.SampledFrom([]string{ReadMark, WriteMark}).Draw(r, "mark")
			names = append(names, fmt.Sprintf("%c%d%s%010d", 'a'+rapid.IntRange(0, 3).Draw(r, "name"), i, mark, rapid.IntRange(0, 4).Draw(r, "number")))
		}
		queue := Sort(names, ReadWriteNumber)
		turn, ended := NewTurn(KindReadWrite, 1), false
		for i, name := range queue {
			others := slices.DeleteFunc(slices.Clone(queue[:i]), func(other string) bool { return IsReader(other) && ReadWriteNumber(other) == ReadWriteNumber(name) })
			want := len(others) == 0
			if IsReader(name) {
				want = len(WritersAhead(queue, name)) == 0
			}
			holds, more := turn.Next(name)
			if holds != want || ended && holds {
				r.Fatalf("%s of %q holds the lock: %t, want %t", name, queue, holds, want)
			}
			ended = ended || !more
		}
	})
}

func TestReleaseMarker(t *testing.T) {
	node := "/locks/" + protection + "lock-0000000003"
	if got, ok := CutReleaseMarker(ReleaseMarker(node)); got != node || !ok || LockKind(ReleaseMarker(protection+"lock-0000000003")) != "" {
		t.Errorf("the marker of %s is that of %s, %t", node, got, ok)
	}
	if got, ok := CutReleaseMarker(node); ok {
		t.Errorf("%s is the marker of %s", node, got)
	}
}

func TestReadSemaphoreV2(t *testing.T) {
	lease := func(session, czxid int64) Owned {
		return Owned{fmt.Sprintf("l%d-lease-%010d", session, czxid), session, czxid}
	}
	lock := func(session, czxid int64) Owned {
		return Owned{fmt.Sprintf("m%d-lock-%010d", session, czxid), session, czxid}
	}
	names := func(nodes []Owned) (text string) {
		for _, n := range nodes {
			text += fmt.Sprint(" ", n.Session, "@", n.Czxid)
		}
		return text
	}
	for what, c := range map[string]struct {
		leases, locks []Owned
		want          string
	}{
		"nobody":                       {nil, nil, " | | "},
		"leases":                       {[]Owned{lease(2, 9), lease(1, 3)}, nil, " 1@3 2@9 | | "},
		"one is taking a lease":        {[]Owned{lease(2, 9), lease(1, 3)}, []Owned{lock(2, 8)}, " 1@3 | 2@9 | 2@8"},
		"and others wait":              {[]Owned{lease(2, 9), lease(1, 3)}, []Owned{lock(4, 7), lock(2, 6)}, " 1@3 | 2@9 | 2@6 4@7"},
		"with an older lease":          {[]Owned{lease(2, 9), lease(1, 3)}, []Owned{lock(2, 10)}, " 1@3 2@9 | | 2@10"},
		"of another session":           {[]Owned{lease(2, 9), lease(1, 3)}, []Owned{lock(1, 2)}, " 1@3 2@9 | | 1@2"},
		"one takes several":            {[]Owned{lease(2, 9), lease(2, 10), lease(1, 3)}, []Owned{lock(2, 8)}, " 1@3 2@9 | 2@10 | 2@8"},
		"of which one has any name":    {[]Owned{lease(2, 9), lease(1, 3), {"zzz-0000000011", 1, 4}}, []Owned{lock(2, 8)}, " 1@3 1@4 | 2@9 | 2@8"},
		"a counter that wrapped":       {[]Owned{{"a-lease--2147483648", 2, 9}, {"b-lease-2147483647", 1, 3}}, []Owned{lock(2, 8)}, " 1@3 | 2@9 | 2@8"},
		"a lease of any name":          {[]Owned{{"mine", 1, 5}}, []Owned{{"other", 1, 4}}, " 1@5 | | "},
		"nodes that are not ephemeral": {[]Owned{lease(0, 9)}, []Owned{lock(0, 8)}, " 0@9 | | 0@8"},
	} {
		s := ReadSemaphoreV2(c.leases, c.locks)
		undecided := " "
		if s.Undecided != nil {
			undecided = names([]Owned{*s.Undecided}) + " "
		}
		if got := names(s.Holders) + " |" + undecided + "|" + names(s.Waiters); got != strings.TrimSuffix(c.want, " ") {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

func TestMixesLocks(t *testing.T) {
	for names, want := range map[string]bool{
		"":                                false,
		"a-lock-0000000000 notes locks-1": false,
		"a-__READ__0000000000 b-__WRIT__0000000001": false,
		"leases locks":                            false,
		"a-lock-0000000000 locks":                 true,
		"a-latch-0000000000 leases":               true,
		"a-lock-0000000000 b-latch-0000000001":    true,
		"a-lock-0000000000 b-__WRIT__0000000001":  true,
		"a-lock-0000000000 queue-0000000001":      false,
		"a-lock-0000000000 b__lock__0000000001":   false,
		"a-lease-0000000000 b-latch-0000000001":   false,
		"locks a-lease-0000000000 b-notes qn-123": false,
	} {
		c := CountChildren(strings.Fields(names))
		if got := c.MixesLocks(); got != want || want != (len(LockKinds(strings.Fields(names))) > 1) {
			t.Errorf("%s: %t", names, got)
		}
	}
}

func TestIsSemaphoreV2(t *testing.T) {
	for _, c := range []struct {
		dir, leases, locks string
		want               bool
	}{
		{"leases locks", "", "", true},
		{"leases", "a-lease-0000000000", "", true},
		{"leases locks", "", "a-lock-0000000000", true},
		{"leases locks", "a", "a-lock-0000000000", false},
		{"leases locks", "", "a", false},
		{"leases", "", "", false},
		{"leases locks a-lock-0000000000", "a-lease-0000000000", "", false},
		{"leases a-latch-0000000000", "a-lease-0000000000", "", false},
		{"locks", "", "a-lock-0000000000", false},
		{"", "", "", false},
	} {
		count := func(names string) Children { return CountChildren(strings.Fields(names)) }
		if got := IsSemaphoreV2(count(c.dir), count(c.leases), count(c.locks)); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestBarrierMembers(t *testing.T) {
	children := []string{"f0e1", ReadyName, "53345f98-9423-4e0c-a7b5-9f819e3ec2e1"}
	if got := BarrierMembers(children); !slices.Equal(got, []string{"53345f98-9423-4e0c-a7b5-9f819e3ec2e1", "f0e1"}) || children[1] != ReadyName {
		t.Errorf("the members of %q are %q", children, got)
	}
}

func TestIsNumbered(t *testing.T) {
	for name, want := range map[string]bool{"id10000000007": true, "id1-2147483648": true, "id1": false, "id17": false, "id20000000007": false, "id1x000000007": false} {
		if got := IsNumbered(name, "id1"); got != want {
			t.Errorf("%s is an instance of id1: %t", name, got)
		}
	}
}
