//go:build unix && !aix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// guardArg is the argument that makes a process of this binary a guard. The help does not have it.
const guardArg = "-curator-guard-of-a-process-group-"

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
	g := &guard{process: exec.Command(self, guardArg)}
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

// guardIfAsked runs the guard, and ends the process, if args say that this process is a guard.
// Otherwise it returns at once.
func guardIfAsked(args []string, stdin *os.File) {
	if len(args) != 1 || args[0] != guardArg {
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
