package zkserver

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// message is a frame on its way to the client.
type message struct {
	frame     []byte
	notBefore time.Time // zero is at once
}

// outgoing is the queue of what a connection is to send. Putting something in never waits.
type outgoing struct {
	mu       sync.Mutex
	messages []message
	closed   bool // nothing more comes; what is there is still sent

	wake chan struct{} // has something when the queue has changed
}

// put appends a message. After close it is dropped.
func (o *outgoing) put(m message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.messages = append(o.messages, m)
		o.signal()
	}
}

// close says that the queue has its last message.
func (o *outgoing) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.signal()
}

func (o *outgoing) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take waits for messages and returns all there are. It is false when none will come, or
// when over is closed.
func (o *outgoing) take(over <-chan struct{}) ([]message, bool) {
	for {
		o.mu.Lock()
		taken, closed := o.messages, o.closed
		o.messages = nil
		o.mu.Unlock()
		if len(taken) > 0 {
			return taken, true
		}
		if closed {
			return nil, false
		}
		select {
		case <-o.wake:
		case <-over:
			return nil, false
		}
	}
}

// encoder is what can be written to a frame; every jute.Record is.
type encoder interface {
	Append(b []byte) []byte
}

// encode returns a frame of the parts, with its length before them.
func encode(parts ...encoder) []byte {
	b := make([]byte, 4, 128)
	for _, part := range parts {
		if part != nil {
			b = part.Append(b)
		}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// raw is bytes that are written as they are.
type raw []byte

// Append appends the bytes to b.
func (r raw) Append(b []byte) []byte { return append(b, r...) }

// event returns the frame of a watch event.
func event(kind int32, path string) []byte {
	return encode(
		&jute.ReplyHeader{Xid: jute.XidNotification, Zxid: -1},
		&jute.WatcherEvent{Type: kind, State: jute.StateSyncConnected, Path: path},
	)
}
