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

// guardArg makes the binary a guard. It is no command of the help.
const guardArg = "-curator-guard-of-a-process-group-"

// guard is a process that kills CMD's process group when this process ends without a word,
// as by kill -9. It is in a session of its own, which no signal of a terminal reaches. A nil
// guard does nothing.
type guard struct {
	process *exec.Cmd
	pipe    io.WriteCloser
}

// startGuard starts a guard. It returns nil if there cannot be one: CMD runs without.
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

// watch tells the guard which group it is.
func (g *guard) watch(group int) {
	if g != nil {
		_, _ = fmt.Fprintf(g.pipe, "%d\n", group) // it fails if somebody has killed the guard
	}
}

// dismiss has the guard end: the group has ended, or never began.
func (g *guard) dismiss() {
	if g != nil {
		_, _ = io.WriteString(g.pipe, "0\n")
		_ = g.pipe.Close()
	}
}

// join waits for the end of a guard that was dismissed.
func (g *guard) join() {
	if g != nil {
		_ = g.process.Wait() // it is waited for, however it has ended
	}
}

// guardIfAsked is the life of a guard. It returns at once if this process is none.
func guardIfAsked(args []string, stdin *os.File) {
	if len(args) != 1 || args[0] != guardArg {
		return
	}
	group := 0
	for lines := bufio.NewScanner(stdin); lines.Scan(); {
		group, _ = strconv.Atoi(strings.TrimSpace(lines.Text())) // 0 if it is none
	}
	if group > 1 {
		_ = unix.Kill(-group, unix.SIGKILL) // an error says that it has ended
	}
	os.Exit(0)
}
