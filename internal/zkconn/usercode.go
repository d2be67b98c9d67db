package zkconn

import (
	"errors"
	"fmt"
)

// callUser calls a function of the user's, or one that calls it, on a goroutine of its own: the function may
// end that, as t.FailNow does, and the driver's would be missing.
func callUser[T any](name string, fn func() (T, error)) (result T, err error) {
	returned := make(chan struct{})
	err = fmt.Errorf("%s: %w", name, errGoexit)
	go func() {
		defer close(returned)
		result, err = fn()
	}()
	<-returned
	return result, err
}

var errGoexit = errors.New("the function has ended its goroutine, by runtime.Goexit or t.FailNow")
