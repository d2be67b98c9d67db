package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tracing"
)

// leased is a semaphore in Java's layout.
type leased struct {
	base   *internals // only its path
	gate   *internals // the mutex that lets one wait at a time
	leases *internals
	count  LeaseCount
	looked atomic.Bool // no other kind of lock was at the path
}

func newLeased(client *framework.Client, path string, count LeaseCount, opts []SemaphoreOption) (*leased, error) {
	cfg, err := newConfig(opts, SemaphoreOption.applySemaphore)
	if err == nil && count == nil {
		err = errNilArgument
	}
	if err != nil {
		return nil, err
	}
	s := &leased{count: count}
	nothing := func(string) string { return "" }
	if s.base, err = newInternals(client, path, cfg, rules{kind: semaphoreV2Kind, mismatch: otherThanSemaphoreV2}); err != nil {
		return nil, err
	}
	gate := cfg
	gate.nodeData, gate.nodeDataGiven = nil, false
	if s.gate, err = newInternals(client, path+"/locks", gate, rules{
		kind: semaphoreV2Kind, lockName: lockName, driver: StandardLockInternalsDriver{}, maxLeases: 1, mismatch: nothing, flat: true,
	}); err != nil {
		return nil, err
	}
	s.leases, err = newInternals(client, path+"/leases", cfg, rules{
		kind: semaphoreV2Kind, lockName: leaseName, driver: leaseDriver{}, mismatch: nothing, flat: true,
	})
	return s, err
}

// leaseDriver counts every child, as Java does, whatever its name.
type leaseDriver struct{ StandardLockInternalsDriver }

// FixForSorting returns the number at the end of the name, or the name.
func (leaseDriver) FixForSorting(name, _ string) string { return name[max(0, len(name)-10):] }

func (s *leased) one(ctx context.Context, wait bool) (*Lease, error) {
	if s == nil {
		return nil, errNilArgument
	}
	return s.acquire(ctx, wait, 1, func(_ context.Context, parts []*Lease) *Lease { return parts[0] })
}

// acquire takes n leases, of which whole makes one.
func (s *leased) acquire(ctx context.Context, wait bool, n int, whole func(ctx context.Context, parts []*Lease) *Lease) (*Lease, error) {
	if ctx == nil {
		return nil, fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
	}
	return s.base.traced(ctx, wait, func(waitCtx context.Context, span *tracing.Acquisition) (*Lease, error) {
		switch most := s.count.Count(); {
		case ctx.Err() != nil:
			return nil, ended(ctx)
		case n > most && n > 1:
			return nil, fmt.Errorf("%w: %d of %d", ErrTooManyLeases, n, most)
		}
		c := contender{in: s.gate, wait: wait}
		if err := s.look(waitCtx); err != nil {
			return nil, c.explain(ctx, waitCtx, err)
		}
		gate, err := c.contend(waitCtx)
		if err != nil {
			return nil, c.explain(ctx, waitCtx, err)
		}
		defer func() {
			gate.withdraw(ErrReleased)
			gate.remove()
		}()
		parts, busy, err := s.take(ctx, waitCtx, span, wait, n)
		if err != nil {
			c.busy = c.busy || busy
			return nil, c.explain(ctx, waitCtx, err)
		}
		return whole(ctx, parts), nil
	})
}

// look makes sure, once, that no other kind of lock uses the path.
func (s *leased) look(ctx context.Context) error {
	if s.looked.Load() {
		return nil
	}
	names, err := s.base.list(ctx, 0)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		return err
	}
	for _, name := range names {
		if kind := s.base.mismatch(name); kind != "" {
			return fmt.Errorf("%w: %s (%s)", ErrKindMismatch, kind, name)
		}
	}
	s.looked.Store(true)
	return nil
}

// take takes leases one after the other; nobody else does meanwhile. When it fails none of
// them stays. busy tells whether it had to wait for others' leases.
func (s *leased) take(ctx, waitCtx context.Context, span *tracing.Acquisition, wait bool, n int) (parts []*Lease, busy bool, err error) {
	complete := false
	defer func() {
		if !complete {
			for _, part := range parts {
				part.released.Store(true)
				part.hold.leave(part.place)
			}
			parts = nil
		}
	}()
	for len(parts) < n {
		l := leaseContender{contender: contender{in: s.leases, wait: wait}, s: s}
		hold, err := l.contend(waitCtx)
		busy = busy || l.busy
		if err != nil {
			return parts, busy, err
		}
		if part := hold.newLease(ctx, span, nil); part != nil {
			parts = append(parts, part)
			continue
		}
		hold.remove() // lost before anyone could use it
	}
	complete = true
	return parts, busy, nil
}

// leaseContender is one lease on its way.
type leaseContender struct {
	contender
	s *leased
}

func (l *leaseContender) contend(ctx context.Context) (*hold, error) {
	for {
		left, err := l.create(ctx)
		var h *hold
		if err == nil {
			if h, err = l.await(ctx); err != nil {
				left = l.in.inside.Remove(l.node.Path, l.node.Session)
			}
		}
		if !errors.Is(err, errStartOver) {
			l.settle(ctx, left)
			return h, err
		}
	}
}

// await waits until there are no more leases than the maximum.
func (l *leaseContender) await(ctx context.Context) (*hold, error) {
	changed := make(chan struct{}, 1)
	change := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	remove := l.s.count.CountListenable().Add(func(context.Context, int) { change() })
	defer remove()
	own, names := nameOf(l.node.Path), l.node.Siblings
	if nearEnd(own) {
		return nil, ErrSequenceExhausted
	}
	for {
		var err error
		switch {
		case !slices.Contains(names, own):
			return nil, errStartOver
		case len(names) <= l.s.count.Count():
			h, granted := l.grant(l.node)
			if !errors.Is(granted, errInDoubt) {
				return h, granted
			}
			names, err = l.in.list(ctx, l.node.Session)
		case !l.wait:
			l.busy = true
			return nil, ErrNotAcquired
		default:
			l.busy = true
			names, err = l.next(ctx, names, changed, change)
		}
		if err != nil {
			return nil, err
		}
	}
}

// next returns the leases when they are others than names, or when the maximum changes.
func (l *leaseContender) next(ctx context.Context, names []string, changed <-chan struct{}, change func()) ([]string, error) {
	conn, err := l.in.inside.Conn()
	if err != nil {
		return nil, err
	}
	var event atomic.Int32
	watch := zkconn.NewWatch(l.in.full, zkconn.WatchChildren, func(e zkconn.WatchEvent) {
		event.Store(int32(e.Type))
		change()
	})
	defer conn.Unwatch(watch)
	var res jute.GetChildren2Response
	call := &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: l.in.full, Watch: true}, Res: &res, Watch: watch}
	switch err := conn.Do(ctx, l.node.Session, call); {
	case err != nil:
		if err := l.interrupted(ctx, err); err != nil {
			return nil, err
		}
		return l.in.list(ctx, l.node.Session)
	case call.Err != nil:
		return nil, l.refused(call.Err, errStartOver)
	case !sameNames(res.Children, names):
		return res.Children, nil
	}
	select {
	case <-changed:
		if err := after(zkconn.EventType(event.Load())); err != nil {
			return nil, err
		}
		return l.in.list(ctx, l.node.Session)
	case <-ctx.Done():
		return nil, ended(ctx)
	}
}

func sameNames(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// otherThanSemaphoreV2 tells of children that a semaphore of this layout does not have.
func otherThanSemaphoreV2(name string) string {
	if strings.Contains(name, readName) || strings.Contains(name, writeName) {
		return "a read-write lock"
	}
	if (StandardLockInternalsDriver{}).FixForSorting(name, lockName) != "" {
		return "a mutex or a semaphore of the other layout"
	}
	return ""
}
