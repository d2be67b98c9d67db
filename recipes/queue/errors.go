package queue

import (
	"context"
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

// unreadableError says that one item cannot be read: the server refuses it, or its data are not what the
// client understands. That ends no Consume.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string { return e.err.Error() }

func (e *unreadableError) Unwrap() error { return e.err }

// unreadable returns the error of the read of one item, as an unreadableError unless it says nothing about
// the item: that it is gone, that there was no answer, or that there will be none.
func unreadable(err error) error {
	if err == nil || framework.Retryable(err) {
		return err
	}
	for _, other := range []error{
		framework.ErrNoNode, framework.ErrClosed, framework.ErrAuthFailed, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, other) {
			return err
		}
	}
	return &unreadableError{err}
}
