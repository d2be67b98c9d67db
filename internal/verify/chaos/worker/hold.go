package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/store"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
)

// attempt is a way to get a lease.
type attempt struct {
	workload string
	paths    []string // of the locks of its parts; one for a plain lease and for leases of one lock
	mode     history.Mode
	max      int           // of what is shared
	delay    time.Duration // of WithLockDelay
	acquire  func(ctx context.Context) (*locks.Lease, error)
	during   func(ctx context.Context, h *hold)
}

// hold is a lease that was granted.
type hold struct {
	*attempt
	w     *worker
	op    int64
	lease *locks.Lease
}

const (
	// watchInterval is how often a holder looks whether it still believes.
	watchInterval = 15 * time.Millisecond
	// releaseTimeout bounds the wait for the confirmation of a release.
	releaseTimeout = 5 * time.Second
)

// patience returns how long an acquire may wait: mostly long, sometimes shorter than it takes.
func patience(random *rand.Rand) time.Duration {
	switch random.IntN(8) {
	case 0:
		return time.Duration(random.IntN(50)) * time.Millisecond
	case 1:
		return time.Duration(random.IntN(1000)) * time.Millisecond
	default:
		return 30 * time.Second
	}
}

// length returns how long a lease is held: mostly shortly, sometimes for longer than most faults.
func length(random *rand.Rand) time.Duration {
	switch n := random.IntN(100); {
	case n < 75:
		return time.Duration(random.IntN(20)) * time.Millisecond
	case n < 97:
		return time.Duration(random.IntN(150)) * time.Millisecond
	default:
		return time.Duration(random.IntN(1500)) * time.Millisecond
	}
}

// try acquires, holds and releases once.
func (w *worker) try(ctx context.Context, random *rand.Rand, a attempt) {
	h := w.grant(ctx, patience(random), a)
	if h == nil {
		return
	}
	if a.during != nil {
		a.during(ctx, h)
	}
	h.keep(ctx, length(random))
	h.release(ctx)
}

// grant acquires a lease, and notes what comes of it. It returns nil without one.
func (w *worker) grant(ctx context.Context, patience time.Duration, a attempt) *hold {
	h := &hold{attempt: &a, w: w, op: w.ops.Add(1)}
	w.note(history.Event{Kind: history.Begin, Workload: a.workload, Op: h.op, Lock: a.paths[0], Mode: a.mode, Value: int64(patience)})
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lease, err := a.acquire(ctx)
	if err != nil {
		w.note(history.Event{Kind: history.Refused, Workload: a.workload, Op: h.op, Text: err.Error()})
		if !expected(err) {
			w.fail(a.workload, h.op, "acquire: %v", err)
		}
		return nil
	}
	h.lease = lease
	h.noteGrant()
	return h
}

// expected tells whether an acquire may fail like this.
func expected(err error) bool {
	for _, target := range []error{
		locks.ErrNotAcquired, context.DeadlineExceeded, context.Canceled,
		framework.ErrConnectionLoss, framework.ErrSessionExpired, framework.ErrSessionMoved,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// noteGrant notes the parts of a lease that was granted and is believed.
func (h *hold) noteGrant() {
	session := h.w.client.SessionID() // read before the lease is looked at: it is that of the lease, or the lease has ended
	at := history.Now()
	if err := h.lease.Err(); err != nil {
		h.w.note(history.Event{Kind: history.Lost, Workload: h.workload, Op: h.op, Text: err.Error()})
		return
	}
	parts := h.lease.Parts()
	if parts == nil {
		parts = []*locks.Lease{h.lease}
	}
	for i, part := range parts {
		h.w.note(history.Event{
			At: at, Kind: history.Grant, Workload: h.workload, Op: h.op, Part: i,
			Lock: h.paths[min(i, len(h.paths)-1)], Mode: h.mode, Max: h.max, Value: int64(h.delay),
			Token: part.Token(), Node: part.Path(), Session: session,
		})
	}
}

// check notes whether the lease is believed.
func (h *hold) check() bool {
	at := history.Now()
	if err := h.lease.Err(); err != nil {
		h.w.note(history.Event{Kind: history.Lost, Workload: h.workload, Op: h.op, Text: err.Error()})
		return false
	}
	h.w.note(history.Event{At: at, Kind: history.Held, Workload: h.workload, Op: h.op})
	return true
}

// keep holds the lease for a time, or until it is lost or ctx ends.
func (h *hold) keep(ctx context.Context, d time.Duration) {
	for end := time.Now().Add(d); h.check(); {
		left := time.Until(end)
		if left <= 0 || wait.For(ctx, min(left, watchInterval)) != nil {
			return
		}
	}
}

// release gives the lease back, and notes what is said about it.
func (h *hold) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	h.w.note(history.Event{Kind: history.Release, Workload: h.workload, Op: h.op})
	h.released(h.lease.Release(ctx))
}

// released notes the result of a release.
func (h *hold) released(err error) {
	text := history.ReleaseOK
	switch {
	case err == nil:
	case errors.Is(err, locks.ErrLockLost):
		text = history.ReleaseLost
	case errors.Is(err, locks.ErrReleasePending):
		text = history.ReleasePending
	default:
		text = err.Error()
		h.w.fail(h.workload, h.op, "release: %v", err)
	}
	h.w.note(history.Event{Kind: history.Released, Workload: h.workload, Op: h.op, Text: text})
}

// text returns a text that nobody else writes.
func (h *hold) text() string { return fmt.Sprintf("%s/%d", h.w.Name, h.op) }

// A register is a text that is read and replaced under a lease, by a text that names the
// operation. So the history tells which change has replaced which.

// writeFenced changes a register of the store, which checks the token.
func writeFenced(key string) func(ctx context.Context, h *hold) {
	return func(ctx context.Context, h *hold) {
		e := history.Event{Workload: h.workload, Op: h.op, Key: "store " + key, Text: h.text()}
		h.noteWrite(e, history.Write)
		before, err := h.w.store.Claim(key, h.lease.Token())
		if err != nil {
			h.noteWrite(e, history.Unwritten)
			return
		}
		e.Before = before
		h.think(ctx)
		switch err := h.w.store.Write(key, h.lease.Token(), e.Text); {
		case err == nil:
			h.noteWrite(e, history.Wrote)
		case errors.Is(err, store.ErrFenced):
			h.noteWrite(e, history.Unwritten)
		default:
			h.noteWrite(e, history.Doubtful)
		}
	}
}

// registerTimeout bounds the requests to ZooKeeper for one change.
const registerTimeout = 5 * time.Second

// writeGuarded changes a node in a transaction that checks the lease.
func writeGuarded(node string) func(ctx context.Context, h *hold) {
	return func(ctx context.Context, h *hold) {
		ctx, cancel := context.WithTimeout(h.lease.Bind(ctx), registerTimeout)
		defer cancel()
		e := history.Event{Workload: h.workload, Op: h.op, Key: "node " + node, Text: h.text()}
		h.noteWrite(e, history.Write)
		before, err := h.w.client.GetData().ForPath(ctx, node)
		if err != nil {
			h.noteWrite(e, history.Unwritten)
			return
		}
		e.Before = string(before)
		h.think(ctx)
		_, err = h.lease.Guard(ctx, h.w.client.TransactionOp().SetData().ForPath(node, []byte(e.Text)))
		switch {
		case err == nil:
			h.noteWrite(e, history.Wrote)
		case framework.MaybeApplied(err):
			h.noteWrite(e, history.Doubtful)
		default:
			h.noteWrite(e, history.Unwritten)
		}
	}
}

// think waits between the read and the write of a register, mostly shortly: in the time in which the
// lease may be lost.
func (h *hold) think(ctx context.Context) {
	_ = wait.For(ctx, length(rand.New(rand.NewPCG(h.w.Seed, uint64(h.op))))/2) // if ctx has ended, the write tells
}

func (h *hold) noteWrite(e history.Event, kind history.Kind) {
	e.Kind = kind
	h.w.note(e)
}
