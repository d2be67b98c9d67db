package check

import (
	"fmt"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

// rising finds holds whose token is not above those of the holds that ended before, of which one
// excludes the other. The token of a node is the same for all that hold it, and a reader who was
// the writer has the writer's.
func rising(holds []*hold) (found []Violation) {
	for _, ofLock := range byLock(holds) {
		var exclusive, shared *hold // those with the highest tokens that have ended
		for _, b := range boundaries(ofLock) {
			h := b.hold
			if h.foreign() || h.Max > 0 {
				continue
			}
			switch {
			case b.begin:
				if exclusive != nil && !follows(exclusive, h) {
					found = append(found, fallen(exclusive, h))
				}
				if shared != nil && h.Mode == history.Exclusive && !follows(shared, h) {
					found = append(found, fallen(shared, h))
				}
			case h.Mode == history.Exclusive:
				exclusive = higher(exclusive, h)
			default:
				shared = higher(shared, h)
			}
		}
	}
	return found
}

// follows tells whether the token of b may come after that of a.
func follows(a, b *hold) bool {
	same := a.Node == b.Node || a.Process == b.Process && a.Mode != b.Mode
	return b.Token > a.Token || same && b.Token == a.Token
}

func higher(a, b *hold) *hold {
	if a == nil || b.Token > a.Token {
		return b
	}
	return a
}

func fallen(a, b *hold) Violation {
	return Violation{
		Rule: "tokens", At: b.At, Lock: b.Lock,
		Text: fmt.Sprintf("%s: %s has the token %d after %s with %d", b.Lock, operation(b.Event), b.Token, operation(a.Event), a.Token),
	}
}
