package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/tools/buildergen/spec"
)

const framework = "../../framework"

// The builders in the repository are those of the specification, and there are no others.
func TestNoDrift(t *testing.T) {
	files := map[string]bool{}
	for _, op := range spec.Ops {
		want, err := Generate(op)
		if err != nil {
			t.Fatal(err)
		}
		files[Output(op)] = true
		got, err := os.ReadFile(filepath.Join(framework, Output(op)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what the specification says; run make generate:\n%s", Output(op), diff)
		}
	}
	found, err := filepath.Glob(filepath.Join(framework, "*_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if !files[filepath.Base(path)] {
			t.Errorf("%s is of no operation: remove it", path)
		}
	}
}

// Every builder has an example, which go doc shows with it.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(framework, "example_*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var examples strings.Builder
	for _, path := range files {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		examples.Write(source)
	}
	for _, op := range spec.Ops {
		if head := "func Example" + builder(op) + "() {"; !strings.Contains(examples.String(), head) {
			t.Errorf("package framework has no %s", head)
		}
	}
}

func TestRefusals(t *testing.T) {
	good := spec.Op{Name: "Get", Java: "GetBuilder", Doc: "gets.", Returns: "gets."}
	if _, err := Generate(good); err != nil {
		t.Fatal(err)
	}
	step := spec.Mod{Name: "With", Field: "with", Doc: "is."}
	for name, change := range map[string]func(*spec.Op){
		"no name":               func(op *spec.Op) { op.Name = "" },
		"no Java name":          func(op *spec.Op) { op.Java = "" },
		"no documentation":      func(op *spec.Op) { op.Doc = "" },
		"no result":             func(op *spec.Op) { op.Returns = "" },
		"undocumented argument": func(op *spec.Op) { op.Args = []spec.Arg{{Name: "a", Type: "int"}} },
		"undocumented step":     func(op *spec.Op) { op.Mods = []spec.Mod{{Name: "With", Field: "with"}} },
		"step without field":    func(op *spec.Op) { op.Mods = []spec.Mod{{Name: "With", Doc: "is."}} },
		"step twice":            func(op *spec.Op) { op.Mods = []spec.Mod{step, step} },
		"no Go":                 func(op *spec.Op) { op.Result = "not a type" },
	} {
		op := good
		change(&op)
		if _, err := Generate(op); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
