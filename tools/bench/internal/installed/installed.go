// Package installed finds and runs the programs of this machine that the benchmark needs, and says
// which one is missing and how to get it.
package installed

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// AbsentError is returned when something that a peer or its service needs is not installed.
type AbsentError struct {
	Name    string // what is missing
	Install string // how to get it
	Err     error  // the error that shows that it is missing
}

// Error names what is missing.
func (e *AbsentError) Error() string {
	return fmt.Sprintf("%s is not installed (%s): %v", e.Name, e.Install, e.Err)
}

// Unwrap returns the reason.
func (e *AbsentError) Unwrap() error { return e.Err }

// Program returns the path of a program in the first of the directories that has it, or otherwise in
// PATH. The error is an [*AbsentError]; install says how to install the program.
func Program(name, install string, directories ...string) (string, error) {
	for _, dir := range directories {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &AbsentError{Name: name, Install: install, Err: err}
	}
	return path, nil
}

// Output runs a command and returns its standard output. An error contains its standard error.
func Output(cmd *exec.Cmd) (string, error) {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, &stderr)
	}
	return string(out), nil
}
