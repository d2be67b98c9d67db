package leader

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
)

// Change is the beginning or the end of a term.
type Change struct {
	// Lease is the term's lease. It may have ended when the listener gets the beginning of the
	// term: check Lease.Err.
	Lease *locks.Lease
	// Leading is true for the beginning of a term. Every beginning is followed by an end,
	// except with Close in the mode Silent.
	Leading bool
}

// terms has the present term of a candidate, and tells of beginnings and ends. One goroutine
// begins and ends terms.
type terms struct {
	api       *zkclient.Client
	candidate telemetry.Candidate
	traced    telemetry.Term // of the present term; only what is given to api.Log uses it
	present   atomic.Pointer[locks.Lease]
	listeners listen.Set[Change]

	mu    sync.Mutex
	begun chan struct{} // closed when a term begins; nil while nobody waits
}

// begin begins a term.
func (t *terms) begin(ctx context.Context, lease *locks.Lease) {
	now := time.Now()
	t.present.Store(lease)
	t.mu.Lock()
	if t.begun != nil {
		close(t.begun)
		t.begun = nil
	}
	t.mu.Unlock()
	t.listeners.Notify(Change{Lease: lease, Leading: true})
	t.api.Log(func() { t.traced = t.candidate.Elected(ctx, lease.Token(), now) })
}

// end ends the present term, whose lease has ended, if there is one.
func (t *terms) end(ctx context.Context, tell bool) {
	lease := t.present.Swap(nil)
	if lease == nil {
		return
	}
	if tell {
		t.listeners.Notify(Change{Lease: lease})
	}
	now, loss := time.Now(), ""
	if lost, ok := errors.AsType[*locks.LossError](lease.Err()); ok {
		loss = lost.Reason.String()
	}
	t.api.Log(func() { t.traced.End(ctx, now, loss) })
}

// lostTerms has what a listener gets instead of changes for which its queue has no room: the end of the term
// that it knows, and the beginning of the present one. What lies between has begun and ended.
type lostTerms struct{ changes []Change }

func newLostTerms() listen.Backlog[Change] { return &lostTerms{} }

func (l *lostTerms) Add(c Change) {
	n := len(l.changes)
	if n > 0 && !c.Leading && l.changes[n-1].Leading && l.changes[n-1].Lease == c.Lease {
		l.changes = l.changes[:n-1]
		return
	}
	l.changes = append(l.changes, c)
}

func (l *lostTerms) Take() []Change { return l.changes }

// beginning returns a channel that is closed when the next term begins.
func (t *terms) beginning() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun == nil {
		t.begun = make(chan struct{})
	}
	return t.begun
}
