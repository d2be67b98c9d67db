package main

import (
	"io"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

func TestFlagsAreChecked(t *testing.T) {
	for _, args := range []string{"-clients 0", "-servers 0", "-timeouts 3x", "-window -1s", "-proofs ping", "extra"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

// TestLoad runs the whole command with few clients.
func TestLoad(t *testing.T) {
	suite.Real(t) // fails or skips the test where there is no server
	var out strings.Builder
	err := run(t.Context(), strings.Fields("-clients 3 -timeouts 4s -proofs sync -window 1s"), &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"4s | sync | idle", "4s | sync | holding"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("there is no row %q in\n%s", row, &out)
		}
	}
}
