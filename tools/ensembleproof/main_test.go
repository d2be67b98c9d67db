package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStalls(t *testing.T) {
	const ms = time.Millisecond
	s := stalls{{100 * ms, 150 * ms}, {152 * ms, 162 * ms}, {400 * ms, 500 * ms}}
	if s.worst() != 100*ms || stalls(nil).worst() != 0 {
		t.Errorf("worst: %v", s.worst())
	}
	for instant, want := range map[time.Duration]time.Duration{
		0:        0,
		50 * ms:  2 * ms,
		101 * ms: 2 * ms,
		140 * ms: 40 * ms,
		150 * ms: 50 * ms,
		155 * ms: 55 * ms,
		165 * ms: 13 * ms,
		200 * ms: 2 * ms,
	} {
		if got := s.at(instant); got != want {
			t.Errorf("at %v: %v late; want %v", instant, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-scenarios", "L, K,HA", "-timeouts", "10s,20s", "-policies", "standard", "-rounds", "2", "-scale", "2"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	rounds := o.plan()
	var names []string
	for i, r := range rounds {
		names = append(names, r.scenario.name)
		shortest, most := r.timeout()
		if r.number != i+1 || shortest < 2*r.tick() || most > longest*r.tick() || len(r.newPairs()) != 6*len(r.timeouts) {
			t.Errorf("round %d: %+v", i, r)
		}
	}
	if got := strings.Join(names, " "); got != "L L HA L L HA K K" {
		t.Errorf("rounds: %s", got)
	}
	if k := rounds[6]; k.tick() != nominalTick {
		t.Errorf("full scale: a tick of %v", k.tick())
	}
	for _, wrong := range [][]string{
		{"-scenarios", "Z"}, {"-policies", "none"}, {"-timeouts", "1s"}, {"-timeouts", "x"}, {"-rule", "x"},
		{"-pairs", "0"}, {"-unknown"}, {"more"},
	} {
		if _, err := parse(wrong, io.Discard); err == nil {
			t.Errorf("%v: no error", wrong)
		}
	}
}

// TestRun makes a fault with two pairs. The fault ends so early that no lease may be lost.
func TestRun(t *testing.T) {
	var out, progress bytes.Buffer
	// With this seed the fault is short, so that even a slow machine has half a timeout left.
	args := strings.Fields("-scenarios L -policies session -timeouts 20s -pairs 2 -rounds 1 -seed 48")
	err := run(t.Context(), args, &out, &progress)
	if errors.Is(err, curatortest.ErrNotInstalled) {
		curatortest.Real(t) // fails or skips the test
	}
	if err != nil {
		t.Errorf("run: %v", err)
	}
	row, _, _ := strings.Cut(out.String(), "\n| all")
	if !strings.Contains(row, "| L | session | 20s | 2 | 0 |") || !strings.HasSuffix(row, "| 2 | 0 |") {
		t.Errorf("%s%s", out.String(), progress.String())
	}
}
