package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// A full disk is an error, as it is for cat. The end of a pipe's reader has no message.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range [][]string{
		{"--help"}, {"--version"}, {"help", "lock"}, {"server", "--listen", "127.0.0.1:0"},
		{"demo", "--speed", "5"}, {"completion", "zsh"}, {"man", "lock"}, {"version"},
	} {
		cmd := exec.Command(tool, args...)
		var text suite.Log
		cmd.Env, cmd.Stdout, cmd.Stderr = cleanEnv(), full, &text
		_ = cmd.Run() // ProcessState has the exit status
		if code := cmd.ProcessState.ExitCode(); code != 74 || text.String() != "curator: cannot write to standard output: no space left on device\n" {
			t.Errorf("%q: exit code %d, %q", args, code, &text)
		}
	}
}
