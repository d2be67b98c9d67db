package barriers

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrNotPassed is returned, together with ctx's error, when the barrier was closed until
	// ctx ended. If no server has answered, only ctx's error is returned.
	ErrNotPassed = errors.New("barrier not passed")

	// ErrMemberLost is returned by Leave when the member's node was deleted between Enter and
	// Leave, with its session or by an operator. The others may have left without the member.
	ErrMemberLost = errors.New("member of the barrier was lost")

	// ErrEntered is returned when Enter was called twice, and when Leave was called without Enter.
	ErrEntered = errors.New("barrier entered already, or not at all")
)

var errNilContext = fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)

// waitError is the error of a call that has failed. The effect of the call is known, whatever it
// has sent. So framework.MaybeApplied is false for it.
type waitError struct{ error }

func (e waitError) Unwrap() error { return e.error }

// MaybeApplied is for framework.MaybeApplied.
func (waitError) MaybeApplied() bool { return false }

// explain returns the error of a wait at the barrier of a path. seen says that the barrier was
// seen closed.
func explain(ctx context.Context, path string, err error, seen bool) error {
	if err == nil {
		return nil
	}
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if ctx.Err() == nil || !ended || errors.Is(err, framework.ErrClosed) {
		return waitError{fmt.Errorf("barrier %s: %w", path, err)}
	}
	if !errors.Is(err, ctx.Err()) || !errors.Is(err, context.Cause(ctx)) {
		err = zkclient.ContextError(ctx) // and not that of the clean-up
	}
	if seen {
		err = fmt.Errorf("%w: %w", ErrNotPassed, err)
	}
	return waitError{fmt.Errorf("barrier %s: %w", path, err)}
}
