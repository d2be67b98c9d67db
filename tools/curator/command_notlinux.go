//go:build unix && !linux

package main

import "syscall"

// endWithParent does nothing: only Linux can end a process with its parent.
func endWithParent(*syscall.SysProcAttr) {}

// adopt does nothing: elsewhere it is up to the first process.
func adopt() {}
