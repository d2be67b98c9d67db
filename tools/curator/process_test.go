//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

const (
	// patience is how long a test waits for what must come.
	patience = 30 * time.Second
	// tick is that of the servers.
	tick = 500 * time.Millisecond
)

// server is what the locks of a test are kept on.
type server struct {
	t       *testing.T
	address string
	chroot  string            // of the test, "" for none
	connect string            // the two
	client  *framework.Client // of an observer
	path    string            // of the test's lock
}

func serverAt(t *testing.T, address, chroot string) *server {
	t.Helper()
	client := curatortest.NewClient(t, address+chroot, silent)
	return &server{t, address, chroot, address + chroot, client, "/tests/lock"}
}

// silent is an observer that says nothing.
var silent = framework.WithLogger(slog.New(slog.DiscardHandler))

// onServers runs a test on the embedded server and on a real one.
func onServers(t *testing.T, test func(t *testing.T, s *server)) {
	t.Run("embedded", func(t *testing.T) { test(t, newEmbeddedServer(t)) })
	t.Run("real", func(t *testing.T) { test(t, newRealServer(t)) })
}

func newEmbeddedServer(t *testing.T) *server {
	t.Helper()
	return serverAt(t, curatortest.Start(t, curatortest.WithTickTime(tick)).ConnectString(), "")
}

// newRealServer returns the real server that the tests share, with a chroot for this one.
func newRealServer(t *testing.T) *server {
	t.Helper()
	b := suite.RealWith(t, "plain", curatortest.WithTickTime(tick))
	chroot := b.Path("root")
	client := curatortest.NewClient(t, b.ConnectString(), silent)
	if _, err := client.Create().CreatingParentsIfNeeded().ForPath(t.Context(), chroot); err != nil {
		t.Fatal(err)
	}
	return serverAt(t, b.ConnectString(), chroot)
}

// nodes returns the paths of the lock's contenders.
func (s *server) nodes() []string {
	s.t.Helper()
	names, err := s.client.GetChildren().ForPath(context.Background(), s.path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		s.t.Fatal(err)
	}
	for i := range names {
		names[i] = s.path + "/" + names[i]
	}
	return names
}

// untilNodes waits until the lock has n contenders.
func (s *server) untilNodes(n int) {
	s.t.Helper()
	suite.Eventually(s.t, "the number of contenders", func() bool { return len(s.nodes()) == n })
}

// wantFree fails unless the lock has no node, as it must when its users have ended.
func (s *server) wantFree() {
	s.t.Helper()
	if nodes := s.nodes(); len(nodes) > 0 {
		s.t.Fatalf("left behind: %q", nodes)
	}
}

// deleteNodes takes the lock away from all who have or want it.
func (s *server) deleteNodes() {
	s.t.Helper()
	for _, path := range s.nodes() {
		if err := s.client.Delete().ForPath(context.Background(), path); err != nil {
			s.t.Fatal(err)
		}
	}
}

// lock starts curator lock. args are flags, and behind -- the command.
func (s *server) lock(args ...string) *process {
	s.t.Helper()
	return start(s.t, append([]string{"lock", "--connect", s.connect, s.path}, args...)...)
}

// holder starts a curator lock that runs a shell script, which writes "in" first, and waits
// until it does.
func (s *server) holder(script string, flags ...string) *process {
	s.t.Helper()
	p := s.lock(append(flags, "--", "sh", "-c", "echo in; "+script)...)
	suite.Eventually(s.t, "the command", func() bool { return strings.HasPrefix(p.out.String(), "in\n") })
	return p
}

// process is a running curator.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	out, err suite.Log
	ended    chan struct{}
}

// start starts the tool.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startCmd(t, exec.Command(tool, args...))
}

// startCmd starts cmd, in a session of its own, so that no terminal of the tests matters.
func startCmd(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, ended: make(chan struct{})}
	p.cmd.Env = append(cleanEnv(), cmd.Env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	// What a killed process leaves behind may keep its output open.
	p.cmd.WaitDelay = 100 * time.Millisecond
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.cmd.Wait() // how it ended is in its state
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill() // an error says that it has ended
		<-p.ended
		if t.Failed() {
			killSession(cmd.Process.Pid)
			t.Logf("%q\nstdout:\n%s\nstderr:\n%s", cmd.Args, &p.out, &p.err)
		}
	})
	return p
}

// killSession kills what a failed test leaves behind, in whatever process groups.
func killSession(id int) {
	out, _ := exec.Command("ps", "-A", "-o", "pid=,sid=").Output() // it is an attempt
	for line := range strings.Lines(string(out)) {
		var pid, session int
		if n, _ := fmt.Sscan(line, &pid, &session); n == 2 && session == id {
			syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// cleanEnv is the environment without what the tool looks at.
func cleanEnv() []string {
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "CURATOR_") {
			env = append(env, entry)
		}
	}
	return env
}

func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// untilOut waits until stdout is text.
func (p *process) untilOut(text string) {
	p.t.Helper()
	suite.Eventually(p.t, "output "+text, func() bool { return p.out.String() == text })
}

// untilErr waits until stderr contains text.
func (p *process) untilErr(text string) {
	p.t.Helper()
	suite.Eventually(p.t, "message "+text, func() bool { return strings.Contains(p.err.String(), text) })
}

// wait waits for the process's end and returns its exit code, as a shell counts.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatal("it does not end")
	}
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// wantExit waits for the process's end and checks its exit code and what it has said on
// stderr, besides what CMD has: a line for each text, which has it.
func (p *process) wantExit(code int, texts ...string) {
	p.t.Helper()
	if got := p.wait(); got != code {
		p.t.Errorf("exit code %d, want %d", got, code)
	}
	var lines []string
	for line := range strings.Lines(p.err.String()) {
		if strings.HasPrefix(line, "curator: ") && strings.HasSuffix(line, "\n") {
			lines = append(lines, line)
		}
	}
	if len(lines) != len(texts) {
		p.t.Fatalf("%d lines on stderr, want %d: %q", len(lines), len(texts), lines)
	}
	for i, text := range texts {
		if !strings.Contains(lines[i], text) {
			p.t.Errorf("line %q on stderr, want %q", lines[i], text)
		}
	}
}

// alive tells whether there is a process, or with a negative number one of a process
// group, that is no zombie: those wait for whom they were left to.
func alive(t *testing.T, pid int) bool {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,pgid=,stat=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if (fields[0] == strconv.Itoa(pid) || fields[1] == strconv.Itoa(-pid)) && fields[2][0] != 'Z' {
			return true
		}
	}
	return false
}
