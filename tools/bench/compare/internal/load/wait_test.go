package load_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/tools/bench/compare/internal/load"
)

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		result, err := load.Wait(t.Context(), func(context.Context) (load.Op, error) {
			pass(time.Hour)
			return func(context.Context) error { pass(2 * ms); return broken }, nil
		})
		if err != broken || result.Operations != 1 || result.ElapsedNS != int64(2*ms) {
			t.Errorf("%+v, %v; want what was granted 2 ms ago", result, err)
		}
		_, err = load.Wait(t.Context(), func(context.Context) (load.Op, error) { return nil, broken })
		if err != broken {
			t.Error(err)
		}
	})
}

func TestTry(t *testing.T) {
	broken := errors.New("broken")
	released := 0
	free := load.Try(func(context.Context) (load.Op, error) {
		return func(context.Context) error { released++; return nil }, nil
	})
	busy := load.Try(func(context.Context) (load.Op, error) { return nil, load.ErrBusy })
	fails := load.Try(func(context.Context) (load.Op, error) { return nil, broken })
	for name, tt := range map[string]struct {
		op   load.Op
		fine bool
	}{
		"free":            {free.Op(true), true},
		"busy":            {busy.Op(false), true},
		"busy, not free":  {busy.Op(true), false},
		"free, not busy":  {free.Op(false), false},
		"fails when free": {fails.Op(true), false},
		"fails when busy": {fails.Op(false), false},
	} {
		if err := tt.op(t.Context()); (err == nil) != tt.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
	if released != 1 {
		t.Errorf("released %d times what was acquired once as it should be", released)
	}
}

func TestRepeatBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := false
		holder := func(context.Context) (load.Op, error) {
			held = true
			return func(context.Context) error { held = false; return nil }, nil
		}
		result, err := load.RepeatBusy(t.Context(), 0, 100*ms, holder, func(context.Context) (load.Op, error) {
			pass(9 * ms)
			if !held {
				return func(context.Context) error { return nil }, nil
			}
			return nil, load.ErrBusy
		})
		if err != nil || result.Operations != 11 || held {
			t.Errorf("%+v, %v; held: %t", result, err, held)
		}
		broken := errors.New("broken")
		fails := func(context.Context) (load.Op, error) { return nil, broken }
		if _, err := load.RepeatBusy(t.Context(), 0, ms, holder, fails); !errors.Is(err, broken) || held {
			t.Errorf("%v; held: %t", err, held)
		}
		if _, err := load.RepeatBusy(t.Context(), 0, ms, fails, fails); !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}
