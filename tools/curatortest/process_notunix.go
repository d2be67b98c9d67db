//go:build !unix

package curatortest

import (
	"errors"
	"os"
)

// suspend fails: this system has no signals.
func suspend(*os.Process) error { return errors.ErrUnsupported }

// proceed fails: this system has no signals.
func proceed(*os.Process) error { return errors.ErrUnsupported }
