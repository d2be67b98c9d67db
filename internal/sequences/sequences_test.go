package sequences_test

import (
	"flag"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

var longest = flag.Int("length", usual, "the length of the longest sequences")

// Every sequence, of a component that was started.
func TestSequences(t *testing.T) { each(t, whenStarted) }

// Every sequence, of a component that is starting.
func TestStarting(t *testing.T) { each(t, whileStarting) }

// maxFailed is how many sequences of a component may fail before the rest is left out.
const maxFailed = 20

func each(t *testing.T, when moment) {
	for _, c := range components {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			failed := 0
			for length := 1; length <= *longest; length++ {
				for _, sequence := range sequences(length) {
					if !t.Run(text(sequence), func(t *testing.T) { try(t, c, when, sequence) }) {
						failed++
					}
					if failed == maxFailed {
						t.Fatalf("%d sequences have failed: the rest is left out", failed)
					}
				}
			}
		})
	}
}
