package zkconn

import (
	"time"

	"github.com/go-curator/curator/state"
)

// Event is something that happened to the connection or its session.
type Event struct {
	Kind    EventKind
	State   state.ConnectionState // of StateChanged
	Session int64
	Err     error         // of SessionEnded, and of what failed
	Server  string        // of Attempting, Reached, Attempted, Disconnected and Asked
	Took    time.Duration // of Attempted that succeeded, and of Asked
	Target  string        // of Attempting, Reached and Attempted: Server, with the address if that was looked up
	Round   bool          // of an attempt that failed: all servers have been tried in vain since the last connection
	// Presumed: of SessionEnded, that no server has said so.
	Presumed bool
}

// EventKind is the kind of an Event.
type EventKind int

// The kinds of events.
const (
	// StateChanged: the connection is in a new state.
	StateChanged EventKind = iota + 1
	// DeadlinePassed: no request was acknowledged for so long that the server may soon
	// end the session. What depends on the session must be given up.
	DeadlinePassed
	// SessionEnded: the session is over, because a server has said so or because the client must
	// presume it. It does not come back.
	SessionEnded
	// Attempting: a server is tried.
	Attempting
	// Reached: the server of an attempt has taken the network connection, and the handshake begins.
	Reached
	// Attempted: a server was tried. Without Err the client is connected to it.
	Attempted
	// Disconnected: a connection has ended that was in use.
	Disconnected
	// Asked: a request that is to prove the session was answered, or failed with Err.
	Asked
	// DataLost: all servers have refused for so long that they must have lost data that this client
	// has seen. The client starts from zxid 0.
	DataLost
)
