package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNoDrift sees that a change of the public API is a change of docs/api.txt, too.
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

// TestDescribe has a line of every sort.
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
