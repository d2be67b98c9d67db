package atomics

import (
	"errors"
	"fmt"
)

// Errors of this package; compare with errors.Is. Data that is too short for a number is
// codec.ErrDecode.
var (
	// ErrContended is returned when others changed the value at every try until the retry policy
	// gave up, or ctx ended. Nothing was changed. Java: a result that has not succeeded.
	ErrContended = errors.New("others kept changing the value")
	// ErrOverflow is returned when the result does not fit into the number. Nothing was changed.
	// Java wraps around.
	ErrOverflow = errors.New("the number overflows")
)

// errConflict is returned by one try when the node is not as expected.
var errConflict = fmt.Errorf("%w", ErrContended)

// unchanged is the error of a change that has sent no write that may be applied. It may wrap the
// error of another request, such as that of a lock.
type unchanged struct{ error }

func (e unchanged) Unwrap() error { return e.error }

// MaybeApplied is for framework.MaybeApplied.
func (unchanged) MaybeApplied() bool { return false }
