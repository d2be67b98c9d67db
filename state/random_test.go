package state_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/state"
)

// follow returns what a client's connection can do next in a state, if connected says that there
// was a connection before: Legal, and what Legal cannot know.
func follow(s state.ConnectionState, connected bool) (next []state.ConnectionState) {
	for _, to := range all {
		if state.Legal(s, to) {
			next = append(next, to)
		}
	}
	if s != state.Suspended && s != state.Lost {
		return next
	}
	return slices.DeleteFunc(next, func(to state.ConnectionState) bool {
		return connected && to == state.Connected || !connected && to == state.Reconnected
	})
}

// drawNext draws what follows s.
func drawNext(t *rapid.T, s state.ConnectionState, connected bool) state.ConnectionState {
	return rapid.SampledFrom(follow(s, connected)).Draw(t, "next")
}

// What a client may conclude from any legal sequence, however long.
func TestLegalSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var previous state.ConnectionState
		connected := false
		for range rapid.IntRange(1, 100).Draw(t, "length") {
			s := drawNext(t, previous, connected)
			switch {
			case s == previous:
				t.Fatalf("%v came twice", s)
			case !connected && s == state.Reconnected, !connected && s == state.Lost && previous != state.Suspended:
				t.Fatalf("%v before a connection, after %v", s, previous)
			case connected && s == state.Connected:
				t.Fatal("a second CONNECTED")
			case s.IsConnected() && previous.IsConnected():
				t.Fatalf("%v after %v without a disconnect between", s, previous)
			case s == state.Suspended && previous == state.Lost:
				t.Fatal("a LOST was taken back")
			}
			connected, previous = connected || s.IsConnected(), s
		}
	})
}

// Of any sequence whatever, a machine that takes only legal steps, as a client's does, has
// taken what a listener can rely upon: nothing twice in a row, and no way out of the states.
func TestLegalFilters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var at state.ConnectionState
		for range rapid.IntRange(1, 100).Draw(t, "length") {
			s := state.ConnectionState(rapid.IntRange(-2, 8).Draw(t, "state"))
			if !state.Legal(at, s) {
				continue
			}
			if s == at || s < state.Connected || s > state.ReadOnly {
				t.Fatalf("%v was taken in %v", s, at)
			}
			at = s
		}
	})
}
