package main

import (
	"io"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Invalid flags are errors before anything is started.
func TestMisuse(t *testing.T) {
	for _, args := range [][]string{
		{"-unknown"}, {"more"}, {"-duration", "x"}, {"-workloads", "none"}, {"-faults", "server-killed,none"}, {"-session", "1ms"},
		{"-runs", "0"}, {"-runs", "2", "-log", "x"},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// One in ten may be undecided, and of a few one.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		compared, undecided int
		fails               bool
	}{{0, 0, false}, {3, 3, false}, {10, 1, false}, {10, 2, true}, {30, 3, false}, {30, 4, true}} {
		if err := judge(c.compared, c.undecided); (err != nil) != c.fails {
			t.Errorf("%d of %d: %v", c.undecided, c.compared, err)
		}
	}
}
