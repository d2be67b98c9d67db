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
