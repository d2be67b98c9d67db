package wait_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/wait"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		for _, c := range []struct {
			d, passed time.Duration // passed since the beginning
			want      error
		}{
			{0, 0, nil},
			{-time.Second, 0, nil},
			{time.Second, time.Second, nil},
			{time.Hour, time.Minute, context.DeadlineExceeded},
			{time.Hour, time.Minute, context.DeadlineExceeded},
			{0, time.Minute, context.DeadlineExceeded},
		} {
			if err := wait.For(ctx, c.d); err != c.want || time.Since(begin) != c.passed {
				t.Errorf("%v: %v after %v, want %v after %v", c.d, err, time.Since(begin), c.want, c.passed)
			}
		}
	})
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := wait.Pace{First: time.Second, Most: 3 * time.Second, Calm: time.Minute}
		next := func(mean time.Duration) {
			t.Helper()
			pause := pace.Next()
			if pause < mean/2 || pause > mean+mean/2 {
				t.Errorf("a pause of %v, want %v or up to a half less or more", pause, mean)
			}
			time.Sleep(pause)
		}
		for range 100 {
			for _, mean := range []time.Duration{1000, 1500, 2250, 3000, 3000} {
				next(mean * time.Millisecond)
			}
			pace.Reset()
		}
		next(time.Second)
		time.Sleep(pace.Calm)
		next(1500 * time.Millisecond)
		time.Sleep(pace.Calm + 1)
		next(time.Second)
	})
}

func TestPaceVaries(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		seen[(&wait.Pace{First: time.Second, Most: time.Minute}).Next()] = true
	}
	if len(seen) < 90 {
		t.Errorf("%d different pauses of 100", len(seen))
	}
}

func TestSignal(t *testing.T) {
	s := wait.NewSignal()
	for range 2 {
		s.Set()
		s.Set()
		<-s
		select {
		case <-s:
			t.Fatal("two signals, but nothing was received between them")
		default:
		}
	}
}
