package chaos_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/verify/chaos"
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

// A short run for the checks that are exact: every workload is served, also by the end of the faults. make
// chaos makes longer ones, and compares them with the model.
func TestShort(t *testing.T) {
	report, err := chaos.Run(t.Context(), chaos.Config{Duration: 10 * time.Second, Pace: 0.5, Seed: 1, WithoutModel: true, Skipf: t.Skipf})
	if err != nil {
		t.Fatal(err)
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
	if report.Effects == 0 || report.Rounds == 0 || report.Snapshots == 0 || report.Writes == 0 || report.Faults() == 0 {
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
		"half a millisecond":     {Session: 4*time.Second + 500*time.Microsecond},
	} {
		if report, err := chaos.Run(t.Context(), c); err == nil || !strings.HasPrefix(err.Error(), "chaos: ") {
			t.Errorf("%s: the error %v, and %v", name, err, report)
		}
	}
}
