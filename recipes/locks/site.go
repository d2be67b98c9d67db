package locks

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"time"
)

// selfWait is how long a contender waits behind its own client before that is worth a line
// in the log: most often it waits for its own caller, which passed an older context down.
const selfWait = 10 * time.Second

// site is where a lock was acquired: it is found out only when it is asked for. Between the
// user's code and the lock there may be Do, and locks of several.
type site [9]uintptr

// here returns the site of an acquire of this package, whose caller is at least two calls away.
func here() (s site) {
	runtime.Callers(4, s[:])
	return s
}

var ownPackage = reflect.TypeFor[Lease]().PkgPath() + "."

// String returns the file and line of the caller of this package.
func (s site) String() string {
	frames := runtime.CallersFrames(s[:])
	for {
		frame, more := frames.Next()
		if frame.PC != 0 && !strings.HasPrefix(frame.Function, ownPackage) {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if !more {
			return "unknown"
		}
	}
}

// warnLater has the contender, which waits, call warn if that takes long.
func (c *contender) warnLater() {
	if c.warning != nil {
		c.warning.Reset(selfWait)
		return
	}
	waits, overdue := c.vigil, &c.overdue
	c.warning = time.AfterFunc(selfWait, func() {
		overdue.Store(true)
		waits.signal()
	})
}

// warn tells the client's log that the contender waits behind a lease of its own client,
// if one of the nodes ahead is that of one, or any lease of a semaphore in Java's layout,
// where the mutex ahead is that of one who waits for them, too.
func (c *contender) warn() {
	if s := c.in.semaphore; s != nil {
		c.warnOf(holds.of(s.leases.key()))
		return
	}
	for _, path := range c.ahead {
		if c.warnOf(holds.at(nodeKey{c.in.inside.Identity(), path})) {
			return
		}
	}
}

// warnOf is warn for a hold, if that is not nil.
func (c *contender) warnOf(h *hold) bool {
	if h == nil {
		return false
	}
	c.warnAt(h, h.site)
	return true
}

// warnNested is warn for the lease that is nested below l, where c is to be.
func (c *contender) warnNested(l *Lease) {
	held := l.hold.site
	l.hold.mu.Lock()
	if nested := l.place.nested; nested != nil && nested.site != nil {
		held = *nested.site
	}
	l.hold.mu.Unlock()
	c.warnAt(l.hold, held)
}

// warnAt is warn for a lease of a hold that was acquired at a site.
func (c *contender) warnAt(h *hold, held site) {
	path, advice := c.in.path, "pass the lease's context down"
	if s := c.in.semaphore; s != nil {
		path = s.base.path
	}
	if c.in.flat {
		advice = "release it first: leases of this lock do not nest"
	}
	waiting := c.site
	c.in.inside.Log(func() {
		c.in.client.Logger().Warn("lock waits for a lease of this client; if that is its own caller's, "+advice,
			"path", path, "waiting", waiting.String(), "held", held.String(), "token", h.token)
	})
}
