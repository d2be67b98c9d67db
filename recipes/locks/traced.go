package locks

import (
	"cmp"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tracing"
)

// kinds has what spans and metrics call the kinds of locks.
var kinds = map[string]string{
	mutexKind: tracing.KindMutex, readKind: tracing.KindRead, writeKind: tracing.KindWrite,
	semaphoreKind: tracing.KindSemaphore, semaphoreV2Kind: tracing.KindSemaphore,
}

// failure is how an acquire failed whose wait had the context.
func failure(waitCtx context.Context, err error) telemetry.Failure {
	return telemetry.Failure{
		Err: err, Busy: errors.Is(err, ErrNotAcquired), Lost: errors.Is(err, ErrNotHeld),
		MaxWait: context.Cause(waitCtx) == errMaxWait,
	}
}

// enqueued tells of the node's place.
func (c *contender) enqueued(queue []string, own string) {
	order := func(name string) string { return c.in.driver.FixForSorting(name, c.in.lockName) }
	// The writer whose place a reader takes has the same number, and is not ahead.
	ahead := slices.IndexFunc(queue, func(name string) bool { return order(name) == order(own) })
	if number, err := strconv.ParseInt(own[max(0, len(own)-10):], 10, 32); err == nil && ahead >= 0 {
		c.span.Enqueued(ahead, len(queue), math.MaxInt32-number)
	}
}

// arm sends the calls that watch as one operation, named after the first of them; reads end
// with that of the node right ahead.
func (c *contender) arm(ctx context.Context, conn *zkconn.Conn, calls ...*zkconn.Call) error {
	ctx, traced := c.in.inside.Telemetry().Operation(ctx, conn, telemetry.Op{
		Name: jute.OpName(calls[0].Op), Path: c.ahead[len(c.ahead)-1], Full: true, Batch: len(calls), Missing: true,
	})
	err := conn.Do(ctx, c.node.Session, calls...)
	traced.End(1, cmp.Or(err, calls[len(calls)-1].Err))
	return err
}

// waiting tells who is ahead, as the answers to the reads of their nodes have it.
func (c *contender) waiting(reads []reading) {
	if !c.span.Recording() {
		return
	}
	var nodes [][]byte
	mine := false
	for _, read := range reads {
		if res, ok := read.call.Res.(*jute.GetDataResponse); ok && read.role == nodeAhead {
			nodes = append(nodes, res.Data)
			mine = mine || res.Stat.EphemeralOwner == c.node.Session
		}
	}
	c.span.Waiting(mine, nodes...)
}

// watchAll sends the calls that watch the leases and the mutex ahead of them, as one
// operation.
func (l *leaseContender) watchAll(ctx context.Context, conn *zkconn.Conn, calls ...*zkconn.Call) error {
	ctx, traced := l.in.inside.Telemetry().Operation(ctx, conn, telemetry.Op{
		Name: "getChildren", Path: l.in.full, Full: true, Batch: len(calls), Missing: true,
	})
	err := conn.Do(ctx, l.node.Session, calls...)
	traced.End(1, cmp.Or(err, calls[0].Err))
	return err
}

// tally is what metrics were told of a hold.
type tally struct {
	mu      sync.Mutex
	opened  bool
	counted bool
	end     func(counted bool) // to be told once it is opened; nil for not yet
}

// open tells that the hold has begun.
func (t *tally) open(count func() bool) {
	counted := count()
	t.mu.Lock()
	t.opened, t.counted = true, counted
	end := t.end
	t.mu.Unlock()
	if end != nil {
		end(counted)
	}
}

// close tells that the hold has ended, if it was opened or as soon as it is.
func (t *tally) close(end func(counted bool)) {
	t.mu.Lock()
	opened, counted := t.opened, t.counted
	t.end = end
	t.mu.Unlock()
	if opened {
		end(counted)
	}
}

// opened tells that the lease's locks are held, unless it is nested.
func (l *Lease) opened(ctx context.Context) {
	if l.nested {
		return
	}
	for _, h := range l.holds() {
		h.tally.open(func() bool { return h.in.inside.Telemetry().Opened(ctx, h.in.seen) })
	}
}

// closed tells that the hold has ended: by a loss, if that is not nil, else by its release.
func (h *hold) closed(ctx context.Context, loss *LossError) {
	held, reason := time.Since(h.granted), ""
	if loss != nil {
		held, reason = loss.Held, loss.Reason.String()
	}
	h.tally.close(func(counted bool) {
		h.in.inside.Telemetry().Closed(ctx, h.in.seen, counted, held, reason)
	})
}

// told ends the span of a release whose outcome is err, and tells of the end of the hold if
// this was it.
func (l *Lease) told(ctx context.Context, span telemetry.Release, err error) {
	if ctx == nil {
		ctx = over
	}
	var loss *LossError
	if l.last && l.before == nil {
		errors.As(err, &loss) // that was noticed now
		l.hold.closed(ctx, loss)
	}
	var granted time.Time
	for _, h := range l.holds() { // of several the whole was held since the last
		if h.granted.After(granted) {
			granted = h.granted
		}
	}
	outcome := tracing.OutcomeUnknown
	switch {
	case err == nil:
		outcome = tracing.OutcomeReleased
	case errors.Is(err, ErrLockLost):
		outcome = tracing.OutcomeAlreadyGone
	}
	span.End(outcome, time.Since(granted))
}

// observed is a lock that knows how it is traced. Those of others do not.
type observed interface {
	seen() (*telemetry.Telemetry, telemetry.Lock)
}

// observe returns how a lock is traced. A nil one is not, nor a zero value: it hands out
// nothing.
func observe(lock InterProcessLock) (*telemetry.Telemetry, telemetry.Lock) {
	if o, ok := lock.(observed); ok && !reflect.ValueOf(lock).IsNil() {
		return o.seen()
	}
	return nil, telemetry.Lock{}
}

// begin begins the span of Do.
func begin(ctx context.Context, lock InterProcessLock, wait bool) (_ context.Context, end func(err error)) {
	t, seen := observe(lock)
	ctx, done := t.Do(ctx, seen)
	return ctx, func(err error) { done(err, !wait && errors.Is(err, ErrNotAcquired)) }
}

func (m *InterProcessMutex) seen() (*telemetry.Telemetry, telemetry.Lock) { return m.in.traces() }

func (l *ReadLock) seen() (*telemetry.Telemetry, telemetry.Lock) { return l.in.traces() }

func (l *WriteLock) seen() (*telemetry.Telemetry, telemetry.Lock) { return l.in.traces() }

func (s *InterProcessSemaphore) seen() (*telemetry.Telemetry, telemetry.Lock) { return s.in.traces() }

func (s *InterProcessSemaphoreV2) seen() (*telemetry.Telemetry, telemetry.Lock) {
	return s.s.traces()
}

func (m *InterProcessSemaphoreMutex) seen() (*telemetry.Telemetry, telemetry.Lock) {
	return m.s.traces()
}

// seen is traced as the first of the locks that is one of this package.
func (m *InterProcessMultiLock) seen() (*telemetry.Telemetry, telemetry.Lock) {
	for _, lock := range m.locks {
		if t, _ := observe(lock); t != nil {
			return t, t.Lock(tracing.KindMulti, "", "")
		}
	}
	return nil, telemetry.Lock{}
}

func (s *leased) traces() (*telemetry.Telemetry, telemetry.Lock) {
	if s == nil {
		return nil, telemetry.Lock{}
	}
	return s.base.traces()
}

func (in *internals) traces() (*telemetry.Telemetry, telemetry.Lock) {
	if in == nil {
		return nil, telemetry.Lock{}
	}
	return in.inside.Telemetry(), in.seen
}
