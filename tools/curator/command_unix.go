//go:build unix && !aix

package main

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// groupPause is the pause between looks at the processes of the group that are not our
// children.
const groupPause = 50 * time.Millisecond

// command is a running CMD: a process group, whose leader is CMD's own process.
type command struct {
	group  int
	events chan event
	gone   chan struct{} // closed when the group is empty
	guard  *guard
}

// startCommand starts cmd. It is waited for on the thread that started it, because on
// Linux the kernel ends it with that thread.
func startCommand(cmd *exec.Cmd, t *terminal, self string) (*command, error) {
	adopt()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
	t.prepare(cmd.SysProcAttr)
	c := &command{events: make(chan event), gone: make(chan struct{}), guard: startGuard(self)}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			c.group = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			c.wait()
			_ = cmd.Process.Release() // it has been waited for
		}
	}()
	err := <-started
	if err != nil {
		c.guard.dismiss()
		c.guard.join()
	} else {
		c.guard.watch(c.group)
	}
	t.started(cmd.SysProcAttr.Foreground, err)
	return c, err
}

// wait reports what becomes of CMD's own process and then of what it left behind, until
// the group is empty.
func (c *command) wait() {
	defer c.guard.join()
	defer close(c.gone)
	defer c.guard.dismiss()
	for leads := true; leads; {
		e, err := c.next(c.group)
		if err != nil { // it cannot be: nobody else waits for it
			e = event{code: exitInternal}
		}
		c.events <- e
		leads = e.stopped != nil
	}
	for {
		e, err := c.next(-c.group)
		switch {
		case err == nil && e.stopped != nil:
			c.events <- e
		case errors.Is(err, unix.ECHILD):
			if errors.Is(unix.Kill(-c.group, 0), unix.ESRCH) {
				return
			}
			<-time.After(groupPause)
		}
	}
}

// next waits until one of the processes that pid means is stopped or has ended.
func (c *command) next(pid int) (event, error) {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return event{}, err
		case status.Stopped():
			return event{stopped: status.StopSignal()}, nil
		case status.Signaled():
			return event{code: exitSignal + int(status.Signal()), killed: true}, nil
		}
		return event{code: status.ExitStatus()}, nil
	}
}

// send sends a signal to the group. An empty one is no error.
func (c *command) send(sig syscall.Signal) error {
	if err := unix.Kill(-c.group, sig); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

// pass passes a signal on that we were sent.
func (c *command) pass(sig syscall.Signal) { _ = c.send(sig) } // as kill(1), it may not be permitted

// resume lets the group go on if it is stopped.
func (c *command) resume() { c.pass(unix.SIGCONT) }

// terminate asks the group to end, also if it is stopped.
func (c *command) terminate() {
	c.pass(unix.SIGTERM)
	c.resume()
}

// kill ends the group.
func (c *command) kill() error { return c.send(unix.SIGKILL) }
