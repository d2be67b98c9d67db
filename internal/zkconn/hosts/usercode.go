package hosts

import (
	"errors"
	"fmt"
)

// callUser calls a function of the user's, or one that calls it, on a goroutine of its own: the function may
// end that, as t.FailNow does, and the driver's would be missing.
func callUser[T any](name string, fn func() (T, error)) (result T, err error) {
	return callUserUntil(nil, name, fn)
}

// callUserUntil is callUser for a function that has no context, and is left alone when left is closed.
func callUserUntil[T any](left <-chan struct{}, name string, fn func() (T, error)) (none T, err error) {
	type outcome struct {
		result T
		err    error
	}
	returned := make(chan outcome, 1)
	go func() {
		o := outcome{err: fmt.Errorf("%s: %w", name, errGoexit)}
		defer func() { returned <- o }()
		o.result, o.err = fn()
	}()
	select {
	case o := <-returned:
		return o.result, o.err
	case <-left:
		return none, errLeft
	}
}

var (
	errGoexit = errors.New("the function has ended its goroutine, by runtime.Goexit or t.FailNow")
	errLeft   = errors.New("the function has not returned")
)
