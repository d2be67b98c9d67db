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
