package framework

// WithReadOnly lets the client read from a server that has lost its quorum, while it finds none
// that has one. The servers must permit it, with readonlymode.enabled=true and
// localSessionsEnabled=true; others refuse such connections, as they do without the option.
//
// On such a connection the state is state.ReadOnly, and BlockUntilConnected returns. Reads and
// watches work; what they see may be old, and a part of it may be undone when the quorum is back.
// Writes and sync fail with [ErrNotReadOnly], which retry policies are not asked about.
//
// The session of the client is not served meanwhile: it becomes state.Lost by its own timeout, after
// which the state is state.ReadOnly again, and Client.SessionID is zero. If the quorum is back
// before, the session is resumed, with its ephemeral nodes. Locks are not believed in on such a
// connection: nothing moves the deadline of a lease, and none is acquired. Deletes that are
// guaranteed wait until there is a quorum.
//
// In the background the client connects to each of its servers, at least every few seconds, until
// one has a quorum; then it moves there: the state is state.Suspended, and then state.Reconnected.
// Every server is asked for the session first, and for reads alone only if it has refused that, so
// that a read-only connection takes two attempts. Between the loss of a quorum and the first
// read-only connection servers refuse everything, by default for 2 s or a tick, if that is longer.
//
// Java: CuratorFrameworkFactory.Builder.canBeReadOnly.
func WithReadOnly() Option {
	return option(func(c *config) error {
		c.readOnly = true
		return nil
	})
}
