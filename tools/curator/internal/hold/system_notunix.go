//go:build !unix || aix

package hold

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/go-curator/curator/tools/curator/internal/console"
)

// command is a running CMD: a single process.
type command struct {
	process *os.Process
	events  chan event
	gone    chan struct{} // closed when the process has ended
}

func startCommand(cmd *exec.Cmd, _ *terminal, _ string) (*command, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &command{cmd.Process, make(chan event), make(chan struct{})}
	go func() {
		defer close(c.gone)
		e := event{code: console.ExitInternal}
		_ = cmd.Wait() // its result is in cmd.ProcessState
		if cmd.ProcessState != nil {
			e.code = cmd.ProcessState.ExitCode()
		}
		c.events <- e
	}()
	return c, nil
}

// pass does nothing: the console sends Ctrl-C to all its processes.
func (c *command) pass(syscall.Signal) {}

// resume does nothing: processes cannot be stopped here.
func (c *command) resume() {}

// terminate ends the process: there is no signal that asks it to end.
func (c *command) terminate() { _ = c.kill() } // it fails if the process has ended

// kill ends the process.
func (c *command) kill() error { return c.process.Kill() }

// GuardIfAsked does nothing: without process groups there are no guards.
func GuardIfAsked([]string, *os.File) {}

// terminal does nothing: there is no job control on this system.
type terminal struct{}

func openTerminal(_, _, _ *os.File) *terminal { return nil }

func (t *terminal) close() {}

// suspend returns false: CMD was not stopped by job control.
func (t *terminal) suspend(os.Signal) bool { return false }

func (t *terminal) restore()          {}
func (t *terminal) handOver(*command) {}
func (t *terminal) takeBack(*command) {}

// StopAsJob does nothing: there is no job control.
func StopAsJob(c *console.Console) {}
