package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An entry can be run as it stands: its files are there, and its reasons are about its own faults.
func TestEntries(t *testing.T) {
	names := map[string]bool{}
	for _, p := range programs() {
		if names[p.name] || p.title == "" || p.module == "" || p.version == "" || p.driver == "" || len(p.suites) == 0 {
			t.Errorf("%+v is not complete", p)
		}
		names[p.name] = true
		var texts strings.Builder
		for _, s := range p.suites {
			if s.timeout == 0 || s.pkg == "" || s.faults && s.file == "" {
				t.Errorf("%s: %+v is not complete", p.name, s)
			}
			if s.file == "" {
				continue
			}
			text, err := testFiles.ReadFile("testdata/" + s.file)
			if err != nil {
				t.Error(err)
			}
			texts.Write(text)
			if s.faults && !bytes.Contains(text, []byte("func TestFaults(")) {
				t.Errorf("%s has no TestFaults", s.file)
			}
		}
		for name := range p.weak {
			if !strings.Contains(texts.String(), `t.Run("`+strings.ReplaceAll(name, "_", " ")+`"`) {
				t.Errorf("%s: there is no fault %s", p.name, name)
			}
		}
	}
}

func TestChangeImports(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", "package a\r\n\nimport stdzk \""+goZookeeper+"\"\n// "+goZookeeper+"\nvar x = stdzk.X")
	write("a_test.go", "package a\n\nimport (\n\t\""+goZookeeper+"\"\n)\n")
	write("b.go", "package a\n\nimport \""+goZookeeper+"/other\"\n")
	write("c.txt", "\""+goZookeeper+"\"\n")
	if err := os.Chmod(filepath.Join(dir, "a.go"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "a_test.go"), 0o644); err != nil {
		t.Fatal(err)
	}
	lines, err := changeImports(dir, goZookeeper, shim)
	if err != nil || lines != (changed{code: 1, tests: 1, files: 2}) {
		t.Errorf("%+v, %v", lines, err)
	}
	for name, want := range map[string]string{
		"a.go":      "package a\r\n\nimport stdzk \"" + shim + "\"\n// " + goZookeeper + "\nvar x = stdzk.X",
		"a_test.go": "package a\n\nimport (\n\t\"" + shim + "\"\n)\n",
		"b.go":      "package a\n\nimport \"" + goZookeeper + "/other\"\n",
		"c.txt":     "\"" + goZookeeper + "\"\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestApply(t *testing.T) {
	c := &copied{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(c.dir, "a.go"), []byte("one\ntwo\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for from, ok := range map[string]bool{"one\n": true, "two": false, "three": false} {
		if err := c.apply(edit{"a.go", from, ""}); (err == nil) != ok {
			t.Errorf("%q: %v", from, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(c.dir, "a.go")); err != nil || string(got) != "two\ntwo\n" || c.lines != (changed{code: 1}) {
		t.Errorf("%q, %v, %+v", got, err, c.lines)
	}
}

func TestRead(t *testing.T) {
	o, other, err := read(strings.NewReader(`{"Action":"start"}
not JSON
{"Action":"output","Output":"ok\n"}
{"Action":"output","Test":"TestFaults/a","Output":"    x_test.go:1: measured: two leaders for 1s\n"}
{"Action":"pass","Test":"TestFaults/a"}
{"Action":"output","Test":"TestFaults/b","Output":"broken\n"}
{"Action":"fail","Test":"TestFaults/b"}
{"Action":"fail","Test":"TestFaults"}
{"Action":"skip","Test":"TestSkipped"}
{"Action":"pass","Test":"TestFaultsNot"}
{"Action":"run","Test":"TestCutOff"}
{"Action":"fail"}
`))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.passed, []string{"TestFaults/a", "TestFaultsNot"}) || !slices.Equal(o.failed, []string{"TestFaults/b"}) ||
		!slices.Equal(o.skipped, []string{"TestSkipped"}) || other != "not JSON\nok\n" {
		t.Errorf("%+v, %q", o, other)
	}
	if got := o.measured["TestFaults/a"]; !slices.Equal(got, []string{"two leaders for 1s"}) {
		t.Errorf("measured %q", got)
	}
	if got := o.log["TestFaults/b"]; !slices.Equal(got, []string{"broken\n"}) {
		t.Errorf("log %q", got)
	}
}

func TestExactly(t *testing.T) {
	if got := exactly("TestA/b/c"); got != "^TestA$/^b$/^c$" {
		t.Error(got)
	}
}

func TestParse(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string // the error; empty if there is none
	}{
		"nothing":              {},
		"programs":             {args: []string{"vault,gokit"}},
		"a driver":             {args: []string{"-driver", "ours"}},
		"an unknown program":   {args: []string{"zookeeper"}, want: `there is no "zookeeper"`},
		"an unknown driver":    {args: []string{"-driver", "mine"}, want: "-driver: there is no"},
		"an unknown server":    {args: []string{"-servers", "etcd"}, want: "-servers: there is no"},
		"one argument more":    {args: []string{"vault", "gokit"}, want: `unknown argument "gokit"`},
		"a page of some":       {args: []string{"-write", "x.md", "vault"}, want: "-write: the page has"},
		"a page of one driver": {args: []string{"-write", "x.md", "-driver", "ours"}, want: "-write: the page has"},
		"a page":               {args: []string{"-write", "x.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(tt.args, io.Discard)
			if ok := err == nil; ok != (tt.want == "") || !ok && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// rowOf returns a row with outcomes of two tests of its own and of three faults on one server.
func rowOf(own, faults outcome) *row {
	before := outcome{passed: []string{"TestA", "TestB"}}
	return &row{
		program: program{
			name: "p", title: "P", version: "v1",
			weak: map[string]string{"weak": "it never tries again"}, broken: map[string]string{"TestBroken": "its server is gone"},
		},
		own:    map[cell]*outcome{{original, embedded}: &before, {ours, embedded}: &own},
		faults: map[cell]*outcome{{original, embedded}: {failed: []string{"TestFaults/lost", "TestFaults/weak"}}, {ours, embedded}: &faults},
	}
}

func TestVerdict(t *testing.T) {
	both := []string{"TestA", "TestB"}
	survived := outcome{passed: []string{"TestFaults/lost"}, failed: []string{"TestFaults/weak"}}
	for name, tt := range map[string]struct {
		own, faults outcome
		want        string // the only problem; empty if there is none
	}{
		"good":           {own: outcome{passed: both}, faults: survived},
		"fails":          {own: outcome{passed: both[:1], failed: both[1:]}, faults: survived, want: "TestB fails"},
		"fails anyway":   {own: outcome{passed: both, failed: []string{"TestBroken"}}, faults: survived},
		"has not run":    {own: outcome{passed: both[:1]}, faults: survived, want: "TestB has not run"},
		"not survived":   {own: outcome{passed: both}, faults: outcome{failed: []string{"TestFaults/lost", "TestFaults/weak"}}, want: "not survived: lost"},
		"skipped":        {own: outcome{passed: both}, faults: outcome{skipped: []string{"TestFaults/lost"}}, want: "lost was skipped"},
		"no longer weak": {own: outcome{passed: both}, faults: outcome{passed: []string{"TestFaults/lost", "TestFaults/weak"}}, want: "take weak out"},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := rowOf(tt.own, tt.faults).verdict()
			switch {
			case tt.want == "" && len(wrong) > 0, len(wrong) > 1:
				t.Errorf("%v", wrong)
			case tt.want != "" && (len(wrong) == 0 || !strings.Contains(wrong[0].Error(), tt.want)):
				t.Errorf("%v, want %q", wrong, tt.want)
			}
		})
	}
}

func TestMarkdown(t *testing.T) {
	r := rowOf(outcome{passed: []string{"TestA", "TestB"}, skipped: []string{"TestC"}},
		outcome{passed: []string{"TestFaults/lost"}, failed: []string{"TestFaults/weak"}, measured: map[string][]string{"TestFaults/lost": {"two leaders for 0s"}}})
	r.lines = changed{code: 1, tests: 2, files: 3}
	got := markdown([]*row{r})
	for _, want := range []string{
		"| P | v1 | 1 (+2 in tests) | 2 of 2 | 2 of 2, 1 skipped | 0 of 2 | 1 of 2 |\n",
		"| p | lost | no | yes (two leaders for 0s) |\n",
		"| p | weak | no | no |\n",
		"- p, weak: it never tries again.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %s in\n%s", want, got)
		}
	}
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n"+begin+"\nold\n"+end+"\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := replaceTables(page, got); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(page); err != nil || string(text) != "before\n"+begin+"\n"+got+end+"\nafter\n" {
		t.Errorf("%s, %v", text, err)
	}
	if err := replaceTables(filepath.Join(filepath.Dir(page), "none.md"), got); err == nil {
		t.Error("a page that is not there was written")
	}
}
