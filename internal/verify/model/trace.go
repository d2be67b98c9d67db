package model

import (
	"slices"
	"time"
)

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

// facts are what a Trace says, in the forms that a follower needs.
type facts struct {
	acquisitions [][]acquisition // of each client
	of           []int           // the acquisition of each note
	connections  [][]int         // the notes about each client's connection
	kills        [][]kill        // of each client
	existing     [][]int         // the nodes before each transaction, and behind the last one
	created      []int           // how many were created before it
	waits        []wait          // of each node
	grantedTo    []int           // the acquisition that has returned each node, or -1
	notesBefore  []int           // how many notes there are before each transaction, or soon after its time
}

// newFacts returns what a trace says. Without unlikely waits, who deletes a node without the marker has not
// waited for it.
func newFacts(t *Trace, withoutUnlikelyWaits bool) *facts {
	f := &facts{connections: t.connections(), kills: t.kills(), existing: t.existing(), created: t.createdBefore(), waits: t.waits(withoutUnlikelyWaits)}
	f.acquisitions, f.of = t.acquisitions()
	f.notesBefore = t.notesBefore()
	f.grantedTo = slices.Repeat([]int{-1}, f.created[len(t.Changes)])
	for i, n := range t.Notes {
		if n.Kind == Granted || n.Kind == Downgraded {
			f.grantedTo[n.Node] = f.of[i]
		}
	}
	return f
}

const (
	// soon is how late a transaction mostly is at most, in nanoseconds.
	soon = int64(100 * time.Millisecond)
	// commitLate is how late it is at most: the leader notes when it begins.
	commitLate = int64(5 * time.Second)
)

// notesBefore returns how many notes there are until soon after each transaction, and in all.
func (t *Trace) notesBefore() []int {
	all := make([]int, 0, len(t.Changes)+1)
	latest, n := int64(0), 0
	for _, c := range t.Changes {
		latest = max(latest, c.At+soon)
		for n < len(t.Notes) && t.Notes[n].At <= latest {
			n++
		}
		all = append(all, n)
	}
	return append(all, len(t.Notes))
}

// acquisition is what the notes say of one call of Acquire. Without a note its index is never.
type acquisition struct {
	granted, refused, releasing, ended int
	downgrading, downgraded            int
	held                               int // the last note that the lease was believed
	reads                              bool
}

// never is behind all notes.
const never = int(^uint(0) >> 1)

// acquisitions returns those of each client, in their order, and which one each note belongs to.
func (t *Trace) acquisitions() (all [][]acquisition, of []int) {
	all, of = make([][]acquisition, t.Clients), make([]int, len(t.Notes))
	for i, n := range t.Notes {
		mine := &all[n.Client]
		if n.Kind == Begun {
			*mine = append(*mine, acquisition{never, never, never, never, never, never, never, n.Reads})
		}
		of[i] = len(*mine) - 1
		if of[i] < 0 {
			continue
		}
		last := &(*mine)[of[i]]
		switch n.Kind {
		case Granted:
			last.granted = i
		case Held:
			last.held = i
		case Refused:
			last.refused, last.ended = i, i
		case Releasing:
			last.releasing = i
		case ReleasedWell, ReleasedBadly:
			last.ended = i
		case Downgrading:
			last.downgrading = i
		case Downgraded:
			last.downgraded = i
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
// without it has not, unless the connection broke during the release (rules 5 and 6). That it has not is
// known if the release has succeeded, or if the node was gone long before the client's next note. Without
// unlikely waits it is taken for granted. A reader and a semaphore have no marker.
func (t *Trace) waits(withoutUnlikelyWaits bool) []wait {
	var all []wait
	var marks []bool // of each node: its release has a marker, if it has waited
	ends := map[int]Change{}
	for _, c := range t.Changes {
		switch c.Kind {
		case Created:
			all, marks = append(all, mayHaveWaited), append(marks, t.Lock.contender(c.Reads).marks(&client{flags: waited}))
		case Deleted, Released, Taken:
			ends[c.Node] = c
			switch {
			case c.Kind == Released:
				all[c.Node] = hasWaited
			case withoutUnlikelyWaits && c.Kind == Deleted && marks[c.Node]:
				all[c.Node] = hasNotWaited
			}
		}
	}
	granted, releasing := make([]int, t.Clients), make([]bool, t.Clients)
	for i := range granted {
		granted[i] = -1
	}
	unmarked := func(node int) bool { return node >= 0 && ends[node].Kind == Deleted && marks[node] }
	for _, n := range t.Notes {
		node := &granted[n.Client]
		if releasing[n.Client] && unmarked(*node) && ends[*node].At+commitLate < n.At {
			all[*node] = hasNotWaited
		}
		switch {
		case n.Kind == Granted:
			*node, releasing[n.Client] = n.Node, false
		case n.Kind == Held:
		case n.Kind == Releasing:
			releasing[n.Client] = true
		case n.Kind == ReleasedWell && unmarked(*node):
			all[*node] = hasNotWaited
		case (n.Kind == Parted || n.Kind == Connected) && !releasing[n.Client]: // the release is sent later
		default:
			*node = -1
		}
	}
	return all
}

// createdBefore returns how many nodes were created before each transaction, and behind the last one.
func (t *Trace) createdBefore() []int {
	all := make([]int, 1, len(t.Changes)+1)
	for _, c := range t.Changes {
		n := all[len(all)-1]
		if c.Kind == Created {
			n++
		}
		all = append(all, n)
	}
	return all
}

// existing returns the nodes that exist before each transaction, and behind the last one.
func (t *Trace) existing() [][]int {
	owners := map[int]Change{}
	all := make([][]int, 1, len(t.Changes)+1)
	for _, c := range t.Changes {
		now := all[len(all)-1]
		switch c.Kind {
		case Created:
			owners[c.Node] = c
			now = append(slices.Clip(now), c.Node)
		case Deleted, Released, Taken:
			now = without(now, func(node int) bool { return node == c.Node })
		case SessionEnded:
			now = without(now, func(node int) bool {
				owner := owners[node]
				return owner.Client == c.Client && owner.Epoch == c.Epoch
			})
		}
		all = append(all, now)
	}
	return all
}

func without(nodes []int, gone func(node int) bool) (left []int) {
	for _, n := range nodes {
		if !gone(n) {
			left = append(left, n)
		}
	}
	return left
}
