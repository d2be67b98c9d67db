package state_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/state"
)

var all = []state.ConnectionState{0, state.Connected, state.Suspended, state.Reconnected, state.Lost, state.ReadOnly}

func TestNamesAreThoseOfJava(t *testing.T) {
	for s, want := range map[state.ConnectionState]string{
		0:                 "NONE",
		state.Connected:   "CONNECTED",
		state.Suspended:   "SUSPENDED",
		state.Reconnected: "RECONNECTED",
		state.Lost:        "LOST",
		state.ReadOnly:    "READ_ONLY",
		-1:                "ConnectionState(-1)",
		6:                 "ConnectionState(6)",
	} {
		if got := s.String(); got != want || s.LogValue().String() != want {
			t.Errorf("%d: %q, in a log %q, want %q", int(s), got, s.LogValue(), want)
		}
	}
}

func TestStatesAndPolicies(t *testing.T) {
	for _, tt := range []struct {
		s                            state.ConnectionState
		connected, standard, session bool
	}{
		{s: 0},
		{s: state.Connected, connected: true},
		{s: state.Suspended, standard: true},
		{s: state.Reconnected, connected: true},
		{s: state.Lost, standard: true, session: true},
		{s: state.ReadOnly, connected: true},
		{s: -1},
		{s: 6},
	} {
		if got := tt.s.IsConnected(); got != tt.connected {
			t.Errorf("%v: IsConnected = %t", tt.s, got)
		}
		if got := state.StandardErrorPolicy().IsErrorState(tt.s); got != tt.standard {
			t.Errorf("%v: an error for the standard policy: %t", tt.s, got)
		}
		if got := state.SessionErrorPolicy().IsErrorState(tt.s); got != tt.session {
			t.Errorf("%v: an error for the session policy: %t", tt.s, got)
		}
	}
}

// All pairs: what is not in the table is not legal.
func TestLegal(t *testing.T) {
	table := map[state.ConnectionState][]state.ConnectionState{
		0:                 {state.Connected, state.ReadOnly, state.Suspended},
		state.Connected:   {state.Suspended, state.Lost},
		state.Reconnected: {state.Suspended, state.Lost},
		state.ReadOnly:    {state.Suspended, state.Lost},
		state.Suspended:   {state.Connected, state.Reconnected, state.ReadOnly, state.Lost},
		state.Lost:        {state.Connected, state.Reconnected, state.ReadOnly},
	}
	for _, from := range append([]state.ConnectionState{-1, 6}, all...) {
		for _, to := range append([]state.ConnectionState{-1, 6}, all...) {
			if got, want := state.Legal(from, to), slices.Contains(table[from], to); got != want {
				t.Errorf("Legal(%v, %v) = %t, want %t", from, to, got, want)
			}
		}
	}
}

// What listeners and recipes rely on, whatever the table says.
func TestLegalKeepsItsPromises(t *testing.T) {
	for _, from := range all {
		if state.Legal(from, from) {
			t.Errorf("%v can follow itself", from)
		}
		if state.Legal(from, 0) {
			t.Errorf("%v can become no connection yet", from)
		}
		if from.IsConnected() && state.Legal(from, state.Connected) {
			t.Errorf("CONNECTED can follow %v", from)
		}
		for _, to := range all {
			if from.IsConnected() && to.IsConnected() && state.Legal(from, to) {
				t.Errorf("%v can follow %v without a disconnect between", to, from)
			}
		}
	}
	if state.Legal(state.Lost, state.Suspended) {
		t.Error("LOST can be taken back to SUSPENDED")
	}
}

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
