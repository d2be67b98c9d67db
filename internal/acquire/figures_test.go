package acquire_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/acquire"
)

// figures says how much of the counted packages a case goes through.
type figures struct {
	// files is the number of files with a function that was entered.
	files int
	// calls is the number of pairs of functions in different files of which the first called the second, once
	// or more often. A function literal counts as the function that contains it. A function that another
	// package of this module calls, for example internal/zkclient, has no caller in these pairs.
	calls int
}

// ceilings has the present figures of each case. They may only fall.
var ceilings = map[string]figures{
	"TestFree":      {files: 22, calls: 59},
	"TestContended": {files: 23, calls: 69},
}

// route has the files and the calls of a case, sorted.
type route struct{ files, calls []string }

func (r route) figures() figures { return figures{len(r.files), len(r.calls)} }

// routeOf returns the route of the recorded calls.
func routeOf(recorded []acquire.Call, all declarations) route {
	files, calls := map[string]bool{}, map[string]bool{}
	for _, call := range recorded {
		callee, ok := all.at(call.Callee)
		if !ok {
			continue
		}
		files[callee.name] = true
		if caller, ok := all.at(call.Caller); ok && caller.path != callee.path {
			calls[fmt.Sprintf("%s %s -> %s %s", caller.name, caller.function, callee.name, callee.function)] = true
		}
	}
	return route{slices.Sorted(maps.Keys(files)), slices.Sorted(maps.Keys(calls))}
}

// judge compares the figures of a case with its ceiling, and returns what is wrong.
func judge(name string, got, ceiling figures) string {
	switch {
	case got.files > ceiling.files:
		return fmt.Sprintf("%s enters %d files, and at most %d are allowed; put what belongs together into one file", name, got.files, ceiling.files)
	case got.calls > ceiling.calls:
		return fmt.Sprintf("%s has %d calls from file to file, and at most %d are allowed; move functions to their callers", name, got.calls, ceiling.calls)
	case got != ceiling:
		return fmt.Sprintf("lower the ceiling of %s in internal/acquire to %d files and %d calls", name, got.files, got.calls)
	}
	return ""
}

// TestFigures compares the files and the calls of each case with the ceilings, and prints them with -v.
func TestFigures(t *testing.T) {
	binary, all := build(t)
	for _, name := range slices.Sorted(maps.Keys(ceilings)) {
		t.Run(name, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "record.json")
			out := run(t, exec.Command(binary, "-test.run", "^"+name+"$", "-record", record))
			text, err := os.ReadFile(record)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			var recorded []acquire.Call
			if err := json.Unmarshal(text, &recorded); err != nil {
				t.Fatal(err)
			}
			r := routeOf(recorded, all)
			if testing.Verbose() {
				t.Logf("%d files:\n\t%s\n%d calls:\n\t%s", len(r.files), strings.Join(r.files, "\n\t"), len(r.calls), strings.Join(r.calls, "\n\t"))
			}
			if wrong := judge(name, r.figures(), ceilings[name]); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

func TestRoute(t *testing.T) {
	a, b := sourceFile{"/a.go", "a.go"}, sourceFile{"/b.go", "b.go"}
	all := declarations{{a, "f", 1, 3}, {a, "g", 4, 6}, {b, "h", 1, 9}}
	f, g, h := acquire.Place{File: a.path, Line: 1}, acquire.Place{File: a.path, Line: 6}, acquire.Place{File: b.path, Line: 5}
	elsewhere := acquire.Place{File: "/c.go", Line: 1}
	for name, tt := range map[string]struct {
		recorded []acquire.Call
		want     figures
	}{
		"nothing":               {nil, figures{}},
		"from elsewhere":        {[]acquire.Call{{Callee: f, Caller: elsewhere}, {Callee: h}}, figures{2, 0}},
		"to elsewhere":          {[]acquire.Call{{Callee: elsewhere, Caller: f}}, figures{}},
		"within a file":         {[]acquire.Call{{Callee: g, Caller: f}}, figures{1, 0}},
		"across":                {[]acquire.Call{{Callee: h, Caller: f}, {Callee: h, Caller: g}}, figures{1, 2}},
		"from two lines of one": {[]acquire.Call{{Callee: h, Caller: f}, {Callee: h, Caller: acquire.Place{File: f.File, Line: 2}}}, figures{1, 1}},
		"both ways":             {[]acquire.Call{{Callee: h, Caller: f}, {Callee: f, Caller: h}}, figures{2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := routeOf(tt.recorded, all).figures(); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	for want, got := range map[string]figures{
		"":                             {2, 3},
		"enters 3 files":               {3, 3},
		"has 4 calls":                  {1, 4},
		"lower the ceiling of c":       {1, 3},
		"to 2 files and 2 calls":       {2, 2},
		"and at most 2 are allowed":    {3, 1},
		"file, and at most 3 are allo": {2, 4},
	} {
		if wrong := judge("c", got, figures{2, 3}); !strings.Contains(wrong, want) || (wrong == "") != (want == "") {
			t.Errorf("%+v: judged %q, want %q", got, wrong, want)
		}
	}
}
