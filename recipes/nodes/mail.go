package nodes

import (
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn"
)

// task is what the goroutine of a keeper has to do next. The greater includes the smaller.
type task int

const (
	rest       task = iota
	reread          // others have changed the data: set the watch again, and leave the data (K3, K4)
	recheck         // after a reconnect: look, and put right what differs
	newSession      // the session is over: its node is gone, or will be
	recreate        // the node was deleted
)

// wanted is the data that the node is to have. version counts the changes of it.
type wanted struct {
	data    []byte
	version int
}

// write is one SetData that waits.
type write struct {
	version int
	done    chan struct{}
	err     error // after done
}

// mailbox is where others leave what the goroutine of a keeper has to know: the session layer
// what has become of the watch, and SetData what data the node is to have.
type mailbox struct {
	wake wait.Signal

	mu       sync.Mutex
	watch    *zkconn.Watch // the newest one; the events of others are not counted
	task     task
	over     bool // the client was closed
	wanted   wanted
	accepted []byte // the last data that the server did not refuse
	kept     bool   // the keeper writes the data: from the beginning of Start, unless that fails
	writes   []*write
	ended    error // nothing is taken any more
}

func newMailbox(data []byte) *mailbox {
	return &mailbox{wake: wait.NewSignal(), wanted: wanted{data: data}, accepted: data}
}

// newWatch returns a watch whose event counts in place of that of the former one, which is
// returned, too. What the former one has told is forgotten: the read that sets the new one shows
// it.
func (m *mailbox) newWatch(full string) (watch, former *zkconn.Watch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	former = m.watch
	watch = new(zkconn.Watch)
	watch.Init(full, zkconn.WatchData, func(e zkconn.WatchEvent) { m.onEvent(watch, e) })
	m.watch, m.task = watch, rest
	return watch, former
}

// noWatch takes the watch back, and returns it.
func (m *mailbox) noWatch() (former *zkconn.Watch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	former, m.watch = m.watch, nil
	return former
}

// onEvent is called by the session layer, with its locks held.
func (m *mailbox) onEvent(watch *zkconn.Watch, e zkconn.WatchEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watch != watch {
		return
	}
	m.watch = nil
	switch e.Type {
	case zkconn.NodeDeleted:
		m.task = recreate
	case zkconn.WatchSessionLost:
		m.task = newSession
	case zkconn.WatchClosed:
		m.over = true
	case zkconn.NodeDataChanged, zkconn.NodeCreated:
		// NodeCreated tells of the keeper's own create, if something else in this client has a
		// persistent watch on the path. If the node was missing the keeper has more to do anyway.
		m.task = reread
	default: // WatchReset
		m.task = recheck
	}
	m.wake.Set()
}

// take returns what the watch has told, once.
func (m *mailbox) take() (next task, over bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, m.task = m.task, rest
	return next, m.over
}

// watched reports whether a watch is set, or being set, that has not fired.
func (m *mailbox) watched() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.watch != nil
}

// put replaces the data. The write that it returns tells when the node has the data. Its channel
// is nil before Start, which will write the data.
func (m *mailbox) put(data []byte) *write {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &write{}
	switch {
	case m.ended != nil:
		w.done, w.err = make(chan struct{}), m.ended
		close(w.done)
		return w
	case m.kept:
		w.done = make(chan struct{})
		m.writes = append(m.writes, w)
		m.wake.Set()
	default:
		m.accepted = data
	}
	m.wanted = wanted{data: data, version: m.wanted.version + 1}
	w.version = m.wanted.version
	return w
}

func (m *mailbox) want() wanted {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wanted
}

// unwritten reports whether a SetData waits.
func (m *mailbox) unwritten() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.writes) > 0
}

// written tells those who wait that the node has the data.
func (m *mailbox) written(w wanted) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.accepted = w.data
	m.answer(w.version, nil)
}

// keep tells those who wait that the data is wanted, but cannot be written now. why matches ErrPending.
func (m *mailbox) keep(w wanted, why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.accepted = w.data
	m.answer(w.version, why)
}

// refuse ends the writes up to w with err, and returns to the data that was accepted last. It
// reports whether there was such a write.
func (m *mailbox) refuse(w wanted, err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.writes)
	m.answer(w.version, err)
	if len(m.writes) == before {
		return false
	}
	if m.wanted.version == w.version {
		m.wanted = wanted{data: m.accepted, version: w.version + 1}
	}
	return true
}

// answer ends the writes up to a version. m.mu is held.
func (m *mailbox) answer(version int, err error) {
	m.writes = slices.DeleteFunc(m.writes, func(w *write) bool {
		if w.version > version {
			return false
		}
		w.err = err
		close(w.done)
		return true
	})
}

// begin makes every SetData wait from now on. Start reads the data several times, and would miss
// a change after the last time.
func (m *mailbox) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = true
}

// stop follows a Start that failed. It ends the writes that wait with err, which is nil if the next
// Start is to write their data.
func (m *mailbox) stop(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept, m.accepted = false, m.wanted.data
	m.answer(m.wanted.version, err)
}

// end refuses everything from now on, what waits included.
func (m *mailbox) end(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = err
	m.answer(m.wanted.version, err)
}
