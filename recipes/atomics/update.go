package atomics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// AtomicValue is the outcome of a change.
//
// Java: AtomicValue.
type AtomicValue[T any] struct {
	Pre, Post T // before and after the change
	Stats     AtomicStats
}

// AtomicStats has the tries and times of a change.
//
// Java: AtomicStats.
type AtomicStats struct {
	OptimisticTries int // without the lock of WithPromotedToLock
	PromotedTries   int // while it was held
	OptimisticTime  time.Duration
	PromotedTime    time.Duration // includes the wait for the lock
}

// update is one change on its way.
type update struct {
	*register
	fn  func(pre []byte) ([]byte, error)
	met bool // a conflict
	out AtomicValue[[]byte]
}

// update sets the data to what fn makes of it. fn may change what it is given.
func (r *register) update(ctx context.Context, fn func(pre []byte) ([]byte, error)) (_ AtomicValue[[]byte], err error) {
	if err := r.check(ctx); err != nil {
		return AtomicValue[[]byte]{}, err
	}
	if fn == nil {
		return AtomicValue[[]byte]{}, fmt.Errorf("%w: the function is nil", framework.ErrInvalidOption)
	}
	ctx, span := r.api.Telemetry().AtomicUpdate(ctx, r.cfg.name, r.path)
	u := &update{register: r, fn: fn}
	stats := &u.out.Stats
	defer func() { span.End(stats.OptimisticTries, stats.PromotedTries, err) }() // also when fn panics

	begin := time.Now()
	contended, err := u.repeat(ctx, r.policy, &stats.OptimisticTries)
	stats.OptimisticTime = time.Since(begin)
	if contended && r.cfg.lock != nil && ctx.Err() == nil {
		begin = time.Now()
		err = u.promote(ctx)
		stats.PromotedTime = time.Since(begin)
	}
	if err != nil {
		return AtomicValue[[]byte]{}, err
	}
	return u.out, nil
}

// repeat tries until there is no conflict, or the policy gives up: contended reports that.
func (u *update) repeat(ctx context.Context, policy retry.Policy, tries *int) (contended bool, _ error) {
	var last error
	err := retry.Do(ctx, policy, func(context.Context) error {
		// The loop's context is not used: with it the client would not retry by itself. This
		// policy is asked about conflicts alone.
		*tries++
		if last = u.try(ctx); last != nil && !errors.Is(last, errConflict) {
			return retry.Permanent(last)
		}
		return last
	})
	switch {
	case last != nil && !errors.Is(last, errConflict):
		return false, last // without the mark of Permanent
	case err != nil:
		return errors.Is(last, errConflict), fmt.Errorf("atomic value %s: %w", u.path, err)
	}
	return false, nil
}

// try is one try. Its error is errConflict if the node is not as expected. A conflict that only a
// remembered value has met is no try: it may be long ago that others have changed the value.
func (u *update) try(ctx context.Context) error {
	if pre, known := u.recall(); known && !u.met {
		if err := u.change(ctx, pre); !errors.Is(err, errConflict) {
			return err
		}
	}
	pre, err := u.read(ctx)
	if err != nil {
		return err
	}
	return u.change(ctx, pre)
}

// change has the function make a new value of pre, and writes it.
func (u *update) change(ctx context.Context, pre content) error {
	post, err := u.fn(bytes.Clone(pre.data))
	if err != nil {
		return err
	}
	err = u.write(ctx, pre, post)
	u.met = u.met || errors.Is(err, errConflict)
	if err != nil {
		return err
	}
	if u.met {
		u.forget() // others change the value, too
	}
	u.out.Pre, u.out.Post = pre.data, post
	return nil
}

// promote goes on while the lock is held.
func (u *update) promote(ctx context.Context) error {
	entered := false
	var err error
	lockErr := locks.Do(ctx, u.cfg.lock, func(context.Context, *locks.Lease) error {
		entered = true
		//curatorvet:ignore outercontext the write has a version, and may go on when the lock is lost
		_, err = u.repeat(ctx, u.cfg.policy, &u.out.Stats.PromotedTries)
		return nil
	})
	if entered {
		return err // and not lockErr: the change did not depend on the lock
	}
	// No write was sent that may be applied, whatever lockErr says of the requests of the lock.
	return zkclient.EffectKnown(fmt.Errorf("atomic value %s: %w: %w", u.path, ErrContended, lockErr))
}
