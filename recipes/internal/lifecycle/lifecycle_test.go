package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

var errBegin = errors.New("begin failed")

func until(ctx context.Context) { <-ctx.Done() }

func ok(context.Context) error { return nil }

func TestStartAndClose(t *testing.T) {
	type step struct {
		do   string // start, fail, panic or close
		want error
	}
	for name, steps := range map[string][]step{
		"once":              {{"start", nil}, {"close", nil}},
		"twice":             {{"start", nil}, {"start", framework.ErrAlreadyStarted}, {"close", nil}, {"close", nil}},
		"again":             {{"fail", errBegin}, {"fail", errBegin}, {"start", nil}, {"close", nil}},
		"again after panic": {{"panic", nil}, {"panic", nil}, {"start", nil}, {"close", nil}},
		"closed before":     {{"close", nil}, {"start", framework.ErrClosed}},
		"closed after":      {{"start", nil}, {"close", nil}, {"start", framework.ErrClosed}},
		"closed after fail": {{"fail", errBegin}, {"close", nil}, {"start", framework.ErrClosed}},
	} {
		t.Run(name, func(t *testing.T) {
			var life lifecycle.Lifecycle
			started, ended := 0, 0
			for i, s := range steps {
				var err error
				switch s.do {
				case "start":
					err = life.Start(t.Context(), ok, until)
				case "fail":
					err = life.Start(t.Context(), func(context.Context) error { return errBegin }, until)
				case "panic":
					func() {
						defer func() { _ = recover() }()
						err = life.Start(t.Context(), func(context.Context) error { panic("boom") }, until)
					}()
				case "close":
					err = life.Close(t.Context(), func(context.Context) error { ended++; return nil })
				}
				if !errors.Is(err, s.want) || s.want == nil && err != nil {
					t.Errorf("step %d, %s: %v, want %v", i, s.do, err, s.want)
				}
				if s.do == "start" && err == nil {
					started++
				}
			}
			if ended != started {
				t.Errorf("%d Starts succeeded, end was called %d times", started, ended)
			}
			if err := life.Started(); !errors.Is(err, framework.ErrClosed) {
				t.Errorf("Started after Close: %v", err)
			}
			<-life.Done()
		})
	}
}

func TestStarted(t *testing.T) {
	var life lifecycle.Lifecycle
	begin := func(context.Context) error {
		if err := life.Started(); !errors.Is(err, framework.ErrNotStarted) {
			t.Errorf("while begin runs: %v", err)
		}
		if err := life.Start(t.Context(), ok, nil); !errors.Is(err, framework.ErrAlreadyStarted) {
			t.Errorf("a second Start while begin runs: %v", err)
		}
		return nil
	}
	if err := errors.Join(life.Start(t.Context(), begin, nil), life.Started()); err != nil {
		t.Error(err)
	}
	select {
	case <-life.Done():
		t.Error("done before Close")
	default:
	}
	if err := life.Close(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// Close ends begin, whether begin notices that or not, and takes back what it has done.
func TestCloseWhileBeginRuns(t *testing.T) {
	for name, notices := range map[string]bool{"begin notices": true, "begin succeeds": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var life lifecycle.Lifecycle
				ended := false
				begin := func(ctx context.Context) error {
					<-ctx.Done()
					if notices {
						return context.Cause(ctx)
					}
					return nil
				}
				startErr := make(chan error)
				go func() {
					startErr <- life.Start(t.Context(), begin, func(context.Context) { t.Error("work runs") })
				}()
				synctest.Wait()
				if err := life.Close(t.Context(), func(context.Context) error { ended = true; return nil }); err != nil {
					t.Error(err)
				}
				if err := <-startErr; !errors.Is(err, framework.ErrClosed) {
					t.Errorf("Start returned %v", err)
				}
				if ended == notices {
					t.Errorf("end was called: %v", ended)
				}
			})
		})
	}
}

// The context of Start bounds begin, and is not the life of work.
func TestContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var life lifecycle.Lifecycle
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), time.Second)
		defer cancel()
		waits := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		if err := life.Start(ctx, waits, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("begin ended with %v", err)
		}
		ctx, cancel = context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		var workEnded time.Time
		work := func(ctx context.Context) {
			<-ctx.Done()
			workEnded = time.Now()
			if ctx.Value(key{}) != "value" || !errors.Is(context.Cause(ctx), framework.ErrClosed) {
				t.Errorf("work has %v, cause %v", ctx.Value(key{}), context.Cause(ctx))
			}
		}
		if err := life.Start(ctx, ok, work); err != nil {
			t.Fatal(err)
		}
		cancel()
		time.Sleep(time.Minute)
		closed := time.Now()
		end := func(ctx context.Context) error { // ctx has ended, and there is a second all the same
			if ctx.Value(key{}) != "value" {
				t.Error("end has not the values of Close's context")
			}
			return waits(ctx)
		}
		err := life.Close(ctx, end)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(closed) != time.Second || !workEnded.Equal(closed) {
			t.Errorf("Close: %v after %v, work ended %v later", err, time.Since(closed), workEnded.Sub(closed))
		}
		if again := life.Close(t.Context(), nil); !errors.Is(again, err) {
			t.Errorf("Close again: %v, want %v", again, err)
		}
	})
}

// A second Close waits for the first, as long as its own context lives.
func TestConcurrentClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var life lifecycle.Lifecycle
		if err := life.Start(t.Context(), ok, until); err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = life.Close(t.Context(), func(context.Context) error { time.Sleep(time.Minute); return nil })
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := life.Close(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("impatient: %v", err)
		}
		begun := time.Now()
		if err := life.Close(t.Context(), nil); err != nil || time.Since(begun) != time.Minute-time.Second {
			t.Errorf("patient: %v after %v", err, time.Since(begun))
		}
	})
}

func TestNilContext(t *testing.T) {
	var life lifecycle.Lifecycle
	var none context.Context
	if err := life.Start(none, ok, nil); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("Start: %v", err)
	}
	if err := life.Close(none, nil); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("Close: %v", err)
	}
}
