package measure

import (
	"context"
	"testing"
	"time"
)

func TestParseTicks(t *testing.T) {
	const stat = "cpu  100 20 3 5000 600 7 80 9 50 1\ncpu0 50 10 1 2500 300 3 40 4 25 0\nintr 1\n"
	if got, ok := parseTicks(stat); !ok || got != (ticks{busy: 219, idle: 5600}) {
		t.Errorf("%+v, %t", got, ok)
	}
	for _, stat := range []string{"", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8\n"} {
		if got, ok := parseTicks(stat); ok {
			t.Errorf("%q: %+v", stat, got)
		}
	}
}

func TestOthersShare(t *testing.T) {
	before := ticks{busy: 1000, idle: 9000}
	for name, tt := range map[string]struct {
		after ticks
		own   time.Duration
		want  float64
		ok    bool
	}{
		"nobody":                   {ticks{1000, 9100}, 0, 0, true},
		"others":                   {ticks{1050, 9050}, 0, 0.5, true},
		"others, and this process": {ticks{1050, 9050}, 300 * time.Millisecond, 0.2, true},
		"this process":             {ticks{1030, 9070}, 304 * time.Millisecond, 0, true},
		"no time":                  {before, 0, 0, false},
		"backwards":                {ticks{900, 9200}, 0, 0, false},
	} {
		if got, ok := tt.after.others(before, tt.own); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %v, %t", name, got, ok)
		}
	}
}

// TestOthers measures this machine under any load.
func TestOthers(t *testing.T) {
	if share, ok := Others(t.Context(), 100*time.Millisecond); !ok || share < 0 || share > 1 {
		t.Errorf("%v, %t", share, ok)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if share, ok := Others(ended, time.Hour); ok {
		t.Errorf("interrupted: %v", share)
	}
}
