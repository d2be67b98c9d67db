package paths

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// EnsureContainers creates a path of containers when it is first needed, and later assumes that
// the path exists. With the zero value and with nil, Ensure returns framework.ErrNotStarted.
//
// Java: EnsureContainers.
type EnsureContainers struct {
	client *framework.Client
	path   string

	mu      sync.Mutex
	current *ensuring // under way or done; nil if it is to be done
}

// ensuring is one attempt to make the path, which any number of goroutines wait for.
type ensuring struct {
	done chan struct{} // closed at the end; what follows is set before
	err  error
	own  bool // the error concerns only the caller that made the attempt
}

// NewEnsureContainers returns an EnsureContainers for path. It does no I/O. Errors:
// framework.ErrInvalidPath, framework.ErrNotStarted for a nil client.
func NewEnsureContainers(client *framework.Client, path string) (*EnsureContainers, error) {
	if err := validate(client, path); err != nil {
		return nil, err
	}
	return &EnsureContainers{client: client, path: path}, nil
}

// Ensure creates the missing nodes of the path, as containers. After a success it does nothing
// until Reset, even if the nodes were deleted.
//
// Of concurrent calls one creates the path, and the others wait for it and return its error. If
// its own context ends first, another call continues. Errors are not remembered: the next call
// tries again. Errors: those of Mkdirs.
//
// Java: ensure.
func (e *EnsureContainers) Ensure(ctx context.Context) error {
	switch {
	case e == nil || e.client == nil:
		return framework.ErrNotStarted
	case ctx == nil:
		return zkclient.ErrNilContext
	}
	for {
		attempt, first := e.join()
		if first {
			e.make(ctx, attempt)
			return attempt.err
		}
		if err := attempt.wait(ctx); err != nil {
			return fmt.Errorf("ensure containers %s: %w", e.path, err)
		}
		if !attempt.own {
			return attempt.err
		}
	}
}

// Reset makes the next Ensure check the path again. Ensure calls after Reset do not rely on an
// Ensure that was under way when Reset was called.
//
// Java: reset.
func (e *EnsureContainers) Reset() {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.current = nil
}

// wait waits for the end of the attempt. One that has ended is no reason to look at ctx.
func (a *ensuring) wait(ctx context.Context) error {
	select {
	case <-a.done:
		return nil
	default:
	}
	select {
	case <-a.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the current attempt; first tells whether the caller has to make it.
func (e *EnsureContainers) join() (attempt *ensuring, first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current != nil {
		return e.current, false
	}
	e.current = &ensuring{done: make(chan struct{})}
	return e.current, true
}

// make makes the path.
func (e *EnsureContainers) make(ctx context.Context, attempt *ensuring) {
	attempt.err, attempt.own = framework.ErrClosed, true // should a user's retry policy panic
	defer func() {
		if attempt.err != nil {
			e.forget(attempt)
		}
		close(attempt.done)
	}()
	attempt.err = Mkdirs(ctx, e.client, e.path, WithContainers())
	attempt.own = attempt.err != nil && ctx.Err() != nil
}

// forget makes the next Ensure try again, unless Reset has done so.
func (e *EnsureContainers) forget(attempt *ensuring) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current == attempt {
		e.current = nil
	}
}
