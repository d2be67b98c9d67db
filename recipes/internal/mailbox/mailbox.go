package mailbox

import (
	"sync"

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
}

// Box holds messages for one goroutine. Send, Take and Close are called by that goroutine alone;
// the watches and replies come on others.
type Box struct {
	conn     *zkconn.Conn
	observer *zkconn.Observer
	wake     chan struct{} // has room for one signal

	mu       sync.Mutex
	messages []Message
	closed   bool
}

// New returns a box for messages of conn. connected reports whether there is a connection now:
// if not, wait for the message Connected.
func New(conn *zkconn.Conn) (b *Box, connected bool) {
	b = &Box{conn: conn, wake: make(chan struct{}, 1)}
	b.observer, connected = conn.Observe(b.observe)
	return b, connected
}

// observe takes an event of the connection.
func (b *Box) observe(e zkconn.EventType) {
	switch e {
	case zkconn.WatchSuspended:
		b.put(Message{Kind: Suspended})
	case zkconn.WatchReset:
		b.put(Message{Kind: Connected})
	case zkconn.WatchClosed:
		b.put(Message{Kind: Closed})
	}
}

// Send sends a request, whose reply becomes a message with the tag. It does not wait.
func (b *Box) Send(call *zkconn.Call, tag any) {
	m := Message{Kind: Reply, Tag: tag, Call: call}
	flight, queued := b.conn.Start(0, func(f *zkconn.Flight) {
		_ = f.Result() // it is in the call, too
		b.put(m)
	}, call)
	if !queued {
		_ = flight.Result()
		b.put(m)
	}
}

// Subscription returns a persistent watch whose events become messages. The message Connected,
// and not an event, says that it was restored. The caller subscribes it, and gives it back
// before Close.
func (b *Box) Subscription(path string, recursive bool) *zkconn.Subscription {
	return zkconn.NewSubscription(path, recursive, func(e zkconn.WatchEvent) {
		if e.Type < zkconn.WatchReset {
			b.put(Message{Kind: Event, Event: e})
		}
	})
}

// Watch returns a one-shot watch whose event becomes a message. It goes with a call.
func (b *Box) Watch(path string, kind zkconn.WatchKind) *zkconn.Watch {
	return zkconn.NewWatch(path, kind, func(e zkconn.WatchEvent) { b.put(Message{Kind: Event, Event: e}) })
}

// put adds a message. It is called with locks of the session layer held.
func (b *Box) put(m Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.messages = append(b.messages, m)
	b.Wake()
}

// Wake makes C receive a value, also without a message.
func (b *Box) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// C receives a value when there are messages, and after Wake.
func (b *Box) C() <-chan struct{} { return b.wake }

// Take returns all present messages. The caller may pass the slice of an earlier call, which it
// no longer uses, to be used again.
func (b *Box) Take(used []Message) []Message {
	clear(used)
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := b.messages
	b.messages = used[:0]
	return messages
}

// Close drops present and later messages.
func (b *Box) Close() {
	b.conn.Unobserve(b.observer)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.messages = true, nil
}
