package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/verify/ensemble/verdict"
)

const ms = time.Millisecond

func TestJudge(t *testing.T) {
	for name, tt := range map[string]struct {
		ended, acquired time.Duration
		want            verdict.Outcome
		by              time.Duration
	}{
		"X before Y":                {3000 * ms, 3400 * ms, verdict.Handed, 400 * ms},
		"at the same instant":       {3000 * ms, 3000 * ms, verdict.Handed, 0},
		"Y before X":                {3400 * ms, 3000 * ms, verdict.Overlapped, 400 * ms},
		"X never":                   {0, 3000 * ms, verdict.Overlapped, 2000 * ms},
		"X too late to count":       {6000 * ms, 3000 * ms, verdict.Overlapped, 2000 * ms},
		"neither":                   {0, 0, verdict.Kept, 0},
		"both too late to count":    {6000 * ms, 5500 * ms, verdict.Kept, 0},
		"Y never":                   {3000 * ms, 0, verdict.Lost, 0},
		"Y too late to count":       {3000 * ms, 6000 * ms, verdict.Lost, 0},
		"X before the fault":        {500 * ms, 2000 * ms, verdict.Early, 0},
		"X before the fault, alone": {500 * ms, 0, verdict.Early, 0},
		"overlap before the fault":  {500 * ms, 400 * ms, verdict.Overlapped, 100 * ms},
	} {
		pair := verdict.Pair{Fault: 1000 * ms, Ended: tt.ended, Acquired: tt.acquired, Watched: 5000 * ms}
		if got, by := pair.Judge(); got != tt.want || by != tt.by {
			t.Errorf("%s: %d by %v", name, got, by)
		}
	}
}

func TestTable(t *testing.T) {
	a := verdict.Case{Scenario: "A", Policy: "session", Timeout: 10 * time.Second}
	k := verdict.Case{Scenario: "K", Policy: "standard", Timeout: 40 * time.Second}
	pair := func(c verdict.Case, ended, acquired time.Duration) verdict.Pair {
		return verdict.Pair{Case: c, Fault: 1000 * ms, Ended: ended, Acquired: acquired, Watched: 5000 * ms, Error: 100 * ms}
	}
	rows := verdict.Sum([]verdict.Pair{
		pair(a, 3000*ms, 3500*ms),
		pair(k, 0, 0),
		pair(a, 3000*ms, 3250*ms),
		pair(a, 3600*ms, 3500*ms),
		pair(a, 3300*ms, 3000*ms),
		pair(a, 500*ms, 600*ms),
		pair(k, 3000*ms, 0),
	})
	got := verdict.Table(rows, func(r verdict.Row) int {
		if r.Scenario == "A" {
			return 4
		}
		return 1
	})
	want := strings.TrimLeft(`
| fault | policy | T | pairs | overlaps | worst overlap | least slack | error | leases kept | ended before the fault |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| A | session | 10s | 4 | 2 | 1.20 s | 1.00 s | 0.40 s | 0 | 1 |
| K | standard | 40s | 2 | 0 |  |  | 0.10 s | 1 | 0 |
| all | |  | 6 | 2 |  |  |  | 1 | 1 |
`, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if total := verdict.Total(rows); total.Pairs != 6 || total.Overlaps != 2 || total.Doubtful != 1 || total.Kept != 1 || total.Early != 1 {
		t.Errorf("total: %+v", total)
	}
	if got := verdict.Table(nil, nil); strings.Count(got, "\n") != 2 {
		t.Errorf("a table of nothing:\n%s", got)
	}
}

// What a run with -rule answers has measured is found: how much too early Y was let in, or how late, in the
// worst and in the best pair of each row, of 108 pairs with 19 overlaps. The real times are a fourth.
func TestAnswers(t *testing.T) {
	const watched = 40 * time.Second
	for _, tt := range []struct {
		c                  verdict.Case
		overlap, slack, by time.Duration // 0 for none; by is the error of the instants
	}{
		{verdict.Case{Scenario: "A", Policy: "session", Timeout: 10 * time.Second}, 1620 * ms, 910 * ms, 20 * ms},
		{verdict.Case{Scenario: "A", Policy: "session", Timeout: 20 * time.Second}, 3800 * ms, 390 * ms, 20 * ms},
		{verdict.Case{Scenario: "A", Policy: "session", Timeout: 40 * time.Second}, 0, 1740 * ms, 50 * ms},
		{verdict.Case{Scenario: "C", Policy: "session", Timeout: 10 * time.Second}, 690 * ms, 1680 * ms, 20 * ms},
		{verdict.Case{Scenario: "C", Policy: "session", Timeout: 20 * time.Second}, 2810 * ms, 0, 30 * ms},
		{verdict.Case{Scenario: "D", Policy: "session", Timeout: 10 * time.Second}, 5260 * ms, 0, 20 * ms},
		{verdict.Case{Scenario: "D", Policy: "session", Timeout: 20 * time.Second}, 480 * ms, 3630 * ms, 20 * ms},
		{verdict.Case{Scenario: "D", Policy: "standard", Timeout: 40 * time.Second}, 0, 30970 * ms, 50 * ms},
	} {
		want := verdict.Row{Case: tt.c, Error: tt.by / 4}
		var pairs []verdict.Pair
		if tt.overlap > 0 {
			pairs = append(pairs, verdict.Pair{Case: tt.c, Fault: time.Second, Ended: 9*time.Second + tt.overlap/4, Acquired: 9 * time.Second, Watched: watched, Error: tt.by / 4})
			want.Pairs, want.Overlaps, want.Worst = 1, 1, tt.overlap/4
		}
		if tt.slack > 0 {
			pairs = append(pairs, verdict.Pair{Case: tt.c, Fault: time.Second, Ended: 9 * time.Second, Acquired: 9*time.Second + tt.slack/4, Watched: watched, Error: tt.by / 4})
			want.Pairs, want.Handed, want.Slack = want.Pairs+1, 1, tt.slack/4
		}
		if got := verdict.Sum(pairs); len(got) != 1 || got[0] != want {
			t.Errorf("%v\ngot  %+v\nwant %+v", tt.c, got, want)
		}
	}
}

func TestSilent(t *testing.T) {
	for name, c := range map[string]struct {
		row  verdict.Row
		want bool
	}{
		"nobody was granted a lock": {verdict.Row{Pairs: 3}, true},
		"some leases were kept":     {verdict.Row{Pairs: 3, Kept: 2}, true},
		"one was handed on":         {verdict.Row{Pairs: 3, Handed: 1}, false},
		"one overlapped":            {verdict.Row{Pairs: 3, Overlaps: 1}, false},
		"all leases were kept":      {verdict.Row{Pairs: 3, Kept: 3}, false},
		"no pair counts":            {verdict.Row{Early: 3}, false},
	} {
		if got := c.row.Silent(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
