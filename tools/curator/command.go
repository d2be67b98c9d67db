package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
)

// event is something that happened to CMD's own process, or to what it left behind.
type event struct {
	stopped os.Signal // what stopped it, nil if it has ended
	code    int       // the exit code, as the shell counts
	killed  bool      // it did not exit, a signal ended it
}

// lookUp returns CMD as the system would run it. The error has the shell's exit code.
func (p *program) lookUp(argv []string) (*exec.Cmd, error) {
	if _, err := exec.LookPath(argv[0]); err != nil {
		return nil, cannotRun(argv[0], err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.stdin, p.stdout.file, p.stderr
	return cmd, nil
}

// cannotRun is the error for a CMD that does not start.
func cannotRun(name string, err error) error {
	code := exitNotExecutable
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = exitNotFound
	}
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		err = cause // the innermost: the others repeat the name
	}
	return exitWith(code, "cannot run %q: %v", name, err)
}
