//go:build unix && !aix

package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is the controlling terminal, on which there is job control. A process group
// that is not its foreground is stopped when it reads, for ever if nobody looks after it.
// A nil terminal does nothing.
type terminal struct {
	fd    int
	own   int  // our process group
	eager bool // CMD is in the foreground from the start, not only when it wants to
	given bool // CMD had the foreground

	settings *unix.Termios // that the terminal had before CMD; nil if they are not known
}

// openTerminal returns the controlling terminal, nil without one. CMD gets the foreground
// at once if it reads from the terminal, unless it is part of a pipeline: then it waits
// until it uses the terminal, or a pager behind it would be stopped.
func openTerminal(stdin, stdout, stderr *os.File) *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	t := &terminal{fd: fd}
	t.own, _ = unix.Getpgid(0)                           // our own is always found
	t.settings, _ = unix.IoctlGetTermios(fd, getTermios) // nil: there is nothing to restore
	_, err = foregroundOf(int(stdin.Fd()))
	t.eager = err == nil && !isPipe(stdout) && !isPipe(stderr)
	return t
}

func isPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// restore gives the terminal the settings back that it had before CMD, which was ended by a
// signal and may have left it without echo. They are those of others if CMD was not in the
// foreground.
func (t *terminal) restore() {
	if t != nil && t.given && t.settings != nil && t.foreground() == t.own {
		_ = unix.IoctlSetTermios(t.fd, setTermios, t.settings) // fails if the terminal is gone
	}
}

// terminalWidth returns the number of columns of a terminal, 0 if f is none.
func terminalWidth(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	switch {
	case err != nil:
		return 0
	case size.Col == 0: // it has not been told
		return 80
	}
	return int(size.Col)
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

// prepare has CMD take the foreground before it starts, if it is ours to give: a job in
// the background must not take it from the shell.
func (t *terminal) prepare(attr *syscall.SysProcAttr) {
	if t != nil && t.eager && t.foreground() == t.own {
		attr.Foreground, attr.Ctty = true, t.fd
	}
}

// started takes note of whether CMD has the foreground. err is why it was not started.
func (t *terminal) started(foreground bool, err error) {
	if t == nil {
		return
	}
	// From the background we may not write to a terminal with tostop set, nor take the
	// foreground back. Now there is no child any more that would inherit this.
	signal.Ignore(unix.SIGTTOU)
	if !foreground {
		return
	}
	if err != nil { // its process may have got as far as taking the foreground
		t.setForeground(t.own)
		return
	}
	t.given = true
}

// handOver gives CMD the foreground, if it is ours to give.
func (t *terminal) handOver(c *command) {
	if t != nil && t.foreground() == t.own {
		t.given = true
		t.setForeground(c.group)
	}
}

// takeBack takes the foreground back that CMD had, unless the shell has it meanwhile.
func (t *terminal) takeBack(c *command) {
	if t == nil || !t.given {
		return
	}
	group := t.foreground()
	if group == c.group || group > 0 && errors.Is(unix.Kill(-group, 0), unix.ESRCH) {
		t.setForeground(t.own)
	}
}

// suspend is called when CMD was stopped by sig. It tells whether CMD is to go on. That
// is so at once when CMD only wants the foreground that is ours to give. Else our
// process group stops as well, as a shell expects of its job, and CMD is to go on when we
// do. A CMD that was stopped by other means than job control stays as it is.
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
	// Not SIGTSTP, which we receive to pass it on: package signal cannot undo that.
	if err := unix.Kill(0, unix.SIGSTOP); err == nil {
		<-continued
	}
	return true
}

// orphaned tells whether nobody in the session could continue our process group. Then the
// system lets job control stop none of its processes, and we none of CMD's.
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

// stopAsJob stops this process and its group, as a shell expects of a job, until they are
// continued. Where nobody could continue them it does nothing.
func (p *program) stopAsJob() {
	t := openTerminal(p.stdin, p.stdout.file, p.stderr)
	defer t.close()
	t.suspend(unix.SIGTSTP)
}
