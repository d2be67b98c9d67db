package state_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/state"
)

// What a client may conclude from any legal sequence, however long.
func TestLegalSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var previous state.ConnectionState
		first, down := true, false
		for range rapid.IntRange(1, 100).Draw(t, "length") {
			s := drawLegal(t, previous)
			switch {
			case first && !s.IsConnected():
				t.Fatalf("the first state is %v", s)
			case !first && s == state.Connected:
				t.Fatal("a second CONNECTED")
			case s == state.Reconnected && first:
				t.Fatal("RECONNECTED before a connection")
			case !first && s.IsConnected() && !down:
				t.Fatalf("%v after %v without a disconnect between", s, previous)
			case s == state.Suspended && previous == state.Lost:
				t.Fatal("a LOST was taken back")
			}
			first, down, previous = false, !s.IsConnected(), s
		}
	})
}

// Of any sequence whatever, a machine that takes only legal steps, as a client's does, has
// taken what a listener can rely upon: nothing twice in a row, and no way out of the states.
func TestLegalFilters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var at state.ConnectionState
		connections := 0
		for range rapid.IntRange(1, 100).Draw(t, "length") {
			s := state.ConnectionState(rapid.IntRange(-2, 8).Draw(t, "state"))
			if !state.Legal(at, s) {
				continue
			}
			if s == at || s < state.Connected || s > state.ReadOnly {
				t.Fatalf("%v was taken in %v", s, at)
			}
			if s == state.Connected {
				connections++
			}
			at = s
		}
		if connections > 1 {
			t.Fatalf("%d first connections", connections)
		}
	})
}
