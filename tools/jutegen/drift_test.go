package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/tools/jutegen/spec"
)

// The records in the repository are those of the specification.
func TestNoDrift(t *testing.T) {
	want, err := Generate(spec.Records)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "internal", "jute", Output))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what the specification says; run make generate:\n%s", Output, diff)
	}
}

func TestRefusals(t *testing.T) {
	field := []spec.Field{{Name: "A", Type: "int32"}}
	for name, record := range map[string]spec.Record{
		"no documentation": {Name: "R", Fields: field},
		"no name":          {Doc: "is.", Fields: field},
		"no fields":        {Name: "R", Doc: "is."},
		"unknown type":     {Name: "R", Doc: "is.", Fields: []spec.Field{{Name: "A", Type: "float"}}},
		"later record":     {Name: "R", Doc: "is.", Fields: []spec.Field{{Name: "A", Type: "[]Later"}}},
		"field, no name":   {Name: "R", Doc: "is.", Fields: []spec.Field{{Type: "int32"}}},
	} {
		if _, err := Generate([]spec.Record{record}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
