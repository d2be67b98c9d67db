package state_test

import (
	"fmt"

	"github.com/go-curator/curator/state"
)

func ExampleErrorPolicy() {
	for _, s := range []state.ConnectionState{state.Connected, state.Suspended, state.Lost} {
		fmt.Println(s, state.StandardErrorPolicy().IsErrorState(s), state.SessionErrorPolicy().IsErrorState(s))
	}
	// Output:
	// CONNECTED false false
	// SUSPENDED true false
	// LOST true true
}
