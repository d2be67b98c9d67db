package sequences_test

import "strings"

// Step is one thing that happens to a component: what the session layer tells it, or what a user does.
type Step int8

// The alphabet.
const (
	ReplyOK      Step = iota + 1 // a request is answered
	ReplyLost                    // a request that was sent fails with its connection
	ReplyUnsent                  // a request fails that was never sent, for want of a connection
	Event                        // a watch tells of a change
	WatchReset                   // there is another connection, and a change was missed before
	Suspended                    // the connection has ended
	Connected                    // there is another connection
	SessionLost                  // a server has said that the session is over
	Call                         // a user calls a method of the component
	Panic                        // a user's function panics, in a call of the user's
	ContextEnds                  // the contexts of the calls end, and that of Start
	Close                        // the component is closed
	ClientClosed                 // the client is closed
)

// steps are all of them.
var steps = []Step{
	ReplyOK, ReplyLost, ReplyUnsent, Event, WatchReset, Suspended, Connected, SessionLost,
	Call, Panic, ContextEnds, Close, ClientClosed,
}

var stepNames = [...]string{
	ReplyOK: "ReplyOK", ReplyLost: "ReplyLost", ReplyUnsent: "ReplyUnsent", Event: "Event", WatchReset: "WatchReset",
	Suspended: "Suspended", Connected: "Connected", SessionLost: "SessionLost", Call: "Call", Panic: "Panic",
	ContextEnds: "ContextEnds", Close: "Close", ClientClosed: "ClientClosed",
}

func (s Step) String() string { return stepNames[s] }

// text returns the names of steps.
func text(sequence []Step) string {
	names := make([]string, len(sequence))
	for i, s := range sequence {
		names[i] = s.String()
	}
	return strings.Join(names, ",")
}

// link is what legal knows of a connection and its users.
type link struct {
	up       bool // there is a connection
	failing  bool // replies have failed since the last one has ended
	restored bool // watches were told of the next one, which comes at once
	over     bool // the session is over
	closed   bool // the component is closed
	gone     bool // so is the client
	calls    bool // there is a context that has not ended
}

// newLink is that of a component that was started and has a connection.
func newLink() link { return link{up: true, calls: true} }

// legal reports whether a connection that is good at the beginning can tell this, in this order, while users
// do what they do at any time.
//
// Requests that were sent fail behind Suspended, and before the next connection. A reply that another goroutine is
// just telling of when the connection ends comes behind Suspended, and ahead of those that fail. A request fails
// unsent if there is no connection, and ahead of Suspended if the connection is known to take nothing any more.
// WatchReset is told of each watch, and Connected right behind it. The session may end before its connection, if a
// server answers that it is over, or without one. ClientClosed comes last.
func legal(told []Step) bool {
	l := newLink()
	for _, s := range told {
		if !l.take(s) {
			return false
		}
	}
	return true
}

// take reports whether s may be told next, and takes note of it.
func (l *link) take(s Step) bool {
	if l.gone && s < Call || l.restored && s < Call && s != WatchReset && s != Connected {
		return false
	}
	switch s {
	case ReplyOK:
		return l.up || !l.failing
	case ReplyLost:
		l.failing = true
		return !l.up
	case ReplyUnsent:
		l.failing = !l.up
	case Event:
		return l.up
	case WatchReset:
		l.restored = true
		return !l.up
	case Suspended:
		ok := l.up
		l.up, l.failing = false, false
		return ok
	case Connected:
		ok := !l.up
		l.up, l.restored, l.over = true, false, false
		return ok
	case SessionLost:
		ok := !l.over
		l.over = true
		return ok
	}
	return l.does(s)
}

// does is take for what users do.
func (l *link) does(s Step) bool {
	switch s {
	case Call:
		l.calls = true
	case ContextEnds:
		ok := l.calls
		l.calls = false
		return ok
	case Close:
		ok := !l.closed
		l.closed, l.calls = true, true
		return ok
	case ClientClosed:
		ok := !l.gone
		l.gone = true
		return ok
	}
	return true
}
