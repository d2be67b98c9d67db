package model

// Trace is what was noted of a real lock: what the servers have committed, and what its clients have said.
// Times are of one clock.
type Trace struct {
	Lock    LockKind
	Leases  int      // of a Semaphore
	Clients int      // each uses the lock once at a time
	Changes []Change // in the order of the servers' log
	Last    int      // how many of the last changes may come behind all notes: their times are not exact
	Notes   []Note   // in the order of their times
}

// LockKind says what kind of lock a trace is of.
type LockKind uint8

// The kinds of locks.
const (
	Mutex LockKind = iota
	ReadWrite
	Semaphore
)

// contender returns what a client does in an acquisition.
func (k LockKind) contender(reads bool) lockRules {
	switch {
	case k == Semaphore:
		return goSemaphore
	case k == ReadWrite && reads:
		return goReader
	case k == ReadWrite:
		return goDowngrader
	}
	return goMutex
}

// Change is a transaction of the servers.
type Change struct {
	At     int64 // it was committed then, or later
	Kind   ChangeKind
	Client int  // whose node or session it is
	Epoch  int  // which one of the client's sessions, counted from 0
	Node   int  // the number of the node, in the order of their creation
	Reads  bool // the node is a reader's
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
	Epoch  int  // of Connected
	Node   int  // of Granted and Downgraded
	Reads  bool // of Begun: the acquisition is a reader's
}

// NoteKind says what a client has noted. An acquisition goes from Begun to Refused, or from Begun to
// Granted, Held, Releasing, and ReleasedWell or ReleasedBadly. A writer may be Downgrading in between; what
// comes of that is noted for the same acquisition.
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
	Downgrading                   // Downgrade was called
	Downgraded                    // it has returned a lease, which was believed
	NotDowngraded                 // it has returned an error, or a lease that was lost
	Parted                        // the client has lost its connection
	Connected                     // it has a connection, in the session Epoch
	Killing                       // the process is being killed
	Dead                          // it has ended; another one takes its place
)

var noteNames = []string{
	"begun", "granted", "held", "lost", "refused", "releasing", "released", "released badly",
	"downgrading", "downgraded", "not downgraded",
	"parted", "connected", "killing", "dead",
}
