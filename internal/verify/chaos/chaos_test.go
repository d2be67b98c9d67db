package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/verify/chaos"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/tools/curatortest"
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

// An operation takes the place of the faults: workers keep their leases, unless it is one that costs them. Its
// error is that of the run.
func TestOperate(t *testing.T) {
	c := chaos.Config{Workers: 1, Workloads: []string{"mutex"}, WithoutModel: true, Skipf: t.Skipf, Session: 10 * time.Second}
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		do   func(servers *curatortest.Ensemble) error
		want string
	}{
		"a restart":         {func(servers *curatortest.Ensemble) error { servers.Member(0).Restart(); return nil }, ""},
		"a failure of a TB": {func(servers *curatortest.Ensemble) error { servers.Member(7); return broken }, "Member(7)"},
	} {
		report, err := chaos.Operate(t.Context(), c, chaos.Operation{
			Servers: []curatortest.Option{curatortest.WithAdminServer()},
			Do: func(ctx context.Context, servers *curatortest.Ensemble, note func(history.Event)) error {
				if servers.Member(0).AdminPort() == 0 {
					t.Error("the servers do not have the option")
				}
				note(history.Event{At: history.Now(), Kind: history.Fault, Text: name})
				return tt.do(servers)
			},
		})
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		noted := slices.ContainsFunc(report.Events(), func(e history.Event) bool { return e.Kind == history.Fault && e.Text == name })
		if len(report.Violations) > 0 || report.Losses > 0 || report.Holds["mutex"] == 0 || !noted {
			t.Errorf("%s: noted %t, %v", name, noted, report)
		}
	}
}
