package cache

import "time"

// A node whose reads the server refuses is left out after maxFails refusals, or after maxFailing: the
// nodes around it must not wait for it. It is tried again after pauses that grow to outPause, and after an event,
// but at most once in minOut.
const (
	maxFails   = 5
	maxFailing = 30 * time.Second
	minOut     = time.Second
	outPause   = 30 * time.Second
)

// unread is a node that is left out.
type unread struct {
	err   error
	kept  bool // its reads fail: what the cache has of it stays. Else it may not be read, or not be understood
	get   bool // this is what fails
	list  bool
	tried time.Time // the last time
	next  time.Time // when it is tried again; zero for never, unless it changes or the connection does
	pause time.Duration
}

// fails tells whether a verb is what fails.
func (u *unread) fails(v verb) bool { return u.list && v == list || u.get && v != list }

func (u *unread) set(v verb, fails bool) {
	if v == list {
		u.list = fails
	} else {
		u.get = fails
	}
}

// unreads are the nodes that are left out.
type unreads struct {
	out     map[string]*unread // by path
	kept    int                // how many of them are kept
	named   map[string]error   // the kept ones, as they were shown; never changed
	dirty   bool               // named is to be made again
	retry   *time.Timer        // for the next that is to be tried again
	retryAt time.Time          // when it ends; zero if it does not run
}

func newUnreads() unreads {
	return unreads{out: map[string]*unread{}, retry: stoppedTimer()}
}

// leaveOut leaves out a node that may not be read, or not be understood. A node that may not be read is tried
// again, because nothing tells of a change of its ACL.
func (u *unreads) leaveOut(path string, err error, again bool) {
	n := &unread{err: err, get: true, tried: time.Now()}
	if again {
		n.next = n.tried.Add(outPause)
	}
	u.out[path] = n
	u.awaitRetry(n.next)
}

// keep leaves out a node of which the reads in fail go on failing. first says that it was not kept before.
func (u *unreads) keep(path string, err error, fail ...verb) (first bool) {
	n := u.out[path]
	if first = n == nil || !n.kept; first {
		n = &unread{kept: true, pause: minOut, get: n != nil && n.get}
		u.out[path] = n
		u.kept++
		u.dirty = true
	}
	n.err = err
	for _, v := range fail {
		n.set(v, true)
	}
	n.tried = time.Now()
	n.pause = min(2*n.pause, outPause)
	n.next = n.tried.Add(n.pause)
	u.awaitRetry(n.next)
	return first
}

// isKept tells whether a node is kept although its reads fail.
func (u *unreads) isKept(path string) bool {
	n := u.out[path]
	return n != nil && n.kept
}

// forget takes note that a node is not left out any more. It tells whether it was kept, which is shown.
func (u *unreads) forget(path string) (wasKept bool) {
	wasKept = u.isKept(path)
	delete(u.out, path)
	if wasKept {
		u.kept--
		u.dirty = true
	}
	return wasKept
}

// succeeded takes note that a read of a node has succeeded, and tells whether it was left out and none fails now.
func (u *unreads) succeeded(path string, v verb) (readable bool) {
	n := u.out[path]
	if n == nil {
		return false
	}
	n.set(v, false)
	return !n.get && !n.list
}

// postpone has a node that is left out tried again after an event, and reports whether it is such a
// node. One whose reads fail is tried at most once in minOut.
func (u *unreads) postpone(path string, v verb) bool {
	n := u.out[path]
	if n == nil || !n.kept || !n.fails(v) {
		return false
	}
	if next := n.tried.Add(minOut); next.Before(n.next) {
		n.next = next
		u.awaitRetry(next)
	}
	return true
}

// awaitRetry has a node tried again at that time, if it is not zero.
func (u *unreads) awaitRetry(next time.Time) {
	if !next.IsZero() && (u.retryAt.IsZero() || next.Before(u.retryAt)) {
		u.retryAt = next
		u.retry.Reset(max(time.Until(next), 0))
	}
}

// due calls try for the nodes whose time has come.
func (u *unreads) due(try func(path string, n *unread)) {
	now := time.Now()
	u.retryAt = time.Time{}
	for path, n := range u.out {
		if !n.next.IsZero() && !n.next.After(now) {
			n.tried, n.next = now, now.Add(outPause)
			try(path, n)
		}
		u.awaitRetry(n.next)
	}
}

// names returns the nodes that are kept although they cannot be read, with the reasons.
func (u *unreads) names() map[string]error {
	if u.dirty {
		u.named, u.dirty = map[string]error{}, false
		for path, n := range u.out {
			if n.kept {
				u.named[path] = n.err
			}
		}
	}
	return u.named
}

// After a failed read the cache tries again, with growing pauses.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// troubles are what keeps a cache from following the server. It is stale since the first of them.
type troubles struct {
	stale func(since time.Time) // is told of that; zero when it is over
	cut   time.Time             // when the connection was lost; zero if the tree has been compared since
	fails time.Time             // when a read began to fail for another reason; zero if none does
	again *time.Timer           // for what has failed
	pause time.Duration
}

func newTroubles(stale func(since time.Time)) troubles {
	return troubles{stale: stale, again: stoppedTimer(), pause: firstPause}
}

// tell tells since when the cache cannot follow the server.
func (t *troubles) tell() {
	since := t.cut
	if since.IsZero() || !t.fails.IsZero() && t.fails.Before(since) {
		since = t.fails
	}
	t.stale(since)
}

// disconnected takes over that the connection has ended.
func (t *troubles) disconnected() {
	if t.cut.IsZero() {
		t.cut = time.Now()
	}
	t.tell()
}

// isCut tells whether the tree is not compared with the server's since the connection was lost.
func (t *troubles) isCut() bool { return !t.cut.IsZero() }

// compared takes note that the tree is the server's again.
func (t *troubles) compared() {
	if t.isCut() {
		t.cut = time.Time{}
		t.tell()
	}
}

// failed takes note that a read has failed, and tells whether it is the first.
func (t *troubles) failed() (first bool) {
	if first = t.fails.IsZero(); first {
		t.fails = time.Now()
		t.tell()
	}
	return first
}

// isFailing tells whether a read has failed, since when.
func (t *troubles) isFailing() (since time.Time, failing bool) { return t.fails, !t.fails.IsZero() }

// recovered takes note that no read fails any more.
func (t *troubles) recovered() {
	t.fails, t.pause = time.Time{}, firstPause
	t.tell()
}

// await begins the pause before what has failed is sent again. The next one is longer.
func (t *troubles) await() {
	t.again.Reset(t.pause)
	t.pause = min(2*t.pause, maxPause)
}

// stoppedTimer returns a timer that does not run.
func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}
