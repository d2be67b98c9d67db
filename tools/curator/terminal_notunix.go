//go:build !unix || aix

package main

import "os"

// terminal is where there is job control.
type terminal struct{}

func openTerminal(_, _, _ *os.File) *terminal { return nil }

func (t *terminal) close() {}

// suspend tells that CMD was not stopped by job control.
func (t *terminal) suspend(os.Signal) bool { return false }

// terminalWidth returns 0: a terminal is not known to be one.
func terminalWidth(*os.File) int { return 0 }

func (t *terminal) restore()          {}
func (t *terminal) handOver(*command) {}
func (t *terminal) takeBack(*command) {}

// stopAsJob does nothing: there is no job control.
func (p *program) stopAsJob() {}
