package model_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/verify/model"
)

// TestFamilies explores what is said to hold, to the end. The race detector makes it about ten times
// slower, so under it the families are fewer; make model explores all.
func TestFamilies(t *testing.T) {
	t.Parallel()
	total := 0
	for _, family := range model.Families(tier) {
		for _, cfg := range family.Configs {
			t.Run(cfg.Name, func(t *testing.T) {
				r := model.Explore(t.Context(), cfg, model.Limits{})
				total += r.States
				t.Logf("%d states, %d steps, depth %d, %v", r.States, r.Steps, r.Depth, r.Took)
				if r.Violation != "" || !r.Complete {
					t.Errorf("complete: %v; %s:\n%s", r.Complete, r.Violation, strings.Join(r.Trace, "\n"))
				}
			})
		}
	}
	t.Logf("%d states in all", total)
}

// TestMistakes sees that each algorithm that is wrong on purpose is found to be wrong, by what it
// breaks.
func TestMistakes(t *testing.T) {
	t.Parallel()
	all := model.Mistakes(tier)
	t.Logf("%d of %d mistakes", len(all), len(model.Mistakes(model.Table)))
	for _, cfg := range all {
		t.Run(cfg.Name, func(t *testing.T) {
			r := model.Explore(t.Context(), cfg, model.Limits{})
			t.Logf("%d states, %d steps to the violation, %v", r.States, r.Depth, r.Took)
			if !strings.HasPrefix(r.Violation, cfg.Expect) || r.Violation == "" {
				t.Errorf("found %q, want %s", r.Violation, cfg.Expect)
			}
		})
	}
}

// TestLimits sees that an exploration that was not ended says so.
func TestLimits(t *testing.T) {
	t.Parallel()
	cfg := model.Families(model.Race)[0].Configs[4]
	if r := model.Explore(t.Context(), cfg, model.Limits{States: 1000}); r.Complete || r.Violation != "" {
		t.Errorf("%+v after a limit of 1000 states", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := model.Explore(ctx, cfg, model.Limits{}); r.Complete {
		t.Errorf("%+v after the end of the context", r)
	}
}
