package model

// Trace is what was noted of a real mutex: what the servers have committed, and what its clients have
// said. Times are of one clock.
type Trace struct {
	Clients int      // each uses the lock once at a time
	Changes []Change // in the order of the servers' log
	Notes   []Note   // in the order of their times
}

// Change is a transaction of the servers.
type Change struct {
	At     int64 // it was committed then, or later
	Kind   ChangeKind
	Client int // whose node or session it is
	Epoch  int // which one of the client's sessions, counted from 0
	Node   int // the number of the node, in the order of their creation
}

// ChangeKind says what a transaction does.
type ChangeKind uint8

// The kinds of changes.
const (
	Created      ChangeKind = iota // a contender's node
	Deleted                        // a node, by its client
	Released                       // a node and its release marker
	Taken                          // a node, by somebody else
	SessionEnded                   // and its nodes are deleted
	QueueMade                      // the lock's path
	QueueRemoved
)

var changeNames = []string{"created", "deleted", "released", "taken", "session ended", "queue made", "queue removed"}

// Note is what a client has noted at a moment.
type Note struct {
	At     int64
	Kind   NoteKind
	Client int
	Epoch  int // of Connected
	Node   int // of Granted
}

// NoteKind says what a client has noted. An acquisition goes from Begun to Refused, or from Begun to
// Granted, Held, Releasing, and ReleasedWell or ReleasedBadly.
type NoteKind uint8

// The kinds of notes.
const (
	Begun         NoteKind = iota // Acquire was called
	Granted                       // it has returned a lease, which was believed
	Held                          // the lease was believed
	Lost                          // the lease is not believed any more
	Refused                       // Acquire has returned an error
	Releasing                     // Release was called
	ReleasedWell                  // it has returned nil
	ReleasedBadly                 // it has returned an error
	Parted                        // the client has lost its connection
	Connected                     // it has a connection, in the session Epoch
	Killing                       // the process is being killed
	Dead                          // it has ended; another one takes its place
)

var noteNames = []string{
	"begun", "granted", "held", "lost", "refused", "releasing", "released", "released badly",
	"parted", "connected", "killing", "dead",
}
