package installed_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-curator/curator/tools/bench/internal/installed"
)

// program creates a program and returns its directory.
func program(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestProgram(t *testing.T) {
	empty, first, second, onPath := t.TempDir(), program(t, "tool"), program(t, "tool"), program(t, "tool")
	t.Setenv("PATH", onPath)
	for name, tt := range map[string]struct {
		directories []string
		want        string
	}{
		"in the first that has it": {[]string{empty, first, second}, first},
		"in none":                  {[]string{empty}, onPath},
		"no directories":           {nil, onPath},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := installed.Program("tool", "ask for it", tt.directories...)
			if want := filepath.Join(tt.want, "tool"); err != nil || got != want {
				t.Errorf("%s, %v; want %s", got, err, want)
			}
		})
	}
}

func TestAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := installed.Program("tool", "ask for it", t.TempDir())
	var absent *installed.AbsentError
	if !errors.As(err, &absent) || absent.Name != "tool" || !errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("%#v", err)
	}
	if text := err.Error(); !strings.HasPrefix(text, "tool is not installed (ask for it): ") {
		t.Error(text)
	}
}

func TestOutput(t *testing.T) {
	if out, err := installed.Output(exec.Command("go", "env", "GOOS")); err != nil || strings.TrimSpace(out) != runtime.GOOS {
		t.Errorf("%q, %v", out, err)
	}
	_, err := installed.Output(exec.Command("go", "no-such-command"))
	if exit := new(exec.ExitError); !errors.As(err, &exit) || !strings.Contains(err.Error(), "unknown command") {
		t.Errorf("%v: want the exit code, and what the command wrote to its standard error", err)
	}
}
