package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
)

// event says that CMD's own process, or another process of its group, was stopped or has ended.
type event struct {
	stopped os.Signal // the signal that stopped it, nil if it has ended
	code    int       // the exit code as a shell has it, 128 and the signal's number after a signal
	killed  bool      // a signal ended it
}

// lookUp searches for CMD as a shell does. Its error has the exit code that a shell would use.
func (p *program) lookUp(argv []string) (*exec.Cmd, error) {
	if _, err := exec.LookPath(argv[0]); err != nil {
		return nil, cannotRun(argv[0], err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.stdin, p.stdout.file, p.stderr
	return cmd, nil
}

// cannotRun returns the error for a CMD that cannot be started because of err.
func cannotRun(name string, err error) error {
	code := exitNotExecutable
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = exitNotFound
	}
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		err = cause // the outer errors repeat the name
	}
	return exitWith(code, "cannot run %q: %v", name, err)
}
