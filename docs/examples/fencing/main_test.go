package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// The database takes amounts from the process with the highest token only.
func TestFence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "accounts.db")
	first, second := openFor(t, file), openFor(t, file)

	if err := first.add(t.Context(), 7, strings.NewReader("10\n5\n")); err != nil {
		t.Fatal(err)
	}
	if err := first.add(t.Context(), 7, strings.NewReader("1\n")); err != nil {
		t.Errorf("the holder comes back: %v", err)
	}
	if balance, err := second.claim(t.Context(), 9); balance != 16 || err != nil {
		t.Errorf("the next holder reads %d, %v", balance, err)
	}
	// From here on the first is late, although the second has not written yet.
	if err := first.write(t.Context(), 7, 100); !errors.Is(err, errFenced) {
		t.Errorf("a late write: %v", err)
	}
	if _, err := first.claim(t.Context(), 7); !errors.Is(err, errFenced) {
		t.Errorf("a late claim: %v", err)
	}
	if err := second.write(t.Context(), 9, 20); err != nil {
		t.Error(err)
	}
	if balance, err := second.claim(t.Context(), 9); balance != 20 || err != nil {
		t.Errorf("in the end: %d, %v", balance, err)
	}
}

func openFor(t *testing.T, file string) accounts {
	t.Helper()
	a, err := open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}
