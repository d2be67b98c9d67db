package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/chaos"
)

func TestMain(m *testing.M) {
	if was, err := chaos.Work(context.Background()); was {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// A short run, from another seed each time. make chaos makes longer ones.
func TestShort(t *testing.T) {
	c := chaos.Config{Duration: 30 * time.Second, Seed: rand.Uint64N(1e9), Skipf: t.Skipf}
	t.Logf("seed %d", c.Seed)
	report, err := chaos.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("seed %d: %v", c.Seed, err)
	}
	if len(report.Violations) > 0 {
		t.Fatal(report)
	}
	t.Log(report)
	if os.Getenv("CI") == "true" && len(report.Absent) > 0 {
		t.Errorf("not installed: %v", report.Absent)
	}
	for _, name := range []string{"mutex", "read-write", "downgrades", "semaphore", "lease", "multi", "handover", "lock-delay", "latch", "selector"} {
		if report.Holds[name] == 0 {
			t.Errorf("no hold of %s was checked", name)
		}
	}
	if len(report.Replayed) != 3 {
		t.Errorf("%d locks were compared with the model, want 3", len(report.Replayed))
	}
	if report.Effects == 0 || report.Rounds == 0 || report.Counted == 0 || report.Waits == 0 || report.Snapshots == 0 || report.Writes == 0 || report.Faults() < 20 {
		t.Errorf("too little has happened: %v", report)
	}
}

func TestMisuse(t *testing.T) {
	for name, c := range map[string]chaos.Config{
		"a negative duration":    {Duration: -1},
		"an unknown workload":    {Workloads: []string{"none"}},
		"an unknown fault":       {Faults: []string{"none"}},
		"too few for a barrier":  {Workers: 2},
		"milliseconds from Java": {Session: 4000},
	} {
		if report, err := chaos.Run(t.Context(), c); err == nil {
			t.Errorf("%s: no error, and %v", name, report)
		}
	}
}
