package retry

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Do calls fn until it succeeds, policy gives up, ctx ends, or fn's error is [Permanent] or has
// a method Retryable() bool that reports false, as framework.OpError does for error answers of
// the server.
//
// It returns fn's last error unchanged, or joined with ctx's when ctx ended the loop: errors.Is
// and errors.As see both. If ctx has ended before the first try, fn is not called. For an
// invalid policy Do returns an error that wraps [ErrInvalidPolicy], and does not call fn.
//
// fn must use the context of its argument. With this context, or one derived from it, an inner
// Do calls its function once and returns the outcome, without asking its policy.
//
// Java: RetryLoop.callWithRetry.
func Do(ctx context.Context, policy Policy, fn func(ctx context.Context) error) error {
	if ctx == nil || fn == nil {
		return errors.New("retry: nil context or function")
	}
	if err := Validate(policy); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return endOf(ctx)
	}
	if inLoop(ctx) {
		return fn(ctx)
	}
	return run(ctx, forLoop(policy), fn)
}

func run(ctx context.Context, policy Policy, fn func(ctx context.Context) error) error {
	l := new(loop)
	defer l.over.Store(true)
	inner := context.WithValue(ctx, loopKey{}, l)

	start := time.Now()
	for attempt := 0; ; attempt++ {
		err := fn(inner)
		if err == nil || isFinal(err) {
			return err
		}
		if ctx.Err() != nil {
			return withEndOf(ctx, err)
		}
		delay, ok := policy.Next(attempt, time.Since(start), err)
		if !ok {
			return err
		}
		if !wait(ctx, delay) {
			return withEndOf(ctx, err)
		}
	}
}

// DoValue is [Do] for a function with a result. The result is the zero value when the
// error is not nil.
func DoValue[T any](ctx context.Context, policy Policy, fn func(ctx context.Context) (T, error)) (T, error) {
	var value, zero T
	if fn == nil {
		return zero, Do(ctx, policy, nil)
	}
	err := Do(ctx, policy, func(ctx context.Context) (err error) {
		value, err = fn(ctx)
		return err
	})
	if err != nil {
		return zero, err
	}
	return value, nil
}

// Permanent marks err so that no loop retries after it; errors.Is and errors.As see through the
// mark. Permanent(nil) is nil. The mark is that of [backoff.Permanent], and Do accepts both.
func Permanent(err error) error { return backoff.Permanent(err) }

// Detach returns a copy of ctx that belongs to no loop: a [Do] with it retries by itself. Use
// it for work that a function under Do starts and does not wait for, because the outer loop
// does not see the failure of such work.
func Detach(ctx context.Context) context.Context {
	if ctx == nil || !inLoop(ctx) {
		return ctx
	}
	return context.WithValue(ctx, loopKey{}, (*loop)(nil))
}

// loop is the mark that a context carries while Do runs. It has an end of its own because
// contexts outlive it: a lease that was acquired inside of a loop keeps the values of
// that context, and work done under the lease long afterwards must be retried.
type loop struct{ over atomic.Bool }

type loopKey struct{}

func inLoop(ctx context.Context) bool {
	l, _ := ctx.Value(loopKey{}).(*loop)
	return l != nil && !l.over.Load()
}

func isFinal(err error) bool {
	if _, ok := errors.AsType[*backoff.PermanentError](err); ok {
		return true
	}
	var r interface{ Retryable() bool }
	return errors.As(err, &r) && !r.Retryable()
}

// wait tells whether delay passed before ctx ended.
func wait(ctx context.Context, delay time.Duration) bool {
	if delay <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// endOf is why ctx ended: its error and, where it says more, its cause.
func endOf(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

func withEndOf(ctx context.Context, err error) error {
	end := endOf(ctx)
	if errors.Is(err, end) { // fn has said so itself
		return err
	}
	return fmt.Errorf("%w (not tried again: %w)", err, end)
}
