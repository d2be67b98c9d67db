package locks

import "time"

// selfWait is the time after which a wait for a lease of the same client is logged. Usually such
// an acquisition waits for its own caller, because the caller passed an older context down.
const selfWait = 10 * time.Second

// logSlowWait logs, after selfWait, that an acquisition at site waits for a lease of its own
// client. blocking returns the hold of that lease, and its call site. It returns nil if another
// client holds the lock.
func (l *queueLock) logSlowWait(site callSite, blocking func() (*hold, callSite)) *time.Timer {
	return time.AfterFunc(selfWait, func() {
		h, held := blocking()
		if h == nil {
			return
		}
		advice := "pass the lease's context down"
		if h.lock.flat {
			advice = "release it first: leases of this lock do not nest"
		}
		l.api.Log(func() {
			l.client.Logger().Warn("lock waits for a lease of this client; if that is its own caller's, "+advice,
				"path", l.path, "waiting", site.String(), "held", held.String(), "token", h.token)
		})
	})
}
