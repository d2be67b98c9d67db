package locks

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// InterProcessSemaphore grants at most maxLeases leases at a time, in order. It is the
// semaphore for Go processes; if Java processes take part, use InterProcessSemaphoreV2. Leases
// do not nest: every Acquire takes one. The release of a lease wakes at most maxLeases waiters,
// and each lists the queue once.
//
// It must not share a path with an InterProcessSemaphoreV2 or a mutex. It may share a path with
// Java's deprecated class of this name only if both have the same maximum.
//
// Java: InterProcessSemaphore.
type InterProcessSemaphore struct {
	_     noCopy
	queue *queueLock
}

var _ InterProcessLock = (*InterProcessSemaphore)(nil)

// NewInterProcessSemaphore returns the semaphore at path. Every user must give the same
// positive maxLeases; that is not checked. It does no I/O. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidOption, framework.ErrNotStarted for a nil client.
//
// Java: InterProcessSemaphore.
func NewInterProcessSemaphore(client *framework.Client, path string, maxLeases int, opts ...SemaphoreOption) (*InterProcessSemaphore, error) {
	cfg, err := newConfig(opts, SemaphoreOption.applySemaphore)
	if err == nil {
		err = checkLeases(maxLeases)
	}
	if err != nil {
		return nil, err
	}
	r := rules{
		kind: semaphoreKind, lockName: layout.LockMark, driver: StandardLockInternalsDriver{}, maxLeases: maxLeases,
		children: mutexKind, flat: true,
	}
	if maxLeases == 1 {
		r.marksRelease, r.marks = true, anyNode
	}
	queue, err := newQueueLock(client, path, cfg, r)
	if err != nil {
		return nil, err
	}
	return &InterProcessSemaphore{queue: queue}, nil
}

func checkLeases(n int) error {
	if n < 1 {
		return fmt.Errorf("%w: %d leases", framework.ErrInvalidOption, n)
	}
	return nil
}

// Acquire waits for one lease; see InterProcessLock.
//
// Java: acquire.
func (s *InterProcessSemaphore) Acquire(ctx context.Context) (*Lease, error) {
	if s == nil || s.queue == nil {
		return nil, errNilArgument
	}
	return s.queue.acquire(ctx, true)
}

// TryAcquire takes one lease if there is one; see InterProcessLock.
//
// Java: acquire(0, unit).
func (s *InterProcessSemaphore) TryAcquire(ctx context.Context) (*Lease, error) {
	if s == nil || s.queue == nil {
		return nil, errNilArgument
	}
	return s.queue.acquire(ctx, false)
}

// ParticipantNodes lists the nodes of the holders and of the waiters, in order. Errors:
// ErrKindMismatch, ctx's error, or the server's.
//
// Java: getParticipantNodes.
func (s *InterProcessSemaphore) ParticipantNodes(ctx context.Context) ([]string, error) {
	if s == nil || s.queue == nil {
		return nil, errNilArgument
	}
	return s.queue.participants(ctx)
}

// AcquireN waits for n leases, all or none, and returns them as the Parts of one. Contenders
// that come later are not let in before it, not even if there are leases for them. ctx and
// the errors are as in InterProcessLock. AcquireN also returns ErrTooManyLeases if n is above
// the maximum, and framework.ErrInvalidOption if n is not positive.
//
// Java: acquire(n).
func (s *InterProcessSemaphore) AcquireN(ctx context.Context, n int) (*Lease, error) {
	switch {
	case s == nil || s.queue == nil:
		return nil, errNilArgument
	case ctx == nil:
		return nil, errNilContext
	case n > s.queue.maxLeases:
		return nil, fmt.Errorf("lock %s: %w: %d of %d", s.queue.path, ErrTooManyLeases, n, s.queue.maxLeases)
	}
	if err := checkLeases(n); err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.queue.path, err)
	}
	a, err := s.queue.begin(ctx, true)
	if err != nil {
		return nil, err
	}
	defer a.close()
	return a.end(s.queue.contendForAll(a, n))
}

// contendForAll makes the nodes of n leases, whose numbers follow each other, and waits for the
// last of them.
func (l *queueLock) contendForAll(a *acquisition, n int) (*Lease, error) {
	var holds []*hold
	spec, err := l.spec(a)
	if err != nil {
		return nil, a.explain(err)
	}
	spec.Nodes = n
	contender := lockqueue.New(spec)
	for {
		err := contender.Acquire(a.waitCtx, func(nodes []*ephemeral.Node) (err error) {
			holds, err = l.holdAll(nodes, a)
			return err
		})
		if err != nil {
			return nil, a.explain(err)
		}
		if parts := leasesOf(a, holds); parts != nil {
			return composed(a.ctx, parts), nil
		}
		withdrawAll(a, holds)
		contender.Forget()
		a.awaitRemovals(holds...)
	}
}

// holdAll makes holds of all nodes, or of none.
func (l *queueLock) holdAll(nodes []*ephemeral.Node, a *acquisition) ([]*hold, error) {
	var holds []*hold
	defer func() {
		if len(holds) < len(nodes) {
			for _, h := range holds {
				h.abandon()
			}
		}
	}()
	for _, node := range nodes {
		h, err := l.newHold(node, a)
		if err != nil {
			return nil, err
		}
		holds = append(holds, h)
	}
	return holds, nil
}

// leasesOf returns a lease of each hold. It returns nil if one of the holds has ended. Then the
// caller withdraws all of them.
func leasesOf(a *acquisition, holds []*hold) []*Lease {
	var parts []*Lease
	for _, h := range holds {
		h.node.Check()
		if part := newLease(a.ctx, h, a.span, nil); part != nil {
			parts = append(parts, part)
		}
	}
	if len(parts) == len(holds) {
		return parts
	}
	for _, part := range parts {
		part.released.Store(true)
	}
	return nil
}

// withdrawAll ends holds that have no lease, and deletes their nodes.
func withdrawAll(a *acquisition, holds []*hold) {
	for _, h := range holds {
		h.withdraw(a.waitCtx)
	}
}

func (s *InterProcessSemaphore) telemetryOf() (*telemetry.Telemetry, telemetry.Lock) {
	if s == nil {
		return nil, telemetry.Lock{}
	}
	return s.queue.telemetryOf()
}
