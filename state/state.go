// Package state has the states of a client's connection, error policies, and a circuit breaker
// for listeners that must not get every change.
//
// The table has the permitted transitions; [Legal] is the same as a function. A listener gets
// every state once, in order, and never the same state twice in a row.
//
//	from                              to
//	(no connection yet)               CONNECTED, READ_ONLY, SUSPENDED
//	SUSPENDED before a connection     CONNECTED, READ_ONLY, LOST
//	LOST before a connection          CONNECTED, READ_ONLY
//	CONNECTED, RECONNECTED, READ_ONLY SUSPENDED, LOST
//	SUSPENDED                         RECONNECTED, READ_ONLY, LOST
//	LOST                              RECONNECTED, READ_ONLY
//
// SUSPENDED is the first state if an operation fails because the client has no connection yet.
// LOST follows if there is no connection for a session timeout. There was no session then, and
// nothing is lost. The first connection is CONNECTED all the same.
//
// A state says what the client knows. A server may end a session before the client reports
// LOST. Where this matters, as for a lock, the recipe has its own deadline.
//
// All types except [CircuitBreaker] are values, safe for concurrent use; nothing blocks. Name a
// variable of these types s, not state, which would hide the package.
//
// The counterpart in Java is org.apache.curator.framework.state.
package state

import (
	"fmt"
	"log/slog"
)

// ConnectionState is the state of a client's connection. The zero value means that there has
// been no connection yet, and that no operation has failed because of that.
//
// Java: ConnectionState.
type ConnectionState int

// The states, in Curator's sense.
const (
	// Connected is the first connection of a client. It comes at most once.
	Connected ConnectionState = iota + 1
	// Suspended means that there is no connection; the session may live on. Before the first
	// connection it means that an operation has failed because there is none.
	Suspended
	// Reconnected means that there is a connection again, in the old session after
	// Suspended and in a new one after Lost.
	Reconnected
	// Lost means that the session is over, or must be presumed over: its ephemeral nodes are
	// deleted or will be. Before the first connection it means that there has been none for a
	// session timeout since Suspended.
	Lost
	// ReadOnly is a connection to a server that has no quorum; it serves reads only.
	ReadOnly
)

var names = [...]string{"NONE", "CONNECTED", "SUSPENDED", "RECONNECTED", "LOST", "READ_ONLY"}

// String returns Java's name, such as SUSPENDED; NONE for the zero value.
func (s ConnectionState) String() string {
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("ConnectionState(%d)", int(s))
	}
	return names[s]
}

// LogValue returns the text of String, because a slog.JSONHandler would write the number.
func (s ConnectionState) LogValue() slog.Value { return slog.StringValue(s.String()) }

// IsConnected reports whether a server can answer reads.
//
// Java: ConnectionState.isConnected.
func (s ConnectionState) IsConnected() bool {
	return s == Connected || s == Reconnected || s == ReadOnly
}

// Legal reports whether a client's connection can go from one state to another in one step. It
// does not know the states before these two: after [Suspended] and [Lost], [Connected] comes only if
// there was no connection before, and [Reconnected] only if there was one.
func Legal(from, to ConnectionState) bool {
	switch from {
	case 0:
		return to == Connected || to == ReadOnly || to == Suspended
	case Connected, Reconnected, ReadOnly:
		return to == Suspended || to == Lost
	case Suspended:
		return to == Connected || to == Reconnected || to == ReadOnly || to == Lost
	case Lost:
		return to == Connected || to == Reconnected || to == ReadOnly
	}
	return false
}

// ErrorPolicy says in which states a recipe must treat its work as failed. A client asks it once for
// each state, when it is made.
//
// Java: ConnectionStateErrorPolicy.
type ErrorPolicy interface {
	// IsErrorState reports whether s is a failure.
	IsErrorState(s ConnectionState) bool
}

// StandardErrorPolicy returns the policy for which [Suspended] and [Lost] are failures. Every
// disconnect interrupts work.
//
// Java: StandardConnectionStateErrorPolicy.
func StandardErrorPolicy() ErrorPolicy { return standardErrorPolicy{} }

type standardErrorPolicy struct{}

func (standardErrorPolicy) IsErrorState(s ConnectionState) bool { return s == Suspended || s == Lost }

// SessionErrorPolicy returns the policy for which only [Lost] is a failure. A lease survives a
// reconnect within the session. Its deadline still ends it in time.
//
// Java: SessionConnectionStateErrorPolicy.
func SessionErrorPolicy() ErrorPolicy { return sessionErrorPolicy{} }

type sessionErrorPolicy struct{}

func (sessionErrorPolicy) IsErrorState(s ConnectionState) bool { return s == Lost }
