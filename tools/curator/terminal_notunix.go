//go:build !unix || aix

package main

import "os"

// terminal does nothing: there is no job control on this system.
type terminal struct{}

func openTerminal(_, _, _ *os.File) *terminal { return nil }

func (t *terminal) close() {}

// suspend returns false: CMD was not stopped by job control.
func (t *terminal) suspend(os.Signal) bool { return false }

// terminalWidth returns 0: it is not known whether a file is a terminal.
func terminalWidth(*os.File) int { return 0 }

func (t *terminal) restore()          {}
func (t *terminal) handOver(*command) {}
func (t *terminal) takeBack(*command) {}

// stopAsJob does nothing: there is no job control.
func (p *program) stopAsJob() {}
