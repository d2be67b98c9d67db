package blocking_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

func TestMain(m *testing.M) { suite.Main(m) }

// soon is how long after the Close of its client a call may return.
const soon = time.Minute

// ends runs a call and returns its error, or errTooLong.
func ends(c call, closing func()) error {
	return endsBy(c, func(context.CancelCauseFunc) { closing() })
}

// endsBy is ends for a call whose context may end.
func endsBy(c call, closing func(cancel context.CancelCauseFunc)) error {
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil) // lets go on what waits on
	go func() { ended <- c(ctx) }()
	<-time.After(time.Second)
	closing(cancel)
	select {
	case err := <-ended:
		return err
	case <-time.After(soon):
		return errTooLong
	}
}

// close closes the client in the background: it may wait for the server.
func (f *fixture) close() {
	var closing sync.WaitGroup
	closing.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(f.Context()), time.Second)
		defer cancel()
		_ = f.client.Close(ctx) // the server may not confirm the end of the session
	})
	f.Cleanup(closing.Wait)
}

// wantClosed wants ErrClosed, or of a lease that it was lost with its client.
func (f *fixture) wantClosed(err error) {
	f.Helper()
	if !errors.Is(err, framework.ErrClosed) && !errors.Is(err, locks.ErrLockLost) {
		f.Errorf("%v, want ErrClosed", err)
	}
}

// eachRow runs a test for every call.
func eachRow(t *testing.T, test func(f *fixture, r row, c call)) {
	for name, r := range rows() {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b)
				if c := r.prepare(f); c != nil {
					test(f, r, c)
				}
			})
		})
	}
}

// A call that waits for a server ends when its client is closed.
func TestClosedWithoutServer(t *testing.T) {
	eachRow(t, func(f *fixture, _ row, c call) {
		f.network.Isolate()
		if err := ends(c, f.close); !errors.Is(err, framework.ErrConnectionLoss) { // with which a silent server ends a try
			f.wantClosed(err)
		}
	})
}

// A call that waits for something else ends when its client is closed.
func TestClosedWhileWaiting(t *testing.T) {
	eachRow(t, func(f *fixture, r row, c call) {
		if r.waits {
			f.wantClosed(ends(c, f.close))
		}
	})
}

// A call of a client that is closed ends at once.
func TestCalledBehindClose(t *testing.T) {
	eachRow(t, func(f *fixture, _ row, c call) {
		f.ok(f.client.Close(context.WithoutCancel(f.Context())))
		f.wantClosed(ends(c, func() {}))
	})
}

// In an errgroup the error of one request ends the context of another one, as its cause. That is no answer to
// the other one, and says nothing about it.
func TestCauseIsNoAnswer(t *testing.T) {
	var answers []error
	for _, answer := range []error{
		framework.ErrNoNode, framework.ErrNodeExists, framework.ErrNotEmpty, framework.ErrBadVersion,
		framework.ErrSessionExpired, framework.ErrConnectionLoss, locks.ErrNotAcquired,
	} {
		answers = append(answers, &framework.OpError{Op: "create", Path: "/other", Attempts: 1, Err: answer})
	}
	cause := errors.Join(answers...)
	eachRow(t, func(f *fixture, r row, c call) {
		heal := f.network.Isolate()
		defer heal()
		err := endsBy(c, func(cancel context.CancelCauseFunc) { cancel(cause) })
		if !errors.Is(err, context.Canceled) && !errors.Is(err, errEnded) && (err != nil || !r.runs) {
			f.Errorf("%v, want context.Canceled", err)
		}
	})
}

// lateContext is a context that has ended, and whose Done takes a while: a call that has not looked at the context
// before has its answer by then.
type lateContext struct{ context.Context }

func (c lateContext) Done() <-chan struct{} {
	<-time.After(10 * time.Millisecond)
	return c.Context.Done()
}

// A call whose context has ended says so, although the server would answer.
func TestCalledBehindTheEnd(t *testing.T) {
	for range 4 { // a select takes one of those that are ready at random
		eachRow(t, func(f *fixture, r row, c call) {
			ctx, cancel := context.WithCancel(f.Context())
			cancel()
			err := ends(func(context.Context) error { return c(lateContext{ctx}) }, func() {})
			if !errors.Is(err, context.Canceled) && !errors.Is(err, errEnded) && (err != nil || !r.runs && !r.goesOn) {
				f.Errorf("%v, want context.Canceled", err)
			}
		})
	}
}
