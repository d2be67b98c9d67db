//go:build unix && !aix

package hold

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/go-curator/curator/tools/curator/internal/console"
)

// terminal is the controlling terminal, and does job control on it. The terminal stops a process
// group that reads from it and is not its foreground group, and somebody must then give it the
// foreground and continue it. A nil terminal does nothing.
type terminal struct {
	fd    int
	own   int  // our process group
	eager bool // CMD gets the foreground at its start, not only when it uses the terminal
	given bool // CMD has had the foreground

	settings *unix.Termios // of the terminal before CMD ran; nil if they are not known
}

// openTerminal returns the controlling terminal, nil without one. CMD gets the foreground at its
// start if its standard input is the terminal. A CMD in a pipeline gets it only when it uses the
// terminal, because otherwise a pager after it in the pipeline would be stopped.
func openTerminal(stdin, stdout, stderr *os.File) *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	t := &terminal{fd: fd}
	t.own, _ = unix.Getpgid(0)                                             // it never fails for this process
	if settings, err := unix.IoctlGetTermios(fd, getTermios); err == nil { // otherwise there is nothing to restore
		t.settings = settings
	}
	_, err = foregroundOf(int(stdin.Fd()))
	t.eager = err == nil && !isPipe(stdout) && !isPipe(stderr)
	return t
}

func isPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// restore restores the settings that the terminal had before CMD. It is called when a signal has
// ended CMD, which may then have left the terminal without echo. If CMD was not in the foreground,
// another job may have changed the settings, and restore does nothing.
func (t *terminal) restore() {
	if t != nil && t.given && t.settings != nil && t.foreground() == t.own {
		_ = unix.IoctlSetTermios(t.fd, setTermios, t.settings) // fails if the terminal is gone
	}
}

func (t *terminal) close() {
	if t != nil {
		_ = unix.Close(t.fd)
	}
}

// foreground returns the process group in the foreground.
func (t *terminal) foreground() int {
	group, err := foregroundOf(t.fd)
	if err != nil {
		return -1
	}
	return group
}

func (t *terminal) setForeground(group int) {
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) // fails if the terminal is gone
}

// prepare makes CMD's process take the foreground when it starts, if our process group has it. A job
// in the background must not take the foreground from the shell.
func (t *terminal) prepare(attr *syscall.SysProcAttr) {
	if t != nil && t.eager && t.foreground() == t.own {
		attr.Foreground, attr.Ctty = true, t.fd
	}
}

// started is called after the start of CMD. foreground says whether CMD was to take the foreground,
// and err is the error of the start.
func (t *terminal) started(foreground bool, err error) {
	if t == nil {
		return
	}
	// Without this, SIGTTOU would stop this process when it takes the foreground back, or when it
	// writes from the background while the terminal has tostop set. It is done only now, because CMD
	// would have inherited it.
	signal.Ignore(unix.SIGTTOU)
	if !foreground {
		return
	}
	if err != nil { // the process may have taken the foreground before the start failed
		t.setForeground(t.own)
		return
	}
	t.given = true
}

// handOver gives CMD the foreground, if our process group has it.
func (t *terminal) handOver(c *command) {
	if t != nil && t.foreground() == t.own {
		t.given = true
		t.setForeground(c.group)
	}
}

// takeBack takes the foreground back from CMD, unless another process group has it now.
func (t *terminal) takeBack(c *command) {
	if t == nil || !t.given {
		return
	}
	group := t.foreground()
	if group == c.group || group > 0 && errors.Is(unix.Kill(-group, 0), unix.ESRCH) {
		t.setForeground(t.own)
	}
}

// suspend is called when CMD was stopped by sig. It reports whether CMD is to be continued:
//
//   - not if it was not stopped by job control;
//   - at once if CMD was stopped because it used the terminal, and our process group can give it
//     the foreground, or if nobody could continue our process group;
//   - otherwise suspend first stops our process group, as a shell expects of a job, and returns
//     when that is continued.
func (t *terminal) suspend(sig os.Signal) bool {
	switch {
	case t == nil || sig == unix.SIGSTOP:
		return false
	case sig != unix.SIGTSTP && t.foreground() == t.own:
		return true
	case t.orphaned():
		return true
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	// This process receives SIGTSTP to pass it on, which package signal cannot undo, so it stops
	// itself by SIGSTOP.
	if err := unix.Kill(0, unix.SIGSTOP); err == nil {
		<-continued
	}
	return true
}

// orphaned reports whether no process of the session could continue our process group. The system
// does not let job control stop such a group, so CMD is not stopped either.
func (t *terminal) orphaned() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return true
	}
	for pid := unix.Getppid(); pid > 0; pid = parentOf(pid) {
		theirs, err := unix.Getsid(pid)
		if err != nil || theirs != session {
			return true
		}
		if group, err := unix.Getpgid(pid); err == nil && group != t.own {
			return false
		}
	}
	return true
}

// StopAsJob stops this process and its group, as a shell expects of a job, until they are continued.
// It does nothing if nobody could continue them.
func StopAsJob(c *console.Console) {
	t := openTerminal(c.Stdin, c.Stdout.File, c.Stderr)
	defer t.close()
	t.suspend(unix.SIGTSTP)
}
