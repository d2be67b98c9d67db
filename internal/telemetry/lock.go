package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

// Lock is a lock as spans and metrics show it.
type Lock struct {
	kind, name string
	attributes trace.SpanStartEventOption // of all its spans
}

// Lock returns a lock of a kind of package tracing, with the user's name for it, "" for
// none, and its path, which is for spans only.
func (t *Telemetry) Lock(kind, name, path string) Lock {
	if t == nil {
		return Lock{}
	}
	return Lock{kind, name, t.spanAttributes(tracing.AttrLockName, name, tracing.AttrLockPath, path, attribute.String(tracing.AttrLockKind, kind))}
}

func (l Lock) labels() labels {
	return labels{kind: l.kind, nameKey: tracing.AttrLockName, name: l.name}
}

// lossReasons are the reasons of losses as package locks has them.
var lossReasons = []string{"suspended", "lease_deadline", "session_expired", "node_deleted", "revoked", "max_hold", "closed"}

// zeroLock adds 0 to the counters of a lock.
func (t *Telemetry) zeroLock(ctx context.Context, lock Lock) {
	l := lock.labels()
	t.zeroes.add(ctx, t.lock.losses, l, func() {
		t.lock.dropped.Add(ctx, 0, t.options.of(l).add...)
		for _, reason := range lossReasons {
			t.lock.losses.Add(ctx, 0, t.options.of(l.with(tracing.AttrLossReason, reason)).add...)
		}
	})
}

// tries are the attributes of an acquire that does not wait, and of one that does.
var tries = map[bool]trace.SpanStartOption{
	true:  trace.WithAttributes(attribute.Bool(tracing.AttrLockTry, true)),
	false: trace.WithAttributes(attribute.Bool(tracing.AttrLockTry, false)),
}

// Acquisition is an acquire. Later the spans of its hold link to it. A nil Acquisition has neither span
// nor metric. It is used by one goroutine at a time.
type Acquisition struct {
	t     *Telemetry
	lock  Lock
	ctx   context.Context // of the span
	span  trace.Span      // nil for none
	start time.Time

	counted bool // as pending

	ahead  int // contenders at the beginning, -1 as long as that is not known
	linked map[trace.SpanID]bool
	states []stateChange // guarded by t.mu
}

// stateChange is a change of the connection's state during a wait.
type stateChange struct {
	event string
	at    time.Time
}

// enabled tells whether an acquire, or one of its operations, has a span or a metric.
func (t *Telemetry) enabled(ctx context.Context) bool {
	return t.tracing() || t.driver.enabled() || t.lock.pending.Enabled(ctx) || t.lock.acquireDuration.Enabled(ctx) ||
		t.lock.contenders.Enabled(ctx) || t.lock.sequenceRemaining.Enabled(ctx) || t.operationDuration.Enabled(ctx)
}

// Acquire begins an acquire, whose requests are made with the context that it returns. The Acquisition
// is nil without spans and metrics, because many may wait.
func (t *Telemetry) Acquire(ctx context.Context, lock Lock, try bool) (context.Context, *Acquisition) {
	if t == nil || !t.enabled(ctx) {
		return ctx, nil
	}
	t.zeroLock(ctx, lock)
	a := &Acquisition{t: t, lock: lock, start: time.Now(), ahead: -1}
	if t.tracing() {
		ctx, a.span = t.tracer.Start(ctx, tracing.SpanLockAcquire, lock.attributes, tries[try])
	}
	a.ctx = ctx
	if a.counted = t.lock.pending.Enabled(ctx); a.counted {
		t.lock.pending.Add(ctx, 1, t.options.of(lock.labels()).add...)
	}
	return ctx, a
}

// Recording tells whether the acquire's span is recorded. If not, its details need not be found out.
func (a *Acquisition) Recording() bool { return a != nil && a.span != nil && a.span.IsRecording() }

// Enqueued records that the node is in the queue: the number of contenders ahead of it, the number of
// all contenders, and how many sequence numbers are left.
func (a *Acquisition) Enqueued(ahead, contenders int, remaining int64) {
	if a == nil {
		return
	}
	t := a.t
	if t.lock.contenders.Enabled(a.ctx) {
		t.lock.contenders.Record(a.ctx, int64(contenders), t.options.of(a.lock.labels()).record...)
	}
	if t.lock.sequenceRemaining.Enabled(a.ctx) {
		t.lock.sequenceRemaining.Record(a.ctx, remaining, t.options.of(labels{nameKey: tracing.AttrLockName, name: a.lock.name}).record...)
	}
	if !a.Recording() {
		return
	}
	if a.ahead < 0 { // the first place counts: an acquire that begins again gets another one
		a.ahead = ahead
	}
	a.flush()
	a.span.AddEvent(tracing.EventEnqueued, trace.WithAttributes(attribute.Int(tracing.AttrLockContenders, ahead)))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting[a] = struct{}{}
}

// maxLinks bounds the links to those ahead.
const maxLinks = 16

// Waiting records whom the acquire waits for. nodes are the data of the nodes ahead, the nearest last,
// as far as it is known. mine says that one of them belongs to the own session.
func (a *Acquisition) Waiting(mine bool, nodes ...[]byte) {
	if !a.Recording() {
		return
	}
	a.flush()
	var owner layout.Owner
	for _, data := range nodes {
		owner = layout.ParseOwner(data)
		to := a.t.link(a.ctx, owner)
		if a.t.NoHolderLinks || !to.IsValid() || a.linked[to.SpanID()] || len(a.linked) == maxLinks {
			continue
		}
		if a.linked == nil {
			a.linked = map[trace.SpanID]bool{}
		}
		a.linked[to.SpanID()] = true
		a.span.AddLink(trace.Link{SpanContext: to, Attributes: []attribute.KeyValue{attribute.String(tracing.AttrLink, tracing.LinkPredecessor)}})
	}
	attrs := []attribute.KeyValue{attribute.Bool(tracing.AttrPredecessorOwnSess, mine)}
	if text := owner.String(); text != "" && len(text) <= layout.MaxField {
		attrs = append(attrs, attribute.String(tracing.AttrPredecessorOwner, text))
	}
	a.span.AddEvent(tracing.EventWaiting, trace.WithAttributes(attrs...))
}

// StateChanged notes a change of the connection's state for all acquires that wait. It calls no user's
// code.
func (t *Telemetry) StateChanged(s state.ConnectionState) {
	var event string
	switch s {
	case state.Suspended:
		event = tracing.EventSuspended
	case state.Reconnected:
		event = tracing.EventReconnected
	}
	if t == nil || event == "" {
		return
	}
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for a := range t.waiting {
		a.states = append(a.states, stateChange{event, now})
	}
}

// flush adds the events of the connection since it was called last.
func (a *Acquisition) flush() {
	a.t.mu.Lock()
	states := a.states
	a.states = nil
	a.t.mu.Unlock()
	for _, s := range states {
		a.span.AddEvent(s.event, trace.WithTimestamp(s.at))
	}
}

// Granted ends an acquire that succeeded.
func (a *Acquisition) Granted(token int64, reentrant bool) {
	if a == nil {
		return
	}
	if a.Recording() {
		a.flush()
		a.span.AddEvent(tracing.EventGranted)
		a.span.SetAttributes(attribute.Bool(tracing.AttrLockReentrant, reentrant))
		if token >= 0 {
			a.span.SetAttributes(attribute.Int64(tracing.AttrLockToken, token))
		}
	}
	a.end(tracing.OutcomeAcquired, "", nil)
}

// Failure says how an acquire failed.
type Failure struct {
	Err     error
	Busy    bool // others hold the lock
	MaxWait bool // and the longest wait is over
	Lost    bool // because the lease ended that it was to be nested in
}

// Failed ends an acquire that failed. If it was not to wait, it is no error that others hold the lock.
func (a *Acquisition) Failed(f Failure) {
	if a == nil {
		return
	}
	outcome, kind := tracing.OutcomeError, ErrorType(f.Err)
	switch {
	case errors.Is(f.Err, context.Canceled):
		outcome = tracing.OutcomeCanceled
	case errors.Is(f.Err, context.DeadlineExceeded), f.Busy && f.MaxWait:
		outcome, kind = tracing.OutcomeTimeout, typeTimeout
	case f.Busy:
		outcome, kind = tracing.OutcomeNotAcquired, ""
	case f.Lost && kind == typeOther:
		kind = typeLost
	}
	if a.Recording() {
		a.flush()
	}
	a.end(outcome, kind, f.Err)
}

func (a *Acquisition) end(outcome, kind string, err error) {
	t := a.t
	if a.counted {
		t.lock.pending.Add(a.ctx, -1, t.options.of(a.lock.labels()).add...)
	}
	if t.lock.acquireDuration.Enabled(a.ctx) {
		l := a.lock.labels().with(tracing.AttrLockOutcome, outcome)
		l.errorType = kind
		t.lock.acquireDuration.Record(a.ctx, time.Since(a.start).Seconds(), t.options.of(l).record...)
	}
	if a.Recording() {
		t.mu.Lock()
		delete(t.waiting, a)
		t.mu.Unlock()
		a.span.SetAttributes(attribute.String(tracing.AttrLockOutcome, outcome))
		if a.ahead >= 0 {
			a.span.SetAttributes(attribute.Int(tracing.AttrLockContenders, a.ahead))
		}
		if kind != "" {
			fail(a.span, kind, t.describe(err, kind))
		}
	}
	if a.span != nil {
		a.span.End()
	}
}

// spanContext returns the span of the acquire.
func (a *Acquisition) spanContext() trace.SpanContext {
	if a == nil || a.span == nil {
		return trace.SpanContext{}
	}
	return a.span.SpanContext()
}

// Opened counts a lock that is held from now on. It reports whether it was counted.
func (t *Telemetry) Opened(ctx context.Context, lock Lock) (counted bool) {
	if t == nil {
		return false
	}
	t.zeroLock(ctx, lock)
	if !t.lock.held.Enabled(ctx) {
		return false
	}
	t.lock.held.Add(ctx, 1, t.options.of(lock.labels()).add...)
	return true
}

// Closed counts the end of a hold. counted is the result of Opened, and loss the reason of a loss, ""
// for a release.
func (t *Telemetry) Closed(ctx context.Context, lock Lock, counted bool, held time.Duration, loss string) {
	if t == nil {
		return
	}
	l := lock.labels()
	if counted {
		t.lock.held.Add(ctx, -1, t.options.of(l).add...)
	}
	if !t.lock.holdDuration.Enabled(ctx) && !t.lock.losses.Enabled(ctx) {
		return
	}
	end := tracing.EndReleased
	if loss != "" {
		end = tracing.EndLost
		t.lock.losses.Add(ctx, 1, t.options.of(l.with(tracing.AttrLossReason, loss)).add...)
	}
	t.lock.holdDuration.Record(ctx, held.Seconds(), t.options.of(l.with(tracing.AttrLockEnd, end)).record...)
}

// Dropped counts a lease that nobody can release anymore.
func (t *Telemetry) Dropped(lock Lock) {
	if t != nil {
		t.lock.dropped.Add(background, 1, t.options.of(lock.labels()).add...)
	}
}

// Release is the release of a lease under way. The zero Release has no span.
type Release struct {
	t    *Telemetry
	span trace.Span // nil for none
}

// Release begins a release, which links to the acquire. Its requests are made with the context that it
// returns. A negative token is left out.
func (a *Acquisition) Release(ctx context.Context, token int64) (context.Context, Release) {
	if a == nil || ctx == nil || !a.t.tracing() {
		return ctx, Release{}
	}
	ctx, span := a.t.tracer.Start(ctx, tracing.SpanLockRelease, a.ending(token)...)
	return ctx, Release{a.t, span}
}

// ending returns the options of the spans that link to the acquire.
func (a *Acquisition) ending(token int64) []trace.SpanStartOption {
	opts := []trace.SpanStartOption{a.lock.attributes}
	if token >= 0 {
		opts = append(opts, trace.WithAttributes(attribute.Int64(tracing.AttrLockToken, token)))
	}
	if acquire := a.spanContext(); acquire.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: acquire}))
	}
	return opts
}

// End ends the release.
func (r Release) End(outcome string, held time.Duration) {
	if r.span == nil {
		return
	}
	if r.span.IsRecording() {
		r.span.SetAttributes(
			attribute.Float64(tracing.AttrLockHeldTime, held.Seconds()),
			attribute.String(tracing.AttrLockOutcome, outcome))
		if outcome == tracing.OutcomeAlreadyGone {
			fail(r.span, typeLost, "the lock was gone")
		}
	}
	r.span.End()
}

// Lost makes the span of a loss. It has the same parent as the span of the acquire. ctx is the lease's.
func (a *Acquisition) Lost(ctx context.Context, token int64, held time.Duration, reason string) {
	if a == nil || !a.t.tracing() {
		return
	}
	_, span := a.t.tracer.Start(ctx, tracing.SpanLockLost, a.ending(token)...)
	if span.IsRecording() {
		span.SetAttributes(
			attribute.Float64(tracing.AttrLockHeldTime, held.Seconds()),
			attribute.String(tracing.AttrLossReason, reason))
		fail(span, typeLost, "lock lost: "+reason)
	}
	span.End()
}

// Do begins the span around an acquire, the work under the lock, and the release; end ends it. busy
// says that err means that others held a lock that was not to be waited for.
func (t *Telemetry) Do(ctx context.Context, lock Lock) (_ context.Context, end func(err error, busy bool)) {
	if ctx == nil || !t.tracing() {
		return ctx, func(error, bool) {}
	}
	ctx, span := t.tracer.Start(ctx, tracing.SpanLockDo, lock.attributes)
	return ctx, func(err error, busy bool) {
		if busy {
			err = nil
		}
		t.end(span, err)
	}
}
