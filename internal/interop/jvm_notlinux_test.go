//go:build !linux

package interop_test

import "os/exec"

// endWithParent does nothing: what the tests start ends with its standard input, too.
func endWithParent(*exec.Cmd) {}

// killGroup kills the process alone.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
