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
	// patience bounds every wait of a test.
	patience = 30 * time.Second
	// late is how much longer than promised something may take on a busy machine.
	late = 10 * time.Second
	// tick is the tick time of the servers.
	tick = 500 * time.Millisecond
)

// server is a ZooKeeper server, and the part of its tree that one test uses.
type server struct {
	t       *testing.T
	address string
	chroot  string            // of the test, "" for none
	connect string            // the address with the chroot
	client  *framework.Client // with which the test looks at nodes
	path    string            // of the test's lock
}

func serverAt(t *testing.T, address, chroot string) *server {
	t.Helper()
	client := curatortest.NewClient(t, address+chroot, silent)
	return &server{t, address, chroot, address + chroot, client, "/tests/lock"}
}

// silent is the option of a client that logs nothing.
var silent = framework.WithLogger(slog.New(slog.DiscardHandler))

// onServers runs a test on the embedded server and on a real one, at the same time, and after onServers
// has returned.
func onServers(t *testing.T, test func(t *testing.T, s *server)) {
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, newEmbeddedServer(t))
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		test(t, newRealServer(t))
	})
}

func newEmbeddedServer(t *testing.T) *server {
	t.Helper()
	return serverAt(t, curatortest.Start(t, curatortest.WithTickTime(tick)).ConnectString(), "")
}

// newRealServer returns the real server that the tests share, with a chroot for this test.
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

// wantFree fails the test if the lock has a node. When all users of a lock have ended, none may be
// left.
func (s *server) wantFree() {
	s.t.Helper()
	if nodes := s.nodes(); len(nodes) > 0 {
		s.t.Fatalf("left behind: %q", nodes)
	}
}

// deleteNodes deletes the nodes of the lock's holder and waiters.
func (s *server) deleteNodes() {
	s.t.Helper()
	for _, path := range s.nodes() {
		if err := s.client.Delete().ForPath(context.Background(), path); err != nil {
			s.t.Fatal(err)
		}
	}
}

// lock starts curator lock. args are flags, and after -- CMD.
func (s *server) lock(args ...string) *process {
	s.t.Helper()
	return start(s.t, append([]string{"lock", "--connect", s.connect, s.path}, args...)...)
}

// holder starts a curator lock with a shell script as CMD. It adds to the script that it first
// writes "in", and returns when that was written.
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

// startCmd starts cmd in a new terminal session, so that it does not have the terminal of the tests.
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
	// Processes that a killed one leaves behind may keep its output open. What was written is read before, also by a
	// test that does not run for a while.
	p.cmd.WaitDelay = 2 * time.Second
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
		if t.Failed() {
			killSession(cmd.Process.Pid)
			t.Logf("%q\nstdout:\n%s\nstderr:\n%s", cmd.Args, &p.out, &p.err)
		}
	})
	return p
}

// killSession kills the processes of a terminal session that a failed test leaves behind, in all
// process groups.
func killSession(id int) {
	out, _ := exec.Command("ps", "-A", "-o", "pid=,sid=").Output() // without ps nothing is killed
	for line := range strings.Lines(string(out)) {
		var pid, session int
		if n, _ := fmt.Sscan(line, &pid, &session); n == 2 && session == id {
			syscall.Kill(pid, syscall.SIGKILL) // it fails if the process has ended
		}
	}
}

// cleanEnv returns the environment without the variables that curator reads.
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

// wait waits for the end of the process and returns its exit code as a shell has it.
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

// wantExit waits for the end of the process. It checks the exit code, and that the lines on stderr,
// but for those of CMD, contain the texts, one text in each line.
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

// alive reports whether there is a process with the id pid, or if pid is negative in the group -pid,
// that is not a zombie. A zombie may remain until its parent waits for it.
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
