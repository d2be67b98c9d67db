package matrix

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-curator/curator/framework"
)

// Expected is a case that must fail on releases that do not have what it tests. A part of its name can be *, which stands
// for any name. Then it is all cases with such a name: at least one of them must fail.
type Expected struct {
	Since string // the first release in which it passes, such as 3.6; or Keeper, or maybeKeeper
	Case
	Error string // what its output must contain: the name of an error of package framework, or a text
}

// maybeKeeper is Keeper, for cases that may pass.
const maybeKeeper = Keeper + "?"

//go:embed expected.txt
var expected string

// Table returns the cases of expected.txt.
func Table() ([]Expected, error) { return parse(expected) }

func parse(text string) (all []Expected, err error) {
	seen := map[Expected]bool{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 4 || slices.Contains(fields, "") {
			return nil, fmt.Errorf("expected.txt:%d: %q has not four fields with tabs between them", i+1, line)
		}
		e := Expected{fields[0], Case{fields[1], fields[2]}, fields[3]}
		row := e // whatever the release
		if _, err := number(e.Since); err == nil {
			row.Since = ""
		} else if e.Since != Keeper && e.Since != maybeKeeper {
			return nil, fmt.Errorf("expected.txt:%d: %w", i+1, err)
		}
		if seen[row] {
			return nil, fmt.Errorf("expected.txt:%d: %v is there twice", i+1, e)
		}
		seen[row] = true
		all = append(all, e)
	}
	return all, nil
}

// typed are the errors that the table calls by their names.
var typed = map[string]error{
	"ErrUnimplemented": framework.ErrUnimplemented,
}

// at tells whether the case must fail on a release.
func (e Expected) at(version string) bool {
	if version == Keeper {
		return e.Since == Keeper || e.Since == maybeKeeper
	}
	return Before(version, e.Since) // of which Keeper is none
}

// says is what the output of the case must contain.
func (e Expected) says() string {
	if err := typed[e.Error]; err != nil {
		return err.Error()
	}
	return e.Error
}

// many tells whether it stands for several cases.
func (e Expected) many() bool { return strings.Contains(e.Test, "*") }

// is tells whether it stands for a case.
func (e Expected) is(c Case) bool {
	if e.Package != c.Package || !e.many() {
		return e.Case == c
	}
	want, parts := strings.Split(e.Test, "/"), strings.Split(c.Test, "/")
	return slices.EqualFunc(want, parts, func(want, part string) bool { return want == "*" || want == part })
}

// Before tells whether a version such as 3.5.10 is before one such as 3.6.
func Before(version, since string) bool {
	a, errA := number(version)
	b, errB := number(since)
	return errA == nil && errB == nil && slices.Compare(a, b) < 0
}

func number(version string) (parts []int, err error) {
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is no version", version)
		}
		parts = append(parts, n)
	}
	return parts, nil
}

// Verdict is what the results of a release say.
type Verdict struct {
	Passed   int
	Refused  []Expected // the cases of the table, which failed as they must
	Problems []string   // everything else that did not pass
}

// Judge compares the results of a release with the table. On a Keeper tests are skipped that need real servers.
func Judge(version string, r Results, table []Expected) Verdict {
	var v Verdict
	must := slices.DeleteFunc(slices.Clone(table), func(e Expected) bool {
		_, ran := r.Packages[e.Package]
		return !ran || !e.at(version)
	})
	seen := map[Expected]bool{}
	contain, failedBelow := r.containers(func(Result) bool { return true }), r.containers(failed)
	for c, result := range r.Cases {
		var rows []string // what those of the table that are about it say
		var as *Expected  // the one that says how it has failed
		one := false      // whether one is about it alone, and says that it must fail
		for i, e := range must {
			if !e.is(c) {
				continue
			}
			rows, one = append(rows, e.says()), one || !e.many() && e.Since != maybeKeeper
			seen[e] = seen[e] || !e.many() || e.Since == maybeKeeper
			if failed(result) && strings.Contains(result.Output, e.says()) {
				as, seen[e] = &must[i], true
			}
		}
		switch {
		case as != nil:
			v.Refused = append(v.Refused, Expected{Since: as.Since, Case: c, Error: as.Error})
		case len(rows) > 0 && failed(result):
			v.problem("%v failed without the error that it must get, %q:\n%s", c, rows, result.Output)
		case one:
			v.problem("%v must fail on %s: %s", c, version, result.Action)
		case contain[c] && result.Action == "pass": // what it contains says more
		case contain[c] && failedBelow[c] && !own.MatchString(result.Output): // so does what has failed there
		case result.Action == "pass":
			v.Passed++
		case result.Action == "skip" && version == Keeper:
		default:
			v.problem("%v: %s\n%s", c, result.Action, result.Output)
		}
	}
	for _, e := range must {
		if !seen[e] {
			v.problem("%v of the table was not run, or has not failed with %q", e.Case, e.says())
		}
	}
	if len(r.Packages) == 0 || v.Passed == 0 {
		v.problem("no test has passed")
	}
	v.judgePackages(r)
	slices.Sort(v.Problems)
	slices.SortFunc(v.Refused, func(a, b Expected) int { return strings.Compare(a.String(), b.String()) })
	return v
}

// broken is what a package prints that ends in the midst of a test, or leaves something behind.
var broken = regexp.MustCompile(`(?m)^(panic: |fatal error: |signal: |suite: |curatortest: |WARNING: DATA RACE)`)

// own is a line that a test has written itself, and none of those that it contains.
var own = regexp.MustCompile(`(?m)^    \S+\.go:\d+: `)

// judgePackages reports packages that failed for another reason than a test that failed: they did not build, ended
// in the midst of a test, or left something behind.
func (v *Verdict) judgePackages(r Results) {
	withFailed := map[string]bool{}
	for c, result := range r.Cases {
		withFailed[c.Package] = withFailed[c.Package] || failed(result)
	}
	for name, result := range r.Packages {
		if failed(result) && (!withFailed[name] || broken.MatchString(result.Output)) {
			v.problem("package %s failed, and not only by its tests:\n%s", name, result.Output)
		}
	}
	for c := range r.Unfinished {
		v.problem("%v has begun, and has not ended", c)
	}
}

func failed(r Result) bool { return r.Action == "fail" }

// containers returns the tests that contain others whose results are as which wants.
func (r Results) containers(which func(Result) bool) map[Case]bool {
	all := map[Case]bool{}
	for c, result := range r.Cases {
		for i, letter := range c.Test {
			if letter == '/' && which(result) {
				all[Case{c.Package, c.Test[:i]}] = true
			}
		}
	}
	return all
}

func (v *Verdict) problem(format string, args ...any) {
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

// Err is nil if the verdict has no problem.
func (v Verdict) Err() error {
	if len(v.Problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(v.Problems, "\n"))
}
