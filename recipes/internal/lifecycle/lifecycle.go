// Package lifecycle implements the rules of framework.Component: when Start and Close of a
// recipe may be called, and which call joins the recipe's goroutine.
//
// A recipe has a [Lifecycle] as a field. Its Start and Close only pass their own functions:
//
//	func (c *Cache) Start(ctx context.Context) error {
//		return c.life.Start(ctx, c.load, c.follow)
//	}
//
//	func (c *Cache) Close(ctx context.Context) error {
//		return c.life.Close(ctx, c.removeWatches)
//	}
//
// For an option WithStartInBackground its constructor calls [Lifecycle.InBackground]. Then Start does
// not wait, and the functions are the same.
package lifecycle

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// closeWait bounds the clean-up of a Close whose context has ended.
const closeWait = time.Second

type phase int

const (
	latent   phase = iota
	starting       // begin runs
	started
	closed
)

// Lifecycle is the life of one component. The zero value is that of a component that has not
// been started. All methods may be called from several goroutines.
type Lifecycle struct {
	mu    sync.Mutex
	phase phase
	end   context.CancelCauseFunc // of begin and work; nil when neither has been called
	idle  chan struct{}           // closed when begin has failed, or work has returned
	begun bool                    // begin has succeeded
	done  chan struct{}           // see Done
	over  chan struct{}           // closed when the first Close has ended, with err set
	err   error

	background *background // nil for a Start that waits
}

// Start calls begin and, when begin returns nil, work on its own goroutine; work may be nil.
// The context of begin ends with ctx or with Close. The context of work has the values of ctx
// and ends with Close. Both must return soon after that. After InBackground it does not wait for
// begin, see there.
//
// When begin fails, its error is returned, and Start may be called again, also after a panic of
// begin. Other errors:
// framework.ErrAlreadyStarted, framework.ErrClosed, also when Close was called while begin ran,
// and framework.ErrInvalidOption for a nil context.
func (l *Lifecycle) Start(ctx context.Context, begin func(ctx context.Context) error, work func(ctx context.Context)) error {
	if b := l.background; b != nil {
		return l.start(ctx, b.check, func(life context.Context) {
			if b.repeat(life, begin) && work != nil && life.Err() == nil {
				work(life)
			}
		})
	}
	return l.start(ctx, begin, work)
}

func (l *Lifecycle) start(ctx context.Context, begin func(ctx context.Context) error, work func(ctx context.Context)) error {
	if ctx == nil {
		return zkclient.ErrNilContext
	}
	life, idle, err := l.enter(ctx)
	if err != nil {
		return err
	}
	returned, working := false, false
	defer func() {
		if !returned {
			_ = l.settle(zkclient.ErrPanicked)
		}
		if !working {
			close(idle)
		}
	}()
	err = beginUntil(ctx, life, begin)
	returned = true
	if err = l.settle(err); err != nil || work == nil {
		return err
	}
	working = true
	go func() {
		defer close(idle)
		work(life)
	}()
	return nil
}

// enter takes note of a Start.
func (l *Lifecycle) enter(ctx context.Context) (life context.Context, idle chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.phase {
	case closed:
		return nil, nil, framework.ErrClosed
	case starting, started:
		return nil, nil, framework.ErrAlreadyStarted
	}
	l.phase = starting
	life, l.end = context.WithCancelCause(context.WithoutCancel(ctx))
	l.idle = make(chan struct{})
	return life, l.idle, nil
}

// beginUntil calls begin with a context that ends with both ctx and life.
func beginUntil(ctx, life context.Context, begin func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(life, func() { cancel(context.Cause(life)) })
	defer stop()
	return begin(ctx)
}

// settle takes note of how begin ended, and returns what Start returns.
func (l *Lifecycle) settle(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = err == nil
	switch {
	case l.phase == closed && err == nil:
		return framework.ErrClosed // Close takes back what begin has done
	case l.phase == closed:
		return fmt.Errorf("%w: %w", framework.ErrClosed, err)
	case err != nil:
		l.phase = latent
		l.end(nil)
	default:
		l.phase = started
	}
	return err
}

// Close ends the contexts of begin and work, and waits until they have returned. If begin has
// succeeded, or Start in the background has, Close then calls end, with ctx, or with a context of one
// second if ctx has ended; end may be nil. Later calls only wait for the first one and return its error.
func (l *Lifecycle) Close(ctx context.Context, end func(ctx context.Context) error) error {
	if ctx == nil {
		return zkclient.ErrNilContext
	}
	ctx, cancel := CleanUp(ctx)
	defer cancel()
	idle, first := l.leave()
	if !first {
		select {
		case <-l.over:
			return l.err
		case <-ctx.Done():
			return zkclient.ContextError(ctx)
		}
	}
	defer close(l.over)
	if idle != nil {
		<-idle
	}
	if l.begun && end != nil {
		l.err = end(ctx)
	}
	return l.err
}

// leave takes note of a Close, and tells whether it is the first.
func (l *Lifecycle) leave() (idle <-chan struct{}, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.phase == closed {
		return nil, false
	}
	l.phase = closed
	l.over = make(chan struct{})
	close(l.doneLocked())
	if l.end != nil {
		l.end(framework.ErrClosed)
	}
	return l.idle, true
}

// Started returns nil between a successful Start and Close, otherwise framework.ErrNotStarted
// or framework.ErrClosed.
func (l *Lifecycle) Started() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.phase {
	case started:
		return nil
	case closed:
		return framework.ErrClosed
	default:
		return framework.ErrNotStarted
	}
}

// Done returns a channel that is closed when Close is called.
func (l *Lifecycle) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doneLocked()
}

func (l *Lifecycle) doneLocked() chan struct{} {
	if l.done == nil {
		l.done = make(chan struct{})
	}
	return l.done
}

// CleanUp returns the context for the clean-up of a Close: ctx, or, if ctx has ended, a context
// of one second with its values.
func CleanUp(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), closeWait)
}

// Reachable is zkconn.Conn.Reachable for the requests of a recipe's clean-up.
func Reachable(ctx context.Context, client *zkclient.Client) (context.Context, context.CancelFunc) {
	conn, err := client.Conn()
	if err != nil {
		return context.WithCancel(ctx) // requests fail at once
	}
	return conn.Reachable(ctx)
}
