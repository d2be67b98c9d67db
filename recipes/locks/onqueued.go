package locks

import (
	"errors"
	"sync"

	"github.com/go-curator/curator/internal/zkclient"
)

// WithOnQueued has fn told the place in the queue of an Acquire that waits: place 2 of 5 says that one node is ahead, and
// that five nodes are in the queue, those of holders among them. fn is called when the node is in the queue and not let
// in, and whenever the place has changed since. It is not called by an Acquire that does not wait, nor by TryAcquire.
//
// The lock lists the queue no more often than without the option. A waiter of a mutex lists it when the node right ahead
// of its own is deleted without a release, after a reconnect, and when its own node was lost: then the place may be
// higher than before. So most places are not told: use Inspect to look. of is that of the last list, and its change alone
// is not told.
//
// For a reader the place counts readers, too. For AcquireN it is that of the first node. With an
// InterProcessSemaphoreV2, and an InterProcessSemaphoreMutex, only contenders are counted: place 1 waits for a lease. With
// WithLockDelay place 1 waits for the end of the delay. With WithLocalHandover a goroutine is told nothing while it
// waits for another one of its client. An InterProcessMultiLock tells nothing, but its locks do, one after the other.
//
// One acquisition calls fn on one goroutine at a time, in the order of the changes. Acquire does not wait for it: if fn is
// slow, it is told the newest place next. When Acquire returns, granted or not, at most one call is under way: it may
// still run, and no other one follows. Calls of several acquisitions may run at the same time. fn may use the client and
// the lock. A panic of fn is not caught, as with WithRevocable. Client.Close waits for fn as for a watcher, see framework.WithMaxCloseWait. With a nil fn the
// constructor returns framework.ErrInvalidOption.
//
// Java Curator has no such option; CURATOR-592 asks for it.
func WithOnQueued(fn func(place, of int)) Option {
	return anyOption(func(c *config) error {
		if fn == nil {
			return errors.New("WithOnQueued: the function is nil")
		}
		c.onQueued = fn
		return nil
	})
}

// queuedCalls tells a user's function the places of one acquisition. The acquisition's goroutine calls tell and close.
type queuedCalls struct {
	api   *zkclient.Client
	fn    func(place, of int)
	first int // how many nodes were in the queue when the acquisition was first in it; 0 before that

	mu        sync.Mutex
	place, of int  // the newest
	told      int  // the place that fn was told last
	running   bool // there is a goroutine that tells the newest
	closed    bool
}

// tell notes a place behind so many nodes, of so many in the queue. If of is 0 the order said nothing, and the
// acquisition has been first in a queue before that does.
func (q *queuedCalls) tell(ahead, of int) {
	if of == 0 {
		ahead, of = 0, q.first
	}
	if of == 0 { // there was no queue
		return
	}
	q.mu.Lock()
	q.place, q.of = ahead+1, of
	start := !q.running && q.place != q.told
	q.running = q.running || start
	q.mu.Unlock()
	if start {
		q.api.Callback(q.call)
	}
}

// call tells the newest place, unless that is known, or the acquisition is over.
func (q *queuedCalls) call() {
	q.mu.Lock()
	place, of := q.place, q.of
	tell := !q.closed && place != q.told
	q.told = place
	q.mu.Unlock()
	defer q.next() // also if fn ends the goroutine
	if tell {
		q.fn(place, of)
	}
}

// next has the place told that has become the newest during a call. A client that is closed calls nothing more.
func (q *queuedCalls) next() {
	q.mu.Lock()
	again := !q.closed && q.place != q.told
	q.running = again
	q.mu.Unlock()
	if again {
		q.api.Callback(q.call)
	}
}

// close lets no other call begin.
func (q *queuedCalls) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}
