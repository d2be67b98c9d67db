package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/verify/matrix"
	"github.com/go-curator/curator/internal/verify/mutants"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { suite.Main(m) }

// Invalid flags are errors before anything is started.
func TestMisuse(t *testing.T) {
	for name, all := range map[string][][]string{
		"chaos": {
			{"-unknown"}, {"more"}, {"-duration", "x"}, {"-workloads", "none"}, {"-faults", "server-killed,none"}, {"-session", "1ms"}, {"-session", "4.0005s"},
			{"-runs", "0"}, {"-runs", "2", "-log", "x"}, {"-workloads", ""}, {"-faults", ","},
		},
		"ensemble": {
			{"-scenarios", "Z"}, {"-policies", "none"}, {"-timeouts", "1s"}, {"-timeouts", "x"}, {"-rule", "x"},
			{"-pairs", "0"}, {"-rounds", "0"}, {"-ensembles", "0"}, {"-timeouts", ""}, {"-policies", ","}, {"-scenarios", ","},
			{"-unknown"}, {"more"},
		},
		"explore": {{"-run", "("}, {"-tier", "x"}, {"-only", "x"}, {"-workers", "0"}, {"-run", "there is none"}, {"-unknown"}, {"more"}},
		"load": {
			{"-clients", "0"}, {"-servers", "0"}, {"-timeouts", "3x"}, {"-window", "-1s"}, {"-proofs", "ping"}, {"extra"},
			{"-timeouts", ""}, {"-proofs", ","},
		},
		"matrix": {{}, {"-homes", ""}, {"-homes", "/no/such/release"}, {"-packages", ""}, {"-packages", "a,b,c,d,e", "-write", "x"}, {"-keeper", "-write", "x"}, {"-keeper", "-packages", ""}, {"-unknown"}, {"more"}},
		"rolling": {
			{}, {"-homes", ""}, {"-homes", "/no/such/release"}, {"-homes", "/no/such/release,/nor/this"}, {"-session", "x"}, {"-unknown"}, {"more"},
		},
		"mutants": {{"-run", "("}, {"-run", "there is none"}, {"-unknown"}, {"more"}},
	} {
		for _, args := range all {
			err := run(t.Context(), append([]string{name}, args...), io.Discard, io.Discard)
			if err == nil || errors.Is(err, flag.ErrHelp) || errors.Is(err, curatortest.ErrNotInstalled) || !strings.HasPrefix(err.Error(), name+": ") {
				t.Errorf("%s %v: %v", name, args, err)
			}
		}
	}
}

// Help says what there is, and a subcommand's what it does.
func TestHelp(t *testing.T) {
	for want, args := range map[string][]string{
		"  ensemble  break": nil,
		"  load      meas":  {"unknown"},
		"- MC: as C, ":      {"ensemble", "-h"},
		"-only string":      {"explore", "-help"},
	} {
		var out strings.Builder
		if err := run(t.Context(), args, io.Discard, &out); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), want) {
			t.Errorf("%v: %v, no %q in\n%s", args, err, want, &out)
		}
	}
}

// One in ten may be undecided, and of a few one.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		compared, undecided int
		fails               bool
	}{{0, 0, false}, {3, 3, false}, {10, 1, false}, {10, 2, true}, {30, 3, false}, {30, 4, true}} {
		if err := judge(c.compared, c.undecided); (err != nil) != c.fails {
			t.Errorf("%d of %d: %v", c.undecided, c.compared, err)
		}
	}
}

// TestMatrix gives the subcommand results of two releases: what is wrong on one is the error, with its release.
func TestMatrix(t *testing.T) {
	c := matrix.Case{Package: "recipes/locks", Test: "TestA"}
	for name, tt := range map[string]struct {
		action  string
		err     error
		want    string // a part of the error
		printed string
	}{
		"all pass":     {"pass", nil, "", "3.9.5: 1 cases passed, 0 failed with the error that they must get, 0 problems, in 0s\n"},
		"one fails":    {"fail", nil, "3.9.5: no test has passed", "3.9.5: 0 cases passed, 0 failed with the error that they must get, 2 problems, in 0s\n"},
		"they can not": {"pass", errors.New("no go"), "3.9.5: no go", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := crossed{releases: []matrix.Release{{Version: "3.8.6"}, {Version: "3.9.5"}}, packages: []string{"./recipes/locks"}}
			m.test = func(_ context.Context, _ string, r matrix.Release, _ []string, _ io.Writer) (matrix.Results, error) {
				action, err := "pass", error(nil)
				if r.Version == "3.9.5" {
					action, err = tt.action, tt.err
				}
				results := matrix.Results{
					Cases:    map[matrix.Case]matrix.Result{c: {Action: action}},
					Packages: map[string]matrix.Result{c.Package: {Action: action}},
				}
				return results, err
			}
			var out strings.Builder
			err := m.run(t.Context(), &out, io.Discard)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if !strings.HasSuffix(out.String(), tt.printed) {
				t.Errorf("printed %q, want %q", &out, tt.printed)
			}
		})
	}
}

// TestMutants sees that the table is written into the page only if it has all mutants.
func TestMutants(t *testing.T) {
	survives := errors.New("survives")
	const head = "| mutant | breaks | caught by | after |\n| --- | --- | --- | --- |\n"
	first, second := "| first | A | `TestA` in `recipes/locks` | 0s |\n", "| second | B | **nothing** | 0s |\n"
	for name, tt := range map[string]struct {
		filter    string
		interrupt string // the mutant during whose test the run is interrupted
		want      error
		printed   string
		written   bool
	}{
		"all":                        {"", "", survives, first + second, true},
		"narrowed":                   {"first", "", nil, first, false},
		"narrowed to all":            {"first|second", "", survives, first + second, true},
		"interrupted":                {"", "second", context.Canceled, first, false},
		"interrupted at once":        {"", "first", context.Canceled, "", false},
		"narrowed, then interrupted": {"first", "first", context.Canceled, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			page := filepath.Join(t.TempDir(), "page.md")
			before := "before\n" + mutantsTable.begin + "\nthe old table\n" + mutantsTable.end + "\nafter\n"
			if err := os.WriteFile(page, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			r := mutation{
				all:    []mutants.Mutant{{Name: "first", Breaks: "A", Package: "recipes/locks"}, {Name: "second", Breaks: "B"}},
				filter: regexp.MustCompile(tt.filter), write: page, workers: 1,
				test: func(ctx context.Context, m mutants.Mutant) (mutants.Outcome, error) {
					switch m.Name {
					case tt.interrupt:
						cancel()
						return mutants.Outcome{}, ctx.Err()
					case "first":
						return mutants.Outcome{CaughtBy: []string{"TestA"}}, ctx.Err()
					default:
						return mutants.Outcome{}, cmp.Or(ctx.Err(), survives)
					}
				},
			}
			var out, progress strings.Builder
			if err := r.run(ctx, &out, &progress); !errors.Is(err, tt.want) {
				t.Errorf("the error %v, want %v", err, tt.want)
			}
			if out.String() != head+tt.printed {
				t.Errorf("printed\n%s", &out)
			}
			want := before
			if tt.written {
				want = "before\n" + mutantsTable.begin + "\n" + head + tt.printed + mutantsTable.end + "\nafter\n"
			}
			if got, err := os.ReadFile(page); err != nil || string(got) != want {
				t.Errorf("%v, the page is\n%s", err, got)
			}
			if tt.written == strings.Contains(progress.String(), "stays as it is") {
				t.Errorf("told %q", &progress)
			}
		})
	}
}

// TestEnsemble makes a fault with two pairs. The fault ends so early that no lease may be lost.
func TestEnsemble(t *testing.T) {
	t.Parallel()
	var out, progress bytes.Buffer
	// With this seed the fault is short, so that even a slow machine has half a timeout left.
	args := strings.Fields("ensemble -scenarios L -policies session -timeouts 20s -pairs 2 -rounds 1 -seed 48")
	err := run(t.Context(), args, &out, &progress)
	if errors.Is(err, curatortest.ErrNotInstalled) {
		curatortest.Real(t) // fails or skips the test
	}
	if err != nil {
		t.Errorf("run: %v", err)
	}
	row, _, _ := strings.Cut(out.String(), "\n| all")
	if !strings.Contains(row, "| L | session | 20s | 2 | 0 |") || !strings.HasSuffix(row, "| 2 | 0 |") {
		t.Errorf("%s%s", out.String(), progress.String())
	}
}

// TestLoad runs the whole command with few clients.
func TestLoad(t *testing.T) {
	t.Parallel()
	suite.Real(t) // fails or skips the test where there is no server
	var out strings.Builder
	err := run(t.Context(), strings.Fields("load -clients 3 -timeouts 4s -proofs sync -window 1s"), &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"4s | sync | idle", "4s | sync | holding"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("there is no row %q in\n%s", row, &out)
		}
	}
}
