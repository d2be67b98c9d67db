package state

// ErrorPolicy tells in which states a recipe must treat its work as failed. It must be
// safe for concurrent use and must not block.
//
// Java: ConnectionStateErrorPolicy.
type ErrorPolicy interface {
	// IsErrorState tells whether s is a failure.
	IsErrorState(s ConnectionState) bool
}

// StandardErrorPolicy returns the policy that takes [Suspended] and [Lost] for failures:
// safe, and interrupted by every disconnect.
//
// Java: StandardConnectionStateErrorPolicy.
func StandardErrorPolicy() ErrorPolicy { return standardErrorPolicy{} }

type standardErrorPolicy struct{}

func (standardErrorPolicy) IsErrorState(s ConnectionState) bool { return s == Suspended || s == Lost }

// SessionErrorPolicy returns the policy that takes only [Lost] for a failure: a lease
// survives a reconnect within the session; its own deadline still ends it in time.
//
// Java: SessionConnectionStateErrorPolicy.
func SessionErrorPolicy() ErrorPolicy { return sessionErrorPolicy{} }

type sessionErrorPolicy struct{}

func (sessionErrorPolicy) IsErrorState(s ConnectionState) bool { return s == Lost }
