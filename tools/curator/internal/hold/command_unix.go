//go:build unix && !aix

package hold

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/go-curator/curator/tools/curator/internal/console"
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
			e = event{code: console.ExitInternal}
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
			return event{code: console.ExitSignal + int(status.Signal()), killed: true}, nil
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

// GuardArg is the argument that makes a process of this binary a guard. The help does not have it.
const GuardArg = "-curator-guard-of-a-process-group-"

// guard is a process that kills CMD's process group when this process ends without dismissing it,
// for example by kill -9. It notices the end of this process by the end of its standard input. It
// has its own terminal session, so that it gets no signals from the terminal. A nil guard does
// nothing.
type guard struct {
	process *exec.Cmd
	pipe    io.WriteCloser
}

// startGuard starts a guard. It returns nil if that fails: CMD then runs without a guard.
func startGuard(self string) *guard {
	if self == "" {
		return nil
	}
	g := &guard{process: exec.Command(self, GuardArg)}
	g.process.Dir = "/"
	g.process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var err error
	if g.pipe, err = g.process.StdinPipe(); err != nil {
		return nil
	}
	if err := g.process.Start(); err != nil {
		_ = g.pipe.Close()
		return nil
	}
	return g
}

// watch gives the guard the id of the process group.
func (g *guard) watch(group int) {
	if g != nil {
		_, _ = fmt.Fprintf(g.pipe, "%d\n", group) // it fails if the guard was killed
	}
}

// dismiss makes the guard end without killing the group, which has ended or was not started.
func (g *guard) dismiss() {
	if g != nil {
		_, _ = io.WriteString(g.pipe, "0\n")
		_ = g.pipe.Close()
	}
}

// join waits for the end of a guard that was dismissed.
func (g *guard) join() {
	if g != nil {
		_ = g.process.Wait() // its exit status does not matter
	}
}

// GuardIfAsked runs the guard, and ends the process, if args say that this process is a guard.
// Otherwise it returns at once.
func GuardIfAsked(args []string, stdin *os.File) {
	if len(args) != 1 || args[0] != GuardArg {
		return
	}
	group := 0
	for lines := bufio.NewScanner(stdin); lines.Scan(); {
		group, _ = strconv.Atoi(strings.TrimSpace(lines.Text())) // 0 if it is not a number
	}
	if group > 1 {
		_ = unix.Kill(-group, unix.SIGKILL) // it fails if the group has ended
	}
	os.Exit(0)
}
