package zkserver

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// message is a frame on its way to the client.
type message struct {
	frame     []byte
	notBefore time.Time // zero is at once
}

// What may wait to be sent to one client, in bytes. ZooKeeper has no such bounds: a client
// that asks and does not read fills its memory.
const (
	// maxUnread is how much may wait before no more requests of the client are read.
	maxUnread = 4 << 20
	// maxQueued is how much may wait, with the events that nobody has asked for, before
	// the connection is ended. What is put in at that limit may still be a long answer.
	maxQueued = tree.MaxReply
)

// outgoing is the queue of what a connection is to send. Putting something in never waits.
type outgoing struct {
	mu       sync.Mutex
	messages []message
	size     int  // bytes that wait, those that are being written included
	closed   bool // nothing more comes; what is there is still sent

	wake chan struct{} // has something when the queue has changed
	room chan struct{} // has something when there is room again
}

func newOutgoing() outgoing {
	return outgoing{wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put appends a message. After close it is dropped. If there is no room, all that waits is
// dropped, the queue is closed, and the result is false.
func (o *outgoing) put(m message) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return true
	}
	if o.size > maxQueued {
		o.messages, o.closed = nil, true
		return false
	}
	o.messages = append(o.messages, m)
	o.size += len(m.frame)
	signal(o.wake)
	return true
}

// sent says that n bytes wait no more.
func (o *outgoing) sent(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size -= n
	if o.size <= maxUnread {
		signal(o.room)
	}
}

// await waits until there is room for the answer to one more request. It is false when
// over is closed first.
func (o *outgoing) await(over <-chan struct{}) bool {
	for {
		o.mu.Lock()
		full := o.size > maxUnread
		o.mu.Unlock()
		if !full {
			return true
		}
		select {
		case <-o.room:
		case <-over:
			return false
		}
	}
}

// close says that the queue has its last message.
func (o *outgoing) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	signal(o.wake)
}

// signal puts something into a channel for one, unless there is something.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
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

// encode returns a frame of the parts, with its length before them.
func encode(parts ...tree.Body) []byte {
	b := make([]byte, 4, 128)
	for _, part := range parts {
		if part != nil {
			b = part.Append(b)
		}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// event returns the frame of a watch event.
func event(kind int32, path string, zxid int64) []byte {
	return encode(
		&jute.ReplyHeader{Xid: jute.XidNotification, Zxid: zxid},
		&jute.WatcherEvent{Type: kind, State: jute.StateSyncConnected, Path: path},
	)
}
