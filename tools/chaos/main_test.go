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
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
