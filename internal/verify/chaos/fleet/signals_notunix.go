//go:build !unix

package fleet

import (
	"errors"
	"os"
)

// stop fails: the system cannot do it.
func stop(*os.Process) error { return errors.ErrUnsupported }

func proceed(*os.Process) error { return errors.ErrUnsupported }

// showStacks ends a process.
var showStacks os.Signal = os.Kill
