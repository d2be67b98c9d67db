package zkconn

import (
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/state"
)

// Event is something that happened to the connection or its session.
type Event struct {
	Kind    EventKind
	State   state.ConnectionState // of StateChanged
	Session int64
	Err     error         // of SessionEnded and Unknown, and of what failed
	Server  string        // of Attempting, Reached, Attempted, Disconnected and Asked
	Took    time.Duration // of Attempted that succeeded, and of Asked
	Target  string        // of Attempting, Reached and Attempted: Server, with the address if that was looked up
	Round   bool          // of an attempt that failed: all servers have been tried in vain since the last connection
	// Presumed: of SessionEnded, that no server has said so.
	Presumed bool
	// Bytes and Limit: of EphemeralsLarge and ListLarge. Path: of ListLarge, the server's.
	Bytes, Limit int
	Path         string
}

// EventKind is the kind of an Event.
type EventKind int

// The kinds of events.
const (
	// StateChanged: the connection is in a new state.
	StateChanged EventKind = iota + 1
	// DeadlinePassed: the session was not proved for so long that the servers may soon end it (S4). What depends on the
	// session must be given up.
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
	// EphemeralsLarge: the session's ephemeral nodes have reached half of the size at which servers fail. With Err
	// their size is not known, because the servers do not list them, and creates are not refused from now on.
	EphemeralsLarge
	// ListLarge: the list of the children of a node has reached half of the size that some clients refuse.
	ListLarge
	// Unknown: the servers do not know all requests. Err says what the client does.
	Unknown
)

// reports is what users are to be told: by the monitor, and of losses before a call ends because of one. Its mutexes are
// taken last.
type reports struct {
	losses losses
	signal chan struct{} // wakes the monitor

	mu        sync.Mutex
	state     state.ConnectionState
	suspended time.Duration // when the state became Suspended, by the lease
	events    []Event       // for the monitor to deliver
	listeners []*Listener   // replaced, never changed, but for the end
}

func newReports(onLoss func(Event)) reports {
	return reports{losses: newLosses(onLoss), signal: make(chan struct{}, 1)}
}

// wake has the monitor look at everything.
func (r *reports) wake() {
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

// push leaves an event for the monitor.
func (r *reports) push(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	r.wake()
}

// pushLoss is push for an event by which those who rely on the session are to give up. Conn.mu is held.
func (r *reports) pushLoss(e Event) {
	r.losses.add(e)
	r.push(e)
}

// become changes the state, if that is a change and a legal one. Conn.mu is held.
func (r *reports) become(s state.ConnectionState, session int64, now time.Duration) {
	r.mu.Lock()
	legal := s != r.state && state.Legal(r.state, s)
	if legal {
		r.state = s
	}
	if legal && s == state.Suspended {
		r.suspended = now
	}
	r.mu.Unlock()
	if legal {
		r.pushLoss(Event{Kind: StateChanged, State: s, Session: session})
	}
}

// current returns the state, and when it became Suspended if that is what it is.
func (r *reports) current() (s state.ConnectionState, suspended time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, r.suspended
}

// take takes the events that wait, and returns who is to be told.
func (r *reports) take() ([]Event, []*Listener) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events, r.listeners
}

// listen adds a listener for the events from now on.
func (r *reports) listen(fn func(Event)) *Listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &Listener{fn: fn, skip: len(r.events)}
	r.listeners = append(r.listeners, l)
	return l
}

func (r *reports) unlisten(l *Listener) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners = slices.DeleteFunc(slices.Clone(r.listeners), func(other *Listener) bool { return other == l })
}

// losses are the events by which those who rely on the session are to give up: StateChanged, DeadlinePassed and
// SessionEnded. They are told before the calls end that fail because of them: a user's function that gets
// ErrConnectionLoss must find its lock lost. So tell is called before a call ends with an error.
type losses struct {
	onLoss func(Event)   // nil: nobody is told
	turn   chan struct{} // holds a token while somebody tells

	mu     sync.Mutex // is taken last
	untold []Event
}

func newLosses(onLoss func(Event)) losses {
	return losses{onLoss: onLoss, turn: make(chan struct{}, 1)}
}

// add notes an event to be told. Conn.mu is held, so that the order is that of the events.
func (l *losses) add(e Event) {
	if l.onLoss == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.untold = append(l.untold, e)
}

// tell tells of the losses that have been noted. When it returns, all of them have been told, by this goroutine
// or by another one. It is called without locks.
func (l *losses) tell() {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	for _, e := range l.take() {
		l.onLoss(e)
	}
}

func (l *losses) take() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	untold := l.untold
	l.untold = nil
	return untold
}

// Listener is told of events; see [Conn.Listen].
type Listener struct {
	fn   func(Event)
	skip int // events that happened before, and wait to be delivered; of the monitor's goroutine
}

func (l *Listener) tell(e Event) {
	if l.skip > 0 {
		l.skip--
		return
	}
	l.fn(e)
}
