package hold

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/settings"
)

// Environment variables of CMD.
const (
	envPath  = "CURATOR_LOCK_PATH"
	envToken = "CURATOR_FENCING_TOKEN"
	envHeld  = "CURATOR_LOCKS_HELD"
)

// event says that CMD's own process, or another process of its group, was stopped or has ended.
type event struct {
	stopped os.Signal // the signal that stopped it, nil if it has ended
	code    int       // the exit code as a shell has it, 128 and the signal's number after a signal
	killed  bool      // a signal ended it
}

// lookUp searches for CMD as a shell does. Its error has the exit code that a shell would use.
func lookUp(c *console.Console, argv []string) (*exec.Cmd, error) {
	if _, err := exec.LookPath(argv[0]); err != nil {
		return nil, cannotRun(argv[0], err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout.File, c.Stderr
	return cmd, nil
}

// cannotRun returns the error for a CMD that cannot be started because of err.
func cannotRun(name string, err error) error {
	code := console.ExitNotExecutable
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = console.ExitNotFound
	}
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		err = cause // the outer errors repeat the name
	}
	return console.Exitf(code, "cannot run %q: %v", name, err)
}

// heldLocks returns the entry of a lock in CURATOR_LOCKS_HELD, and whether this process runs inside
// the CMD of a curator that holds the lock.
func heldLocks(c *console.Console, e settings.Ensemble, path string) (entry string, held bool) {
	entry = url.QueryEscape(e.Lock(path))
	list := c.Getenv(envHeld)
	if list == "" { // a program in between has removed the variable
		return entry, c.Getenv(envPath) == path
	}
	return entry, slices.Contains(strings.Fields(list), entry)
}
