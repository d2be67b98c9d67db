package matrix

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
)

// lines are what go test -json prints, of package recipes/locks.
func lines(events ...string) string {
	var text strings.Builder
	for _, e := range events {
		text.WriteString(`{"Package":"github.com/go-curator/curator/recipes/locks",` + e + "}\n")
	}
	return text.String()
}

// verdict is what the judge is to say.
type verdict struct {
	version string
	output  string // of go test -json
	want    string // a part of the only problem; "" for none
	refused int
}

const (
	table = "3.6\trecipes/locks\tTestOld/real\tErrUnimplemented\n" +
		"keeper\trecipes/locks\tTestCut/*\tsession expired\nkeeper?\trecipes/locks\tTestRace\tsession expired\n"
	expired = "session expired"
)

func passing(test string) string {
	return lines(`"Action":"run","Test":"`+test+`"`, `"Action":"pass","Test":"`+test+`"`)
}

func failing(test, text string) string {
	return lines(`"Action":"run","Test":"`+test+`"`, `"Action":"output","Test":"`+test+`","Output":"`+text+`"`,
		`"Action":"fail","Test":"`+test+`"`)
}

// TestJudge gives the judge results, and looks at what it does not like about them.
func TestJudge(t *testing.T) {
	t.Parallel()
	ended, failed := lines(`"Action":"pass"`), lines(`"Action":"fail"`)
	unimplemented := framework.ErrUnimplemented.Error()
	passes, cut := passing("TestA"), failing("TestCut/a", expired)+failing("TestCut", "")
	judge(t, map[string]verdict{
		"all pass":                          {"3.8.6", passes + ended, "", 0},
		"a case of the table fails":         {"3.5.10", passes + failing("TestOld/real", "x: "+unimplemented) + failing("TestOld", "") + failed, "", 1},
		"it fails on a release that has it": {"3.6.4", passes + failing("TestOld/real", unimplemented) + failing("TestOld", "") + failed, "TestOld/real: fail", 0},
		"it fails otherwise":                {"3.5.10", passes + failing("TestOld/real", "a bad day") + failing("TestOld", "") + failed, "without the error", 0},
		"it passes": {
			"3.5.10", passes + passing("TestOld/real") + ended, "must fail on 3.5.10: pass", 0,
		},
		"one for a Keeper fails on an old release": {
			"3.5.10", passes + failing("TestOld/real", unimplemented) + failing("TestOld", "") + cut + failed, "TestCut/a: fail", 1,
		},
		"it is not run":                   {"3.5.10", passes + ended, "TestOld/real of the table was not run, or", 0},
		"another fails":                   {"3.8.6", passes + failing("TestB", "a bad day") + failed, "TestB: fail\na bad day", 0},
		"one is skipped":                  {"3.8.6", passes + lines(`"Action":"skip","Test":"TestB"`) + ended, "TestB: skip", 0},
		"a test fails, not what it holds": {"3.8.6", passes + lines(`"Action":"pass","Test":"TestB/c"`) + failing("TestB", "left over") + failed, "TestB: fail\nleft over", 0},
		"one holds a case of the table, and fails itself": {
			"3.5.10", passes + failing("TestOld/real", unimplemented) + failing("TestOld", `    x_test.go:1: left over`) + failed, "left over", 1,
		},
		"one does not end":  {"3.8.6", passes + lines(`"Action":"run","Test":"TestB"`) + failing("TestC", "") + failed, "TestB has begun", 0},
		"the package fails": {"3.8.6", passes + lines(`"Action":"output","Output":"suite: a goroutine is left\n"`) + failed, "a goroutine is left", 0},
		"the package fails, too": {
			"3.5.10", passes + failing("TestOld/real", unimplemented) + failing("TestOld", "") + lines(`"Action":"output","Output":"suite: a goroutine is left\n"`) + failed,
			"a goroutine is left", 1,
		},
		"it is not built": {
			"3.8.6", passes + ended + `{"ImportPath":"github.com/go-curator/curator/state [x.test]","Action":"build-output","Output":"state.go:1: no\n"}` + "\n" +
				`{"Package":"github.com/go-curator/curator/state","Action":"fail"}` + "\n",
			"state.go:1: no", 0,
		},
		"nothing is run": {"3.8.6", "", "no test has passed", 0},
	})
}

// TestJudgeKeeper is TestJudge with a Keeper.
func TestJudgeKeeper(t *testing.T) {
	t.Parallel()
	ended, failed := lines(`"Action":"pass"`), lines(`"Action":"fail"`)
	passes, cut := passing("TestA"), failing("TestCut/a", expired)+failing("TestCut", "")
	judge(t, map[string]verdict{
		"one of several fails, and the uncertain one": {
			Keeper, passes + cut + passing("TestCut/b") + failing("TestRace", expired) + failed, "", 2,
		},
		"the uncertain one passes": {Keeper, passes + cut + passing("TestRace") + failed, "", 1},
		"none of several fails":    {Keeper, passes + passing("TestCut/b") + passing("TestRace") + ended, "TestCut/* of the table was not run, or", 0},
		"one of several fails otherwise": {
			Keeper, passes + cut + failing("TestCut/b", "a bad day") + passing("TestRace") + failed, "without the error", 1,
		},
		"one is skipped": {
			Keeper, passes + cut + passing("TestRace") + lines(`"Action":"skip","Test":"TestB"`) + failed, "", 1,
		},
		"one for old releases fails": {
			Keeper, passes + cut + passing("TestRace") + failing("TestOld/real", "x") + failed, "TestOld/real: fail", 1,
		},
	})
}

func judge(t *testing.T, all map[string]verdict) {
	t.Helper()
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases, err := parse(table)
			if err != nil {
				t.Fatal(err)
			}
			results, err := read(strings.NewReader(c.output))
			if err != nil {
				t.Fatal(err)
			}
			v := Judge(c.version, results, cases)
			problems := slices.DeleteFunc(slices.Clone(v.Problems), func(p string) bool { // its own "fail" of a container says less
				return strings.Contains(p, "TestC: fail")
			})
			if c.want == "" && len(problems) > 0 || c.want != "" && (len(problems) != 1 || !strings.Contains(problems[0], c.want)) {
				t.Errorf("problems %q, want %q", problems, c.want)
			}
			if len(v.Refused) != c.refused {
				t.Errorf("%d refused, want %d", len(v.Refused), c.refused)
			}
			if (v.Err() == nil) != (len(v.Problems) == 0) {
				t.Errorf("the error %v", v.Err())
			}
		})
	}
}

// TestReadRefusesOtherText gives read what go test does not print.
func TestReadRefusesOtherText(t *testing.T) {
	t.Parallel()
	if _, err := read(strings.NewReader("panic: no JSON")); err == nil {
		t.Error("no error")
	}
}

// TestTable reads the table, and refuses some that are wrong.
func TestTable(t *testing.T) {
	t.Parallel()
	table, err := Table()
	if err != nil || len(table) == 0 {
		t.Errorf("%d cases, error %v", len(table), err)
	}
	for _, wrong := range []string{"3.6\ta\tTestA", "3.6\ta\tTestA\t", "x\ta\tTestA\ttext", "3.6\ta\tTestA\ttext\n3.7\ta\tTestA\ttext"} {
		if _, err := parse(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// TestBefore compares versions as numbers.
func TestBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, since string
		want           bool
	}{{"3.5.10", "3.6", true}, {"3.5.10", "3.5.9", false}, {"3.6.4", "3.6", false}, {"3.10.0", "3.9", false}, {"3.7.1", "3.7.2", true}} {
		if got := Before(c.version, c.since); got != c.want {
			t.Errorf("%s before %s: %t", c.version, c.since, got)
		}
	}
}

// TestAt finds the version of a release by its jar.
func TestAt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if _, err := At(home); err == nil {
		t.Error("an empty directory is a release")
	}
	if err := os.Mkdir(filepath.Join(home, "lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, jar := range []string{"zookeeper-jute-3.9.5.jar", "zookeeper-3.9.5.jar"} {
		if err := os.WriteFile(filepath.Join(home, "lib", jar), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := At(home); err != nil || r.Version != "3.9.5" || r.Home != home {
		t.Errorf("%v, %v", r, err)
	}
}

// TestPage has a table of two releases.
func TestPage(t *testing.T) {
	t.Parallel()
	shown := Case{"framework", "TestAdd/real"}
	column := func(version, action string) Column {
		return Column{Version: version, Results: Results{Cases: map[Case]Result{shown: {Action: action}}}, Verdict: Verdict{Passed: 7}}
	}
	features := []Feature{{"persistent watches", []Case{shown}, "`ErrUnimplemented`"}}
	page, err := Page([]Column{column("3.5.10", "fail"), column("3.6.4", "pass")}, features)
	if err != nil || !strings.Contains(page, "| persistent watches | no | yes | `ErrUnimplemented` |\n") || !strings.Contains(page, "| 7 | 7 |") {
		t.Errorf("%v:\n%s", err, page)
	}
	features[0].Shown = append(features[0].Shown, Case{"framework", "TestGone"})
	if _, err := Page([]Column{column("3.6.4", "pass")}, features); err == nil {
		t.Error("a case that was not run shows something")
	}
}

// TestFeaturesAreShown sees that each feature has a case.
func TestFeaturesAreShown(t *testing.T) {
	t.Parallel()
	for _, f := range Features() {
		if len(f.Shown) == 0 || f.Name == "" {
			t.Errorf("%+v", f)
		}
	}
}
