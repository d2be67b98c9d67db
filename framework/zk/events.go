package zk

import (
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/zkconn"
)

const (
	eventChanSize = 6    // of node events, as in the driver
	maxUnread     = 1024 // of session events
)

// events passes events on to the channel of Connect and to an EventCallback. Nobody is blocked by a reader who does not
// read, or by a callback that does not return.
type events struct {
	channel  chan Event
	callback EventCallback // nil for none
	run      func(fn func()) bool

	mu      sync.Mutex
	closed  bool
	last    nodeEvent // that was passed on
	endings []Event   // of watches, to be told behind that of the session
	ends    watchEnd  // the last of endings
	waiting []Event   // for the callback
	calling bool      // a goroutine calls it
}

// nodeEvent is one message of a server about a node.
type nodeEvent struct {
	id   int64
	path string
}

// session passes on an event of the session. If too many are unread the oldest goes.
func (e *events) session(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.call(ev)
	for {
		select {
		case e.channel <- ev:
			return
		default:
		}
		select {
		case <-e.channel:
		default: // somebody has read it
		}
	}
}

// node passes on an event of a node, unless the channel is full as the driver's would be. One message of a server is
// passed on once, for however many watches it is. id is its EventID.
func (e *events) node(ev Event, id int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if this := (nodeEvent{id, ev.Path}); !e.closed && this != e.last {
		e.last = this
		e.send(ev)
	}
}

// send passes on an event of a node; e.mu is held.
func (e *events) send(ev Event) {
	e.call(ev)
	if len(e.channel) < eventChanSize {
		e.channel <- ev // there is room, and nobody else sends
	}
}

// watchEnd is the end of what watches of one kind on one node share.
type watchEnd struct {
	path string
	kind zkconn.WatchKind
}

// ending notes the end of a watch. Several of one kind and node, which follow each other, are told as one.
func (e *events) ending(ev Event, kind zkconn.WatchKind) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if this := (watchEnd{ev.Path, kind}); len(e.endings) == 0 || this != e.ends {
		e.ends = this
		e.endings = append(e.endings, ev)
	}
}

// ended passes on the ends of watches, behind that of their session.
func (e *events) ended() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range e.endings {
		if !e.closed {
			e.send(ev)
		}
	}
	e.endings = nil
}

// call leaves an event for the callback; e.mu is held.
func (e *events) call(ev Event) {
	if e.callback == nil {
		return
	}
	if len(e.waiting) >= maxUnread {
		e.waiting = slices.Delete(e.waiting, 0, 1)
	}
	e.waiting = append(e.waiting, ev)
	if !e.calling {
		e.calling = e.run(e.callAll)
	}
}

// callAll calls the callback until nothing waits. If that ends the goroutine, another one follows with the next event.
func (e *events) callAll() {
	ended := false
	defer func() {
		if ended {
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.calling = false
	}()
	for ev, ok := e.next(); ok; ev, ok = e.next() {
		e.callback(ev)
	}
	ended = true
}

// next takes an event for the callback.
func (e *events) next() (ev Event, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) == 0 {
		e.calling = false
		return ev, false
	}
	ev = e.waiting[0]
	e.waiting = slices.Delete(e.waiting, 0, 1)
	return ev, true
}

// close passes on a last event, and closes the channel.
func (e *events) close(last Event) {
	e.session(last)
	e.ended()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		close(e.channel)
	}
}

// progress is what the session layer has told of the connection, as a State.
type progress struct {
	mu      sync.Mutex
	state   State
	server  string // of the last attempt
	reached bool   // it has taken the network connection
}

// take returns the events of the driver for one of the session layer.
func (p *progress) take(e zkconn.Event, readOnly bool) (told []Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	tell := func(s State) {
		p.state = s
		told = append(told, Event{Type: EventSession, State: s, Server: p.server})
	}
	switch e.Kind {
	case zkconn.Attempting:
		p.server, p.reached = e.Server, false
		tell(StateConnecting)
	case zkconn.Reached:
		p.reached = true
		tell(StateConnected)
	case zkconn.Attempted:
		switch {
		case e.Err != nil && p.reached:
			tell(StateDisconnected)
		case e.Err == nil && readOnly:
			tell(StateConnectedReadOnly)
		case e.Err == nil:
			tell(StateHasSession)
		}
	case zkconn.Disconnected:
		tell(StateDisconnected)
	case zkconn.SessionEnded:
		tell(StateExpired)
	}
	return told
}

// begin returns the event of a server that is in use already.
func (p *progress) begin(server string, readOnly bool) []Event {
	p.mu.Lock()
	p.server = server
	p.mu.Unlock()
	return p.take(zkconn.Event{Kind: zkconn.Attempted}, readOnly)
}

// now returns the state and the server. connected is what the session layer says at this moment, whose events come
// later.
func (p *progress) now(connected bool) (State, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case connected:
		return StateHasSession, p.server
	case p.state == StateHasSession || p.state == StateConnectedReadOnly:
		return StateDisconnected, p.server
	}
	return p.state, p.server
}
