package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNoDrift checks that docs/api.txt has the present API.
func TestNoDrift(t *testing.T) {
	root := filepath.Join("..", "..")
	want, err := list(t.Context(), root, patterns)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "docs", "api.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(got), "\n"), strings.Split(want, "\n")); diff != "" {
		t.Errorf("the public API has changed; if that is meant, run make api and say so in CHANGELOG.md:\n%s", diff)
	}
}

// TestDescribe checks a line of each kind.
func TestDescribe(t *testing.T) {
	got, err := list(t.Context(), "testdata", []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "want.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
