//go:build !unix

package process

import (
	"errors"
	"os"
)

// ShowStacks ends a process: this system has no signals.
var ShowStacks os.Signal = os.Kill

// Suspend fails: this system has no signals.
func (*Process) Suspend() error { return errors.ErrUnsupported }

// Resume fails: this system has no signals.
func (*Process) Resume() error { return errors.ErrUnsupported }
