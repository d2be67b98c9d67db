package rolling

import (
	"strings"
	"testing"
	"time"
)

// Each row is a run, and what the error says of it: nothing if it is a success.
func TestJudge(t *testing.T) {
	row := func(kind Kind, change ...func(r *Row)) Row {
		r := Row{Kind: kind, What: "3.8.6 to 3.9.5", Server: "2, the leader", Ended: 3, Kept: 24, Counted: 70}
		for _, c := range change {
			c(&r)
		}
		return r
	}
	refused := func(r *Row) { r.Refused = "refused: Unreasonable length = 7" }
	const shows = "so it shows nothing"
	for name, tt := range map[string]struct {
		rows []Row
		want []string // one for each line of the error
	}{
		"good":                     {[]Row{row(Upgrade), row(Move), row(Downgrade)}, nil},
		"a downgrade is refused":   {[]Row{row(Upgrade), row(Downgrade, refused)}, nil},
		"a way to move is missing": {[]Row{row(Upgrade), row(Move, refused, func(r *Row) { r.Ended = 0 })}, nil},
		"one restart that nobody notices": {
			[]Row{row(Upgrade), row(Upgrade, func(r *Row) { r.Ended = 0 })}, nil,
		},
		"an upgrade is refused": {[]Row{row(Upgrade), row(Upgrade, refused)}, []string{"server 2, the leader: refused: Unreasonable"}},
		"lost leases": {
			[]Row{row(Upgrade), row(Downgrade, refused, func(r *Row) { r.Kept, r.Lost = 0, []string{"a", "b"} })}, []string{"lost: a", "lost: b"},
		},
		"a count":                {[]Row{row(Upgrade, func(r *Row) { r.Wrong = []string{"the counter is 3"} })}, []string{"3.8.6 to 3.9.5, server 2, the leader: the counter is 3"}},
		"nobody held":            {[]Row{row(Upgrade, func(r *Row) { r.Kept = 0 })}, []string{shows}},
		"nobody counted":         {[]Row{row(Upgrade, func(r *Row) { r.Counted = 0 })}, []string{shows}},
		"nobody moved":           {[]Row{row(Upgrade), row(Move, func(r *Row) { r.Ended = 0 })}, []string{shows}},
		"no restart was noticed": {[]Row{row(Upgrade, func(r *Row) { r.Ended = 0 }), row(Move)}, []string{"nothing is shown"}},
		"nothing was done":       {nil, []string{"nothing is shown"}},
		"all that is wrong is told": {
			[]Row{row(Upgrade, refused, func(r *Row) { r.Kept, r.Counted = 0, 0 })}, []string{"refused", shows, shows},
		},
	} {
		err := Judge(tt.rows)
		var lines []string
		if err != nil {
			lines = strings.Split(err.Error(), "\n")
		}
		if len(lines) != len(tt.want) {
			t.Errorf("%s: %q, want %q", name, lines, tt.want)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%s: %q, want %q", name, lines[i], want)
			}
		}
	}
}

func TestTable(t *testing.T) {
	table := Table([]Row{
		{What: "3.6.4 to 3.8.6", Server: "1, follower", Took: 1234 * time.Millisecond, Ended: 2, Kept: 24, Counted: 70},
		{What: "3.9.5 to 3.8.6", Server: "2, leader", Kept: 23, Lost: []string{"client 1: mutex"}, Refused: "refused: a|b", Wrong: []string{"c"}},
	})
	const want = `| 3.6.4 to 3.8.6 | 1, follower | 1.2 s | 2 | 24 | 0 | 70 | good |
| 3.9.5 to 3.8.6 | 2, leader | 0.0 s | 0 | 23 | 1 | 0 | refused: a\|b; client 1: mutex; c |
`
	if !strings.HasSuffix(table, "---: | --- |\n"+want) {
		t.Errorf("%s", table)
	}
}

func TestWords(t *testing.T) {
	for log, want := range map[string]string{
		"2026-11-26 15:36:12,400 INFO  QuorumPeerMain Starting":                                    "2026-11-26 15:36:12,400 INFO  QuorumPeerMain Starting",
		"x INFO  a\n2026-11-26 15:36:12,400 ERROR QuorumPeer Unable to load database on disk":      "QuorumPeer Unable to load database on disk",
		"x ERROR a\njava.io.IOException: Unreasonable length = 7\n\tat b\n\t... 3 more\ny INFO  c": "java.io.IOException: Unreasonable length = 7",
		"java.lang.RuntimeException: a\n\tat b\nCaused by: java.io.IOException: c\n\tat d":         "java.io.IOException: c",
		"Error: Could not find or load main class":                                                 "Error: Could not find or load main class",
	} {
		if got := words(log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
	}
}
