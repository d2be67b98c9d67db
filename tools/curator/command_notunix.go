//go:build !unix || aix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// command is a running CMD: a single process.
type command struct {
	process *os.Process
	events  chan event
	gone    chan struct{} // closed when it has ended
}

func startCommand(cmd *exec.Cmd, _ *terminal, _ string) (*command, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &command{cmd.Process, make(chan event), make(chan struct{})}
	go func() {
		defer close(c.gone)
		e := event{code: exitInternal}
		_ = cmd.Wait() // what there is to say is in the state
		if cmd.ProcessState != nil {
			e.code = cmd.ProcessState.ExitCode()
		}
		c.events <- e
	}()
	return c, nil
}

// pass does nothing: the console tells all its processes of Ctrl-C.
func (c *command) pass(syscall.Signal) {}

// resume does nothing: nothing is stopped.
func (c *command) resume() {}

// terminate ends the process: it cannot be asked to.
func (c *command) terminate() { _ = c.kill() } // an error says that it has ended

// kill ends the process.
func (c *command) kill() error { return c.process.Kill() }
