package queue

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrFull is returned by Put when the queue had WithMaxItems items, or more, until ctx
	// ended. The error also matches ctx's error.
	ErrFull = errors.New("the queue is full")
	// ErrEmpty is returned when the queue has no items.
	ErrEmpty = errors.New("the queue is empty")
)

var (
	errNilContext  = fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
	errNilFunction = fmt.Errorf("%w: the function is nil", framework.ErrInvalidOption)
)
