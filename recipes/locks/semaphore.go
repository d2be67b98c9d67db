package locks

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/telemetry"
)

// InterProcessSemaphore hands out at most maxLeases leases at a time, in order. It is the
// semaphore for Go processes; with Java, use InterProcessSemaphoreV2. Leases do not nest:
// every Acquire takes one.
//
// It does not share a path with InterProcessSemaphoreV2, nor with a mutex, nor with Java's
// deprecated class of this name unless that has the same maximum.
type InterProcessSemaphore struct {
	_  noCopy
	in *internals
}

var _ InterProcessLock = (*InterProcessSemaphore)(nil)

// NewInterProcessSemaphore returns the semaphore at path; every user must give the same
// positive maxLeases. It does no I/O. Errors: framework.ErrInvalidPath,
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
		kind: semaphoreKind, lockName: lockName, driver: StandardLockInternalsDriver{}, maxLeases: maxLeases,
		children: mutexKind, flat: true,
	}
	if maxLeases == 1 {
		r.baton = mutexBaton
	}
	in, err := newInternals(client, path, cfg, r)
	if err != nil {
		return nil, err
	}
	return &InterProcessSemaphore{in: in}, nil
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
	if s == nil || s.in == nil {
		return nil, errNilArgument
	}
	return s.in.acquire(ctx, true)
}

// TryAcquire takes one lease if there is one; see InterProcessLock.
//
// Java: acquire(0, unit).
func (s *InterProcessSemaphore) TryAcquire(ctx context.Context) (*Lease, error) {
	if s == nil || s.in == nil {
		return nil, errNilArgument
	}
	return s.in.acquire(ctx, false)
}

// ParticipantNodes lists the nodes of those who have a lease and of those who wait, in
// order.
//
// Java: getParticipantNodes.
func (s *InterProcessSemaphore) ParticipantNodes(ctx context.Context) ([]string, error) {
	if s == nil || s.in == nil {
		return nil, errNilArgument
	}
	return s.in.participants(ctx)
}

// AcquireN waits for n leases, all or none, and returns them as the Parts of one. Others
// that come later do not get in before it, not even if there are leases for them. ctx and
// the errors are as in InterProcessLock; besides, ErrTooManyLeases if n is above the maximum,
// framework.ErrInvalidOption if it is not positive.
//
// Java: acquire(n).
func (s *InterProcessSemaphore) AcquireN(ctx context.Context, n int) (*Lease, error) {
	switch {
	case s == nil || s.in == nil:
		return nil, errNilArgument
	case ctx == nil:
		return nil, errNilContext
	case n > s.in.maxLeases:
		return nil, fmt.Errorf("lock %s: %w: %d of %d", s.in.path, ErrTooManyLeases, n, s.in.maxLeases)
	}
	if err := checkLeases(n); err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.in.path, err)
	}
	return s.in.traced(ctx, true, func(waitCtx context.Context, span *telemetry.Acquisition) (*Lease, error) {
		if ctx.Err() != nil {
			return nil, ended(ctx)
		}
		c := contender{acquisition: acquisition{in: s.in, span: span}, wait: true, site: here()}
		if n > 1 {
			c.mates = &mates{n: n - 1}
		}
		for {
			last, err := c.contend(waitCtx)
			if err != nil {
				return nil, c.explain(ctx, waitCtx, err)
			}
			holds := []*hold{last}
			if c.mates != nil {
				holds = append(c.mates.holds, last)
			}
			if parts := leasesOf(ctx, span, holds); parts != nil {
				return composed(ctx, parts), nil
			}
			c.settle(waitCtx, withdrawAll(waitCtx, holds)...)
		}
	})
}

// leasesOf returns a lease of each hold, or nil, and all are to be withdrawn, if one is over
// already.
func leasesOf(ctx context.Context, span *telemetry.Acquisition, holds []*hold) []*Lease {
	var parts []*Lease
	for _, h := range holds {
		h.doubt()
		if part := h.newLease(ctx, span, nil); part != nil {
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

// withdrawAll ends holds that nobody has seen, and removes their nodes.
func withdrawAll(ctx context.Context, holds []*hold) (left []*recipeapi.PendingDelete) {
	for _, h := range holds {
		h.withdraw(ErrReleased)
		h.remove(ctx)
		left = append(left, h.leaving())
	}
	return left
}
