package zkclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/zkconn"
)

// The errors of a client that are not answers of the server. Package framework exports some of them.
var (
	ErrInvalidPath    = errors.New("invalid path")
	ErrInvalidOption  = errors.New("invalid option")
	ErrInvalidBuilder = errors.New("invalid combination of steps")
	ErrNotStarted     = errors.New("not started")

	ErrNilContext = fmt.Errorf("%w: the context is nil", ErrInvalidOption)
	ErrNilClient  = fmt.Errorf("%w: the client is nil, or NewClient has not made it", ErrNotStarted)
	errLatent     = fmt.Errorf("%w: call Client.Start first", ErrNotStarted)
)

// Failure is an operation that has failed. Config.Fail makes the user's error of it.
type Failure struct {
	Op, Path string
	Attempts int
	Err      error
	Outcome
}

// Outcome is what a failure says of the operation beside its error. The error of Config.Fail embeds it.
type Outcome struct {
	final   bool // not to be tried again whatever the error is
	applied bool // an earlier try may have been applied
}

func (o Outcome) outcome() Outcome { return o }

// Doubtful is the outcome of what may have been applied, and is not to be tried again.
func Doubtful() Outcome { return Outcome{final: true, applied: true} }

// Retryable reports whether a retry policy is asked about the failure.
func (f Failure) Retryable() bool { return !f.final && Retryable(f.Err) }

// MaybeApplied reports whether one of the tries may have been applied.
func (f Failure) MaybeApplied() bool { return f.applied || MaybeApplied(f.Err) }

// MaybeApplied is that of package framework.
func MaybeApplied(err error) bool {
	if err == nil {
		return false
	}
	var unsure interface{ MaybeApplied() bool }
	return errors.As(err, &unsure) && unsure.MaybeApplied()
}

// isFinal reports whether an operation that failed with err is not to be tried again whatever its error is.
func isFinal(err error) bool {
	if err == nil {
		return false
	}
	var failed interface{ outcome() Outcome }
	return errors.As(err, &failed) && failed.outcome().final
}

// Retryable is that of package framework.
func Retryable(err error) bool {
	if isFinal(err) {
		return false
	}
	if unanswered, ok := errors.AsType[*zkconn.TransportError](err); ok {
		err = unanswered.Err // not why there was no connection
	}
	for _, passing := range []error{
		zkconn.ErrConnectionLoss, zkconn.ErrSessionExpired, zkconn.ErrSessionMoved, zkconn.ErrOperationTimeout, zkconn.ErrThrottled,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// NotApplied returns the error of a read, or of the creation of parents, without the mark that it may
// have been applied: these requests may be repeated any number of times.
func NotApplied(err error) error {
	if unanswered, ok := errors.AsType[*zkconn.TransportError](err); ok {
		return &zkconn.TransportError{Err: unanswered.Err, Detail: unanswered.Detail}
	}
	return err
}

// Conflict reports whether the server refused a write because the node is not as it was expected to be.
func Conflict(err error) bool {
	return errors.Is(err, zkconn.ErrBadVersion) || errors.Is(err, zkconn.ErrNodeExists) || errors.Is(err, zkconn.ErrNoNode)
}

// effectKnown is the error of a call whose effect is known, whatever it has sent.
type effectKnown struct{ error }

func (e effectKnown) Unwrap() error { return e.error }

func (effectKnown) MaybeApplied() bool { return false }

// EffectKnown returns err as the error of a call whose effect is known: MaybeApplied is false for it, also if it
// wraps the error of a request that may have been applied.
func EffectKnown(err error) error { return effectKnown{err} }

// ContextError returns the error of a context that has ended, with its cause, which says nothing about a request:
// see zkconn.Cause.
func ContextError(ctx context.Context) error {
	if cause := zkconn.Cause(ctx); cause != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}

// ended is the error of a request that was not sent because ctx has ended.
func ended(ctx context.Context) error {
	return &zkconn.TransportError{Err: ctx.Err(), Detail: zkconn.Cause(ctx)}
}
