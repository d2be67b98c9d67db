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

// acquisition is what the notes say of one call of Acquire. Without a note its index is never.
type acquisition struct {
	begun, granted, lost, refused, releasing, ended int
}

// never is behind all notes.
const never = int(^uint(0) >> 1)

// acquisitions returns those of each client, in their order, and which one each note belongs to.
func (t *Trace) acquisitions() (all [][]acquisition, of []int) {
	all, of = make([][]acquisition, t.Clients), make([]int, len(t.Notes))
	for i, n := range t.Notes {
		mine := &all[n.Client]
		if n.Kind == Begun {
			*mine = append(*mine, acquisition{i, never, never, never, never, never})
		}
		of[i] = len(*mine) - 1
		if of[i] < 0 {
			continue
		}
		last := &(*mine)[of[i]]
		switch n.Kind {
		case Granted:
			last.granted = i
		case Lost:
			last.lost = min(last.lost, i)
		case Refused:
			last.refused, last.ended = i, i
		case Releasing:
			last.releasing = i
		case ReleasedWell, ReleasedBadly:
			last.ended = i
		}
	}
	return all, of
}

// connections returns for each client the notes about its connection.
func (t *Trace) connections() [][]int {
	all := make([][]int, t.Clients)
	for i, n := range t.Notes {
		if n.Kind == Parted || n.Kind == Connected {
			all[n.Client] = append(all[n.Client], i)
		}
	}
	return all
}

// kill is the end of a process: the notes that it is being killed, if it was, and that it has ended.
type kill struct{ killing, dead int }

// kills returns those of each client.
func (t *Trace) kills() [][]kill {
	all := make([][]kill, t.Clients)
	killing := make([]int, t.Clients)
	for i := range killing {
		killing[i] = never
	}
	for i, n := range t.Notes {
		switch n.Kind {
		case Killing:
			killing[n.Client] = i
		case Dead:
			all[n.Client] = append(all[n.Client], kill{killing[n.Client], i})
			killing[n.Client] = never
		}
	}
	return all
}

// wait says what the release of a node tells of its time before the grant.
type wait uint8

const (
	mayHaveWaited wait = iota
	hasWaited
	hasNotWaited
)

// waits returns what is known of each node: who releases with the marker has waited, and who releases
// well and without it has not, unless the connection broke (rules 5 and 6).
func (t *Trace) waits() []wait {
	var all []wait
	ends := map[int]ChangeKind{}
	for _, c := range t.Changes {
		switch c.Kind {
		case Created:
			all = append(all, mayHaveWaited)
		case Deleted, Released, Taken:
			ends[c.Node] = c.Kind
			if c.Kind == Released {
				all[c.Node] = hasWaited
			}
		}
	}
	granted := make([]int, t.Clients)
	for i := range granted {
		granted[i] = -1
	}
	for _, n := range t.Notes {
		switch node := &granted[n.Client]; {
		case n.Kind == Granted:
			*node = n.Node
		case n.Kind == ReleasedWell && *node >= 0 && ends[*node] == Deleted:
			all[*node] = hasNotWaited
		case n.Kind != Held && n.Kind != Releasing:
			*node = -1
		}
	}
	return all
}
