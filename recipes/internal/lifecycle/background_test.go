package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// newBackground returns the life of a component whose Start does not wait, and its client.
func newBackground(t *testing.T, b *suite.Backend, prepare func(ctx context.Context) error) (*lifecycle.Lifecycle, *framework.Client) {
	client, _ := b.Client(t)
	if err := client.BlockUntilConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	life := new(lifecycle.Lifecycle)
	life.InBackground(lifecycle.Background{Client: client, What: "component", Prepare: prepare})
	return life, client
}

// A Start in the background calls begin until it succeeds, and then work. The end of Start's context does
// not matter.
func TestInBackground(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		prepared, tries, ends := 0, 0, 0
		life, _ := newBackground(t, b, func(context.Context) error { prepared++; return nil })
		working, looked := make(chan struct{}), make(chan struct{})
		begin := func(ctx context.Context) error {
			<-looked
			if tries++; tries < 4 {
				return framework.ErrNoAuth
			}
			return ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := life.Start(ctx, begin, func(ctx context.Context) {
			close(working)
			<-ctx.Done()
		}); err != nil || prepared != 1 {
			t.Fatalf("%v, prepared %d times", err, prepared)
		}
		cancel()
		if err := errors.Join(life.Started(), life.Failure()); err != nil {
			t.Error(err)
		}
		close(looked)
		<-time.After(time.Millisecond)
		if err := life.Failure(); !errors.Is(err, framework.ErrNoAuth) {
			t.Errorf("the failure is %v", err)
		}
		<-working
		if err := life.Failure(); err != nil {
			t.Errorf("the failure is %v behind the success", err)
		}
		if err := life.Close(t.Context(), func(context.Context) error { ends++; return nil }); err != nil || tries != 4 || ends != 1 {
			t.Errorf("%v, %d tries, %d ends", err, tries, ends)
		}
	})
}

// Close ends a pause, and calls end although begin has not succeeded.
func TestCloseInBackground(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		life, _ := newBackground(t, b, nil)
		if err := life.Start(t.Context(), func(context.Context) error { return errBegin }, func(context.Context) {
			t.Error("it works")
		}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		begun, ended := time.Now(), false
		err := life.Close(t.Context(), func(context.Context) error { ended = true; return nil })
		if err != nil || !ended || time.Since(begun) > 0 {
			t.Errorf("%v after %v, end was called: %t", err, time.Since(begun), ended)
		}
	})
}

// When the client is closed, begin learns of it, also in a pause, and there are no more tries.
func TestClientClosedInBackground(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		life, client := newBackground(t, b, nil)
		var last error
		tries := 0
		begin := func(ctx context.Context) error {
			tries++
			if last = value(client.CheckExists().ForPath(ctx, "/")); last != nil {
				return last
			}
			return errBegin
		}
		if err := life.Start(t.Context(), begin, nil); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
		<-time.After(time.Millisecond)
		synctest.Wait()
		before := tries
		if !errors.Is(last, framework.ErrClosed) {
			t.Errorf("begin has last got %v", last)
		}
		<-time.After(10 * time.Minute)
		synctest.Wait()
		if tries != before {
			t.Errorf("%d more tries", tries-before)
		}
		if err := life.Close(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}

// What can be refused without a server is refused at once, and may be tried again.
func TestRefusedInBackground(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		why := errBegin
		life, client := newBackground(t, b, func(context.Context) error { return why })
		begin := func(context.Context) error { return nil }
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for _, c := range []struct {
			ctx  context.Context
			want error
		}{{nil, framework.ErrInvalidOption}, {ended, context.Canceled}, {t.Context(), errBegin}} {
			if err := life.Start(c.ctx, begin, nil); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		}
		why = nil
		if err := life.Start(t.Context(), begin, nil); err != nil {
			t.Error(err)
		}
		if err := life.Start(t.Context(), begin, nil); !errors.Is(err, framework.ErrAlreadyStarted) {
			t.Errorf("a second Start: %v", err)
		}
		if err := errors.Join(life.Close(t.Context(), nil), client.Close(t.Context())); err != nil {
			t.Error(err)
		}
		late := new(lifecycle.Lifecycle)
		late.InBackground(lifecycle.Background{Client: client})
		if err := late.Start(t.Context(), begin, nil); !errors.Is(err, framework.ErrClosed) {
			t.Errorf("the client is closed: %v", err)
		}
	})
}

func value[T any](_ T, err error) error { return err }
