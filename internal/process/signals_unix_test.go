//go:build unix

package process_test

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// ignoring names the environment variable of a process that was started to ignore the signals.
const ignoring = "PROCESS_TEST_IGNORING"

// TestResetSignals runs itself in a process that was started to ignore signals, as by nohup or in the
// background. TestMain has called ResetSignals there. The process still ignores what Go programs can be
// started to ignore, and each of the signals ends a program that it starts.
func TestResetSignals(t *testing.T) {
	if os.Getenv(ignoring) == "" {
		cmd := exec.Command("sh", "-c", `trap '' HUP INT QUIT; exec "$0" -test.run='^TestResetSignals$'`, os.Args[0])
		cmd.Env = append(os.Environ(), ignoring+"=yes")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Error(err)
		}
	}
	for name, sig := range map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT} {
		err := exec.Command("sh", "-c", "kill -"+name+" $$").Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != sig {
			t.Errorf("after SIG%s a program has ended with %v", name, err)
		}
	}
}

// A suspended process does nothing, not even end, until it is resumed.
func TestSuspend(t *testing.T) {
	p, in := start(t, "listens")
	if err := p.Suspend(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	select {
	case <-p.Ended():
		t.Error("a suspended process has ended")
	case <-time.After(50 * time.Millisecond):
	}
	if err := p.Resume(); err != nil {
		t.Error(err)
	}
	if !p.WaitOrKill(time.Minute) {
		t.Error("a resumed process has not ended with its input")
	}
	if err := p.Suspend(); err == nil {
		t.Error("a process that has ended was suspended")
	}
}
