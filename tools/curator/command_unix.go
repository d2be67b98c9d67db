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

// groupPause is the pause between polls for processes of the group that are not our children.
const groupPause = 50 * time.Millisecond

// command is a running CMD: a process group, whose leader is CMD's own process.
type command struct {
	group  int
	events chan event
	gone   chan struct{} // closed when the group is empty
	guard  *guard
}

// startCommand starts cmd. The goroutine that starts it keeps its thread until cmd has ended,
// because on Linux the kernel kills cmd when that thread ends.
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
			_ = cmd.Process.Release() // c.wait has waited for it
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

// wait reports the events of CMD's own process until that has ended, and then those of the rest of
// its process group. It returns when the group is empty.
func (c *command) wait() {
	defer c.guard.join()
	defer close(c.gone)
	defer c.guard.dismiss()
	for leads := true; leads; {
		e, err := c.next(c.group)
		if err != nil { // impossible: nothing else waits for this process
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

// next waits until a process was stopped or has ended, that with the id pid, or one of the group
// -pid.
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

// send sends a signal to the group. It is no error if the group is empty.
func (c *command) send(sig syscall.Signal) error {
	if err := unix.Kill(-c.group, sig); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

// pass sends a signal that this process has received to the group.
func (c *command) pass(sig syscall.Signal) { _ = c.send(sig) } // it fails if it is not permitted, for example after setuid

// resume continues the group if it is stopped.
func (c *command) resume() { c.pass(unix.SIGCONT) }

// terminate asks the group to end, also if it is stopped.
func (c *command) terminate() {
	c.pass(unix.SIGTERM)
	c.resume()
}

// kill ends the group.
func (c *command) kill() error { return c.send(unix.SIGKILL) }
