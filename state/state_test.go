package state_test

import (
	"slices"
	"testing"

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
