//go:build !linux

package curatortest

import "os/exec"

// endWithParent does nothing: only Linux can end a process with its parent.
func endWithParent(*exec.Cmd) {}

// awaitSuspended does nothing: other systems do not tell.
func awaitSuspended(int) error { return nil }
