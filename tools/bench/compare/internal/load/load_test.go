package load_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/tools/bench/compare/internal/load"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }

// takes returns an operation that takes the time d, and increments count.
func takes(d time.Duration, count *int) load.Op {
	return func(context.Context) error {
		pass(d)
		*count++
		return nil
	}
}

func TestRepeatCountsAfterTheWarmup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var quick, slow int
		result, err := load.Repeat(t.Context(), 100*ms, 1000*ms, takes(30*ms, &quick), takes(400*ms, &slow))
		if err != nil {
			t.Fatal(err)
		}
		// The quick operation ends every 30 ms: three times before the time that counts, 33 times in
		// it, from 120 to 1080 ms, and once after it. The slow one ends at 400, 800 and 1200 ms, of
		// which the last is after that time.
		want := slices.Concat(slices.Repeat([]int64{int64(30 * ms)}, 33), slices.Repeat([]int64{int64(400 * ms)}, 2))
		if result.Operations != 35 || result.ElapsedNS != int64(time.Second) || !slices.Equal(result.LatenciesNS, want) {
			t.Errorf("%+v", result)
		}
		if quick != 37 || slow != 3 {
			t.Errorf("ran %d and %d times", quick, slow)
		}
	})
}

func TestRepeatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		started := time.Now()
		_, err := load.Repeat(t.Context(), 0, time.Hour,
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			func(context.Context) error { pass(ms); return broken })
		if err != broken || time.Since(started) != ms {
			t.Errorf("%v after %v", err, time.Since(started))
		}
	})
}

// queue is a lock whose hand-over takes some time, and which counts the waiters.
type queue struct {
	turn    chan struct{}
	waiting int
	mu      chan struct{} // not a sync.Mutex, because the time of a bubble stands still while a goroutine waits for one
}

func newQueue() *queue { return &queue{turn: make(chan struct{}, 1), mu: make(chan struct{}, 1)} }

func (q *queue) count(by int) int {
	q.mu <- struct{}{}
	defer func() { <-q.mu }()
	q.waiting += by
	return q.waiting
}

func (q *queue) acquire(handOver time.Duration) load.Acquire {
	return func(context.Context) (load.Op, error) {
		q.count(1)
		q.turn <- struct{}{}
		pass(handOver)
		return func(context.Context) error {
			pass(ms)
			q.count(-1)
			<-q.turn
			return nil
		}, nil
	}
}

func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		waiters := slices.Repeat([]load.Acquire{q.acquire(9 * ms)}, 20)
		looks := 0
		result, err := load.Drain(t.Context(), q.acquire(0), waiters, func(context.Context) (int, error) {
			if looks++; looks <= 3 {
				return looks, nil // not all waiters are queued yet
			}
			return q.count(0), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		// The release of the gate takes 1 ms, each hand-over 9 ms, and each release 1 ms.
		if result.Operations != 20 || result.ElapsedNS != int64(201*ms) ||
			!slices.Equal(result.LatenciesNS, slices.Repeat([]int64{int64(10 * ms)}, 20)) {
			t.Errorf("%+v", result)
		}
		if looks != 4 {
			t.Errorf("looked %d times", looks)
		}
	})
}

func TestDrainFails(t *testing.T) {
	broken := errors.New("broken")
	fails := func(context.Context) (load.Op, error) { return nil, broken }
	waits := func(ctx context.Context) (load.Op, error) { <-ctx.Done(); return nil, ctx.Err() }
	held := 0
	works := func(context.Context) (load.Op, error) {
		held++
		return func(ctx context.Context) error {
			held--
			return ctx.Err()
		}, nil
	}
	short := func(context.Context) (int, error) { return 1, nil }
	for name, tt := range map[string]struct {
		gate, waiter load.Acquire
		queued       func(context.Context) (int, error)
	}{
		"the gate": {fails, works, short},
		"a waiter": {works, fails, short}, // the gate is released nevertheless
		"the look": {works, waits, func(context.Context) (int, error) { return 0, broken }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if _, err := load.Drain(t.Context(), tt.gate, []load.Acquire{tt.waiter}, tt.queued); !errors.Is(err, broken) {
					t.Error(err)
				}
				if held != 0 {
					t.Errorf("%d are held", held)
				}
			})
		})
	}
}

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
