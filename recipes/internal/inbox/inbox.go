// Package inbox passes the replies and events of a connection to one recipe, in the order of
// the stream.
//
// A server sends the event of a change before any reply that shows the change. A recipe that
// gets both in this order can rely on it: when the reply to a read comes after an event, the
// read shows the change. If one goroutine handled replies and another one events, a late reply
// could bring a deleted node back.
//
// An [Inbox] takes the replies to requests and the events of watches and of the connection, and
// gives them to the one goroutine that owns the recipe's state. Package zkconn calls its
// functions in the order of the stream, and the inbox keeps that order:
//
//   - Replies and events of one connection come in the order in which the server has sent them.
//     The zxid of a reply's header is in its Call.
//   - Suspended comes when the connection has ended, and after it the replies that fail with
//     the connection. Connected comes before all replies and events of the next connection.
//   - A request that cannot be sent because there is no connection fails with a reply that stands
//     behind Suspended and before Connected, or it is sent on the next connection. Who sends again
//     after Connected what has failed since Suspended forgets none. A request that is refused for
//     another reason has its reply immediately.
//
// No message is lost and no sender waits: the inbox has no limit. A recipe limits the replies by
// limiting its requests; events come as fast as the tree changes.
package inbox

import (
	"errors"
	"sync"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn"
)

// Kind is the kind of a Message.
type Kind int8

// The kinds.
const (
	// Reply says that Call has its reply, or failed.
	Reply Kind = iota + 1
	// Event says that a watch has fired or, with an event such as zkconn.WatchReset, that a
	// one-shot watch has ended.
	Event
	// Suspended says that the connection has ended.
	Suspended
	// Connected says that there is another connection. One-shot watches have ended. Persistent
	// watches are restored, and have missed the changes in between.
	Connected
	// Closed says that the client is closed. It is the last message.
	Closed
)

// Message is a reply, or an event of a watch or of the connection.
type Message struct {
	Kind  Kind
	Tag   any               // that was given to Send, of Reply
	Call  *zkconn.Call      // of Reply
	Event zkconn.WatchEvent // of Event
	Epoch int64             // of the servers' data, of Connected; see zkconn.Conn.Epoch
}

// Inbox holds messages for one goroutine. Send, Take and Close are called by that goroutine alone;
// the watches and replies come on others.
type Inbox struct {
	conn     *zkconn.Conn
	observer *zkconn.Observer
	wake     wait.Signal

	mu          sync.Mutex
	messages    []Message
	closed      bool
	connected   bool      // as the messages say
	connections int       // how many messages Connected there were
	unsent      []Message // replies that are to stand behind the next Suspended
}

// New returns an inbox for messages of conn. connected reports whether there is a connection now:
// if not, wait for the message Connected.
func New(conn *zkconn.Conn) (b *Inbox, connected bool) {
	b = &Inbox{conn: conn, wake: wait.NewSignal()}
	b.mu.Lock() // no event before connected is set
	defer b.mu.Unlock()
	b.observer, b.connected = conn.Observe(b.observe)
	return b, b.connected
}

// observe takes an event of the connection.
func (b *Inbox) observe(e zkconn.EventType) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e {
	case zkconn.WatchSuspended:
		b.connected = false
		b.add(Message{Kind: Suspended})
		b.addUnsent()
	case zkconn.WatchReset:
		b.connected = true
		b.connections++
		b.add(Message{Kind: Connected, Epoch: b.conn.Epoch()})
	case zkconn.WatchClosed:
		b.addUnsent()
		b.add(Message{Kind: Closed})
	}
}

// addUnsent adds the replies that have waited for Suspended. b.mu is held.
func (b *Inbox) addUnsent() {
	b.add(b.unsent...)
	b.unsent = nil
}

// Send sends a request, whose reply becomes a message with the tag. It does not wait.
func (b *Inbox) Send(call *zkconn.Call, tag any) {
	m := Message{Kind: Reply, Tag: tag, Call: call}
	for {
		b.mu.Lock()
		before := b.connections
		b.mu.Unlock()
		flight, queued := b.conn.Start(0, func(f *zkconn.Flight) {
			_ = f.Result() // it is in the call, too
			b.put(m)
		}, call)
		if queued || b.refused(m, flight.Result(), before) {
			return
		}
	}
}

// refused takes a request that was not sent for its failed reply. It returns false if there is another
// connection by now: Connected is told already, so that the request has to be sent on that one.
func (b *Inbox) refused(m Message, err error, before int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	lost := errors.Is(err, zkconn.ErrConnectionLoss)
	switch {
	case lost && b.connections != before:
		return false
	case lost && b.connected: // the connection is dead, and the session layer is about to say so
		b.unsent = append(b.unsent, m)
	default:
		b.add(m)
	}
	return true
}

// Subscription returns a persistent watch whose events become messages. The message Connected,
// and not an event, says that it was restored. The caller subscribes it, and gives it back
// before Close.
func (b *Inbox) Subscription(path string, recursive bool) *zkconn.Subscription {
	return zkconn.NewSubscription(path, recursive, func(e zkconn.WatchEvent) {
		if e.Type < zkconn.WatchReset {
			b.put(Message{Kind: Event, Event: e})
		}
	})
}

// Watch returns a one-shot watch whose event becomes a message. It goes with a call.
func (b *Inbox) Watch(path string, kind zkconn.WatchKind) *zkconn.Watch {
	return zkconn.NewWatch(path, kind, func(e zkconn.WatchEvent) { b.put(Message{Kind: Event, Event: e}) })
}

// put adds a message. It is called with locks of the session layer held.
func (b *Inbox) put(m Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(m)
}

// add is put with b.mu held.
func (b *Inbox) add(m ...Message) {
	if b.closed || len(m) == 0 {
		return
	}
	b.messages = append(b.messages, m...)
	b.Wake()
}

// Wake makes C receive a value, also without a message.
func (b *Inbox) Wake() { b.wake.Set() }

// C receives a value when there are messages, and after Wake.
func (b *Inbox) C() <-chan struct{} { return b.wake }

// Take returns all present messages. The caller may pass the slice of an earlier call, which it
// no longer uses, to be used again.
func (b *Inbox) Take(used []Message) []Message {
	clear(used)
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := b.messages
	b.messages = used[:0]
	return messages
}

// Close drops present and later messages.
func (b *Inbox) Close() {
	b.conn.Unobserve(b.observer)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.messages = true, nil
}
