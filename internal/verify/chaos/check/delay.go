package check

import (
	"fmt"
	"time"
)

// delayed finds holds of a lock with a delay that began too early after one that was lost.
func delayed(holds []*hold) (found []Violation) {
	for _, ofLock := range byLock(holds) {
		var last *hold
		for _, h := range ofLock {
			if h.Value == 0 {
				break
			}
			if last != nil && last.lost() && !last.believedAtRelease() && h.At-last.end() < h.Value {
				found = append(found, Violation{
					Rule: "lock delay", At: h.At, Lock: h.Lock,
					Text: fmt.Sprintf("%s: %s was let in %v after %s was lost; the delay is %v", h.Lock,
						operation(h.Event), time.Duration(h.At-last.end()), operation(last.Event), time.Duration(h.Value)),
				})
			}
			last = h
		}
	}
	return found
}

// believedAtRelease tells whether the release began before the loss was noted: then it may be
// the release that ended the hold.
func (h *hold) believedAtRelease() bool { return h.releaseAt != 0 && h.lostAt == 0 }
