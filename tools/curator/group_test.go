//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// groupOf returns the process group of a holder's command.
func groupOf(t *testing.T, p *process) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "pid=,sid=", "--ppid", strconv.Itoa(p.cmd.Process.Pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var pid, session int
		if _, err := fmt.Sscan(line, &pid, &session); err != nil {
			t.Fatal(err)
		}
		if session == p.cmd.Process.Pid { // the guard is in another session
			return pid
		}
	}
	t.Fatalf("no command: %q", out)
	return 0
}

// Signals are passed on to the whole group.
func TestSignals(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	for name, sig := range map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT,
		"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "WINCH": syscall.SIGWINCH,
	} {
		dir := t.TempDir()
		script := `cd ` + dir + `; trap 'echo got >parent; exit 3' ` + name + `
			sh -c 'trap "echo got >child; exit" ` + name + `; echo ready; while :; do sleep 0.01; done'
			while :; do sleep 0.01; done`
		holder := s.holder(script)
		holder.untilOut("in\nready\n")
		holder.signal(sig)
		holder.wantExit(3)
		for _, who := range []string{"parent", "child"} {
			if _, err := os.Stat(filepath.Join(dir, who)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		s.wantFree()
	}
}

// A signal that ends CMD also ends the processes that CMD has started, even one that ignores the
// signal.
func TestSignalThatKills(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	holder := s.holder("(trap '' TERM; while :; do sleep 0.01; done) & while :; do sleep 0.01; done", "--grace", "200ms")
	group := groupOf(t, holder)
	holder.signal(syscall.SIGTERM)
	holder.wantExit(128 + 15)
	if alive(t, -group) {
		t.Error("the group is alive")
	}
	s.wantFree()
}

// The lock is held until everything in the group has ended.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	holder := s.holder("exec 3<&0; cat <&3 & exit 5")
	holder.untilErr("waiting with the lock held")
	s.lock("--try", "--", "true").wantExit(75, "is held by curator lock -- sh on ")
	holder.stdin.Close()
	holder.wantExit(5, "waiting with the lock held")
	s.wantFree()
}

// The lock is released although a process that has left the group still runs.
func TestLeftTheGroup(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	dir := t.TempDir()
	holder := s.holder("cd " + dir + "; setsid sh -c 'echo $$ >pid; exec sleep 60' & while ! [ -s pid ]; do sleep 0.01; done; exit 5")
	holder.wantExit(5)
	s.wantFree()
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || !alive(t, pid) {
		t.Fatalf("process %q has ended, %v", text, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// A stopped CMD keeps the lock. When the lock is lost, it is ended although it is stopped.
func TestStoppedCommand(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	holder := s.holder("sleep 60", "--session-timeout", sessionTimeout.String())
	group := groupOf(t, holder)
	if err := syscall.Kill(-group, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.lock("--timeout", (sessionTimeout+2*tick).String(), "--", "true").wantExit(75, "not acquired")
	s.deleteNodes()
	holder.wantExit(76, "lock lost")
	s.wantFree()
}

// The end of the group is noticed although the parent of curator does not wait for orphans, as the
// first process of a container often does not.
func TestNobodyReaps(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	holder := s.holder("sh -c 'sleep 0.1 & exec sleep 0.2' & exit 5")
	holder.wantExit(5)
	s.wantFree()
}

// If curator was started with an ignored signal, CMD ignores it, too.
func TestNohup(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	p := startCmd(t, exec.Command("sh", "-c", `trap '' HUP; exec "$0" lock --connect "$1" "$2" -- sh -c 'echo in; kill -HUP $$ $PPID; cat; exit 6'`,
		tool, s.connect, s.path))
	p.untilOut("in\n")
	p.signal(syscall.SIGHUP)
	p.stdin.Close()
	p.wantExit(6)
}

// piped is a process whose stderr is a pipe that nobody reads.
type piped struct {
	*process
	pipe *os.File
}

func newPiped(t *testing.T, args ...string) *piped {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	p := &process{t: t, cmd: exec.Command(tool, args...), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Stderr = cleanEnv(), w
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.cmd.Wait() // ProcessState has the result
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill() // it fails if the process has ended
		<-p.ended
	})
	return &piped{p, w}
}

// fill writes to the pipe until it is full.
func (p *piped) fill() {
	p.t.Helper()
	fd := int(p.pipe.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		p.t.Fatal(err)
	}
	block := make([]byte, 1)
	for {
		_, err := unix.Write(fd, block)
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		p.t.Fatal(err)
	}
}
