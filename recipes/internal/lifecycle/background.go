package lifecycle

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/retry"
)

// Background says of a component what its Start in the background needs.
type Background struct {
	Client *framework.Client
	// What names the component in logs and errors, such as "cache of /config".
	What string
	// Prepare is what Start does before it returns, without I/O. It is called when nothing but
	// Prepare itself can refuse the Start any more, or Close. Nil does nothing.
	Prepare func(ctx context.Context) error
}

// InBackground has Start return before begin is called, for the options WithStartInBackground. A
// constructor calls it. Start then refuses a context that has ended, and a client that is not
// started or is closed. The goroutine of work calls begin again and again, until it succeeds, the
// client is closed or Close is called, and then work. The context of begin is that of work, so the
// end of Start's context does not matter.
//
// Close calls end whether begin has succeeded or not. When the client is closed begin is called at
// least once more; its error then matches framework.ErrClosed.
func (l *Lifecycle) InBackground(b Background) { l.background = &background{Background: b} }

// Failure returns why a Start in the background has not succeeded yet: the error of the last try, or
// nil if there was none, or after a success.
func (l *Lifecycle) Failure() error {
	if l.background == nil {
		return nil
	}
	if err := l.background.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// background is a Start in the background.
type background struct {
	Background
	failure atomic.Pointer[error]
	logged  bool // a failure was logged
	refused bool // an error was reported that another try may not change
}

// check is what a Start in the background does before it returns.
func (b *background) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := zkclient.Of(b.Client).Conn(); err != nil {
		return err
	}
	if b.Prepare == nil {
		return nil
	}
	return b.Prepare(ctx)
}

// repeat calls begin until it succeeds. It reports false if ctx has ended before, or the client.
func (b *background) repeat(ctx context.Context, begin func(ctx context.Context) error) bool {
	p := NewPauses()
	for closed := false; ; {
		err := begin(retry.Detach(ctx)) // the caller of Start may be in a loop of its own
		if err == nil {
			b.succeeded()
			return true
		}
		if closed || ctx.Err() != nil || errors.Is(err, framework.ErrClosed) {
			return false
		}
		b.failed(err)
		err = p.Await(ctx, b.Client, err)
		if err != nil && ctx.Err() != nil {
			return false
		}
		closed = errors.Is(err, framework.ErrClosed)
	}
}

// failed tells of a failure once, and once more when the first error comes that another try may not
// change.
func (b *background) failed(err error) {
	b.failure.Store(&err)
	api := zkclient.Of(b.Client)
	first := !b.refused && !framework.Retryable(err)
	if first {
		b.refused = true
		api.Unhandled(b.What+" is not started yet", err)
	}
	if first || !b.logged {
		b.logged = true
		api.Log(func() {
			b.Client.Logger().Warn("not started yet; it is tried again until Close", "what", b.What, "error", err)
		})
	}
}

// succeeded tells that a failure is over.
func (b *background) succeeded() {
	b.failure.Store(nil)
	if b.logged {
		zkclient.Of(b.Client).Log(func() { b.Client.Logger().Info("started after a failure", "what", b.What) })
	}
}
