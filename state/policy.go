package state

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
