//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
)

// TestMain runs the program in place of the tests where a test has started it.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_FENCING") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A process is stopped while it holds the lock, and goes on when another has it.
func TestStoppedProcess(t *testing.T) {
	server := curatortest.Start(t)
	database := filepath.Join(t.TempDir(), "accounts.db")

	stopped := start(t, server.ConnectString(), database)
	stopped.wants("balance 0")
	stopped.adds(10, "balance 10")
	stopped.signal(syscall.SIGSTOP)
	server.AdvanceClock(time.Minute) // its session has ended

	next := start(t, server.ConnectString(), database)
	next.wants("balance 10")
	next.adds(5, "balance 15")

	stopped.signal(syscall.SIGCONT)
	stopped.says(1000)
	if err := stopped.cmd.Wait(); err == nil {
		t.Error("the stopped process has not noticed")
	}
	t.Logf("the stopped process ended: %s", strings.TrimSpace(stopped.errors.String()))

	next.adds(1, "balance 16")
	if err := next.input.Close(); err != nil {
		t.Error(err)
	}
	if err := next.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, next.errors.String())
	}
	if balance, err := openFor(t, database).claim(t.Context(), 1<<62); balance != 16 || err != nil {
		t.Errorf("the balance is %d, %v", balance, err)
	}
}

// process is one run of the program.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	input  io.WriteCloser
	output *bufio.Reader
	errors strings.Builder
}

func start(t *testing.T, connect, database string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-connect", connect, "-database", database)
	cmd.Env = append(os.Environ(), "RUN_FENCING=yes")
	p := &process{t: t, cmd: cmd}
	cmd.Stderr = &p.errors
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.input, p.output = input, bufio.NewReader(output)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// wants reads a line that ends as given.
func (p *process) wants(end string) {
	p.t.Helper()
	line, err := p.output.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%v: %s", err, p.errors.String())
	}
	if line = strings.TrimSuffix(line, "\n"); !strings.HasSuffix(line, end) {
		p.t.Fatalf("%q, want %q at its end", line, end)
	}
}

// says writes an amount. The process may have ended.
func (p *process) says(amount int) { fmt.Fprintln(p.input, amount) }

func (p *process) adds(amount int, want string) {
	p.t.Helper()
	p.says(amount)
	p.wants(want)
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}
