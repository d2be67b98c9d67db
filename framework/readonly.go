package framework

// WithReadOnly lets the client read from a server that has lost its quorum, while it finds no
// server with a quorum. The servers must permit it, with readonlymode.enabled=true and
// localSessionsEnabled=true. Other servers without a quorum refuse the connection, as they do
// without the option.
//
// On such a connection the state is state.ReadOnly, and BlockUntilConnected returns. Reads and
// watches work. The data may be old, and a part of it may be undone when the quorum is back.
// Writes and sync fail with [ErrNotReadOnly] without a retry.
//
// A read-only server does not keep the client's session alive. The session becomes state.Lost
// by its own timeout. Then the state is state.ReadOnly again, and Client.SessionID is zero. If
// the quorum is back before, the session is resumed, with its ephemeral nodes. On such a
// connection the deadline of a lease does not move, and no lock is acquired. Guaranteed deletes
// wait until there is a quorum.
//
// In the background the client connects to each of its servers, at least every few seconds,
// until one has a quorum. Then it moves to that server: the state is state.Suspended, and then
// state.Reconnected. The client first asks every server for its session, and only after a
// refusal for reads, so a read-only connection takes two attempts. Between the loss of a quorum
// and the first read-only connection servers refuse all connections, by default for 2 s or a
// tick, if that is longer.
//
// Java: CuratorFrameworkFactory.Builder.canBeReadOnly.
func WithReadOnly() Option {
	return option(func(c *config) error {
		c.readOnly = true
		return nil
	})
}
