package cache

import (
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
)

// leaveOut takes over that a node may not be read, or not be understood.
func (r *replica) leaveOut(req *request, err error) error {
	r.requests.finish(req)
	if !r.loaded && req.path == r.paths.root && errors.Is(err, framework.ErrNoAuth) {
		return &framework.OpError{Op: jute.OpName(opOf(req.verb)), Path: req.path, Attempts: 1, Err: err}
	}
	if len(r.out) == r.kept {
		r.warn("a cache leaves out nodes that it cannot read, and what is below them", "first", req.path, "error", err)
	}
	r.delete(req.path)
	u := &unread{err: err, get: true, tried: time.Now()}
	if errors.Is(err, framework.ErrNoAuth) {
		u.next = u.tried.Add(outPause)
	}
	r.out[req.path] = u
	r.awaitRetry(u.next)
	return nil
}

// giveUp leaves out a node whose reads go on failing. What the cache has of it stays.
func (r *replica) giveUp(req *request, err error) {
	r.requests.finish(req)
	err = &framework.OpError{Op: jute.OpName(opOf(req.verb)), Path: req.path, Attempts: req.fails, Err: err}
	u := r.out[req.path]
	if u == nil || !u.kept {
		u = &unread{kept: true, pause: minOut, get: u != nil && u.get}
		r.out[req.path] = u
		r.kept++
		r.warn("a cache goes on without a node that it cannot read", "node", req.path, "error", err)
		r.changed, r.dirty = true, true
		r.touched()
	}
	u.err = err
	u.set(req.verb, true)
	if _, descend := r.choose(req.path); descend && req.walk && req.verb != list {
		u.set(list, true) // what is read later compares no children
	}
	u.tried = time.Now()
	u.pause = min(2*u.pause, outPause)
	u.next = u.tried.Add(u.pause)
	r.awaitRetry(u.next)
}

// readable takes note that a read of a node has succeeded.
func (r *replica) readable(path string, v verb) {
	u := r.out[path]
	if u == nil {
		return
	}
	if u.set(v, false); u.get || u.list {
		return
	}
	if u.kept {
		r.info("a cache can read a node again", "node", path)
	}
	r.forget(path)
}

// postponed has a node that is left out tried again after an event, and reports whether it is such a
// node. One whose reads fail is tried at most once in minOut.
func (r *replica) postponed(path string, v verb) bool {
	u := r.out[path]
	if u == nil || !u.kept || !u.fails(v) {
		return false
	}
	if next := u.tried.Add(minOut); next.Before(u.next) {
		u.next = next
		r.awaitRetry(next)
	}
	return true
}

// retryOut tries the nodes again whose time has come.
func (r *replica) retryOut() {
	now := time.Now()
	r.retryAt = time.Time{}
	for path, u := range r.out {
		if !u.next.IsZero() && !u.next.After(now) {
			u.tried, u.next = now, now.Add(outPause)
			r.readOut(path, u, false)
		}
		r.awaitRetry(u.next)
	}
}

// readOut reads a node that is left out.
func (r *replica) readOut(path string, u *unread, walk bool) {
	if u.get {
		r.requests.add(path, get, walk, r.last)
	}
	if u.list {
		r.requests.add(path, list, walk, r.last)
	}
}
