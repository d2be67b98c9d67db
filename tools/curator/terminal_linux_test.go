package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curator/internal/console"
)

const (
	ctrlC = "\x03"
	ctrlZ = "\x1a"
)

// desk is a terminal on which a shell runs a script.
type desk struct {
	t      *testing.T
	master *os.File
	out    suite.Log
	shell  *exec.Cmd
	ended  chan struct{}
}

// openPty returns both ends of a new terminal.
func openPty(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// sit starts a shell with a new terminal. In the script, $lock is a curator lock command up to its
// --.
func sit(t *testing.T, s *server, script string, flags ...string) *desk {
	t.Helper()
	master, slave := openPty(t)
	d := &desk{t: t, master: master, ended: make(chan struct{})}
	lock := append([]string{tool, "lock", "--connect", s.connect, s.path}, flags...)
	d.shell = exec.Command("sh", "-c", "lock='"+strings.Join(lock, " ")+" --'; "+script)
	d.shell.Env = cleanEnv()
	d.shell.Stdin, d.shell.Stdout, d.shell.Stderr = slave, slave, slave
	d.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := d.shell.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		// Reading fails as soon as no process has the slave open, and may then lose the last
		// output. So the test keeps the slave open.
		io.Copy(&d.out, master)
	}()
	go func() {
		defer close(d.ended)
		d.shell.Wait() // its result does not matter
	}()
	t.Cleanup(func() {
		if t.Failed() {
			killSession(d.shell.Process.Pid)
		}
		d.shell.Process.Kill() // it fails if the shell has ended
		<-d.ended
		slave.Close()
		<-read
		master.Close()
		if t.Failed() {
			t.Logf("terminal:\n%s", &d.out)
		}
	})
	return d
}

// types types text.
func (d *desk) types(text string) {
	d.t.Helper()
	if _, err := io.WriteString(d.master, text); err != nil {
		d.t.Fatal(err)
	}
}

// until waits until the terminal shows text.
func (d *desk) until(text string) {
	d.t.Helper()
	suite.Eventually(d.t, "on the terminal: "+text, func() bool { return strings.Contains(d.out.String(), text) })
}

// end waits for the end of the shell, and then checks that the lock is free.
func (d *desk) end(s *server) {
	d.t.Helper()
	select {
	case <-d.ended:
	case <-time.After(patience):
		d.t.Fatal("the shell does not end")
	}
	s.wantFree()
}

// CMD reads from the terminal, and after it the shell does.
func TestTerminal(t *testing.T) {
	onServers(t, func(t *testing.T, s *server) {
		d := sit(t, s, `$lock sh -c 'echo in; read x; echo "got $x"; exit 3'; echo "code $?"; read y; echo "then $y"`)
		d.until("in\r\n")
		d.types("one\n")
		d.until("got one\r\n")
		d.until("code 3\r\n")
		d.types("two\n")
		d.until("then two\r\n")
		d.end(s)
	})
}

// Ctrl-C is sent to CMD only.
func TestTerminalInterrupt(t *testing.T) {
	s := newEmbeddedServer(t)
	d := sit(t, s, `trap 'echo shell' INT; $lock sh -c 'trap "exit 9" INT; echo in; while :; do sleep 0.01; done'; echo "code $?"; read y; echo "then $y"`)
	d.until("in\r\n")
	d.types(ctrlC)
	d.until("code 9\r\n")
	d.types("two\n")
	d.until("then two\r\n")
	d.end(s)
	if strings.Contains(d.out.String(), "shell") {
		t.Error("the shell was interrupted, too")
	}
}

// A CMD that cannot be run may have taken the foreground already.
func TestTerminalCommandThatDoesNotStart(t *testing.T) {
	s := newEmbeddedServer(t)
	script := writeFile(t, "script", "no script", 0o700)
	d := sit(t, s, `$lock `+script+`; echo "code $?"; read y; echo "then $y"`)
	d.until("code 126\r\n")
	d.types("two\n")
	d.until("then two\r\n")
	d.end(s)
}

// Ctrl-Z stops CMD and curator, and the shell continues. fg continues both, and the lock is still
// held.
func TestTerminalStop(t *testing.T) {
	s := newEmbeddedServer(t)
	d := sit(t, s, `set -m; $lock sh -c 'echo in; read x; echo "got $x"'; echo "code $?"; read y; fg; echo "code $?"; read z; echo "then $z"`)
	d.until("in\r\n")
	d.types(ctrlZ)
	d.until("code 147\r\n")
	d.types("go on\n")
	d.until("${lock} sh") // fg prints the job
	d.types("one\n")
	d.until("got one\r\n")
	d.until("code 0\r\n")
	d.types("two\n")
	d.until("then two\r\n")
	d.end(s)
}

// After Ctrl-Z, bg continues both in the background.
func TestTerminalStopAndBackground(t *testing.T) {
	s := newEmbeddedServer(t)
	fifo := newFIFO(t)
	d := sit(t, s, `set -m; $lock sh -c 'echo in; : <`+fifo+`; echo out'; echo "code $?"; read y; bg; read z; echo "then $z"; : >`+fifo+`; wait; echo end`)
	d.until("in\r\n")
	d.types(ctrlZ)
	d.until("code 147\r\n")
	d.types("go on\n")
	d.types("one\n")
	d.until("then one\r\n")
	d.until("out\r\n")
	d.until("end\r\n")
	d.end(s)
}

func newFIFO(t *testing.T) (path string) {
	t.Helper()
	path = t.TempDir() + "/fifo"
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A job that was stopped for too long has lost its lock, and CMD is ended when it is continued.
func TestTerminalStoppedTooLong(t *testing.T) {
	s := newEmbeddedServer(t)
	d := sit(t, s, `set -m; $lock sh -c 'echo in; read x; echo "got $x"'; echo "code $?"; read y; fg; echo "code $?"; read z; echo "then $z"`,
		"--session-timeout", "3s")
	d.until("in\r\n")
	d.types(ctrlZ)
	d.until("code 147\r\n")
	s.untilNodes(0)
	d.types("go on\n")
	d.until("lock lost")
	d.until("code 76\r\n")
	d.types("two\n")
	d.until("then two\r\n")
	d.end(s)
	if strings.Contains(d.out.String(), "\ngot") {
		t.Error("the command went on")
	}
}

// In the background CMD is stopped when it reads, as any job is, and reads after fg. Until then the
// shell has the terminal.
func TestTerminalBackground(t *testing.T) {
	s := newEmbeddedServer(t)
	d := sit(t, s, `set -m; $lock sh -c 'echo in; read x; echo "got $x"' & read y; echo "then $y"; fg; echo "code $?"; read z; echo "then $z"`)
	d.until("in\r\n")
	suite.Eventually(t, "the stop of curator", func() bool {
		out, err := exec.Command("ps", "-s", strconv.Itoa(d.shell.Process.Pid), "-o", "stat=,args=").Output()
		return err == nil && regexp.MustCompile(`(?m)^T.*curator lock`).Match(out)
	})
	d.types("for the shell\n")
	d.until("then for the shell\r\n")
	d.types("one\n")
	d.until("got one\r\n")
	d.until("code 0\r\n")
	d.types("two\n")
	d.until("then two\r\n")
	d.end(s)
}

// In a pipeline the pager has the terminal until CMD uses it.
func TestTerminalPipeline(t *testing.T) {
	s := newEmbeddedServer(t)
	fifo := newFIFO(t)
	d := sit(t, s, `$lock sh -c 'echo in; : <`+fifo+`; read x </dev/tty; echo "got $x"' |
		{ read line; echo "$line"; read y </dev/tty; echo "pager $y"; : >`+fifo+`; cat; }; echo "code $?"; read z; echo "then $z"`)
	d.until("in\r\n")
	d.types("one\n")
	d.until("pager one\r\n")
	d.types("two\n")
	d.until("got two\r\n")
	d.until("code 0\r\n")
	d.types("three\n")
	d.until("then three\r\n")
	d.end(s)
}

// Ctrl-Z stops a whole pipeline, and CMD in it.
func TestTerminalStopPipeline(t *testing.T) {
	s := newEmbeddedServer(t)
	fifo := newFIFO(t)
	d := sit(t, s, `set -m; $lock sh -c 'echo in; : <`+fifo+`; echo out' | cat; echo "code $?"; read y; fg; echo "code $?"; read z; echo "then $z"`)
	d.until("in\r\n")
	d.types(ctrlZ)
	d.until("code 14") // SIGTSTP by the terminal or SIGSTOP by curator, whichever was the last
	d.types("go on\n")
	if err := os.WriteFile(fifo, nil, 0o600); err != nil { // waits for CMD to read
		t.Fatal(err)
	}
	d.until("\nout\r\n")
	d.until("code 0\r\n")
	d.types("two\n")
	d.until("then two\r\n")
	d.end(s)
}

// When the lock is lost, a CMD that reads from the terminal ends, and the foreground
// comes back.
func TestTerminalLoss(t *testing.T) {
	s := newEmbeddedServer(t)
	d := sit(t, s, `$lock sh -c 'trap "" TERM; echo in; read x; echo "got $x"'; echo "code $?"; read y; echo "then $y"`, "--grace", "200ms")
	d.until("in\r\n")
	s.deleteNodes()
	d.until("code 76\r\n")
	d.types("two\n")
	d.until("then two\r\n")
	d.end(s)
}

// Without a shell that could continue a job, Ctrl-Z does nothing, as it does without curator.
func TestTerminalOfNoShell(t *testing.T) {
	s := newEmbeddedServer(t)
	d := sit(t, s, `exec $lock sh -c 'echo in; read x; echo "got $x"'`)
	d.until("in\r\n")
	d.types(ctrlZ)
	d.types("one\n")
	d.until("got one\r\n")
	d.end(s)
}

// During the wait for a lock the terminal has a status line, which is cleared before CMD runs.
func TestTerminalWaiting(t *testing.T) {
	s := newEmbeddedServer(t)
	holder := s.held("lock")
	d := sit(t, s, `$lock sh -c 'echo in'`)
	d.until("waiting for " + s.path)
	d.until(" so far: held by curator")
	holder.finish()
	d.until(console.Wipe + "in\r\n")
	d.end(s)
}

// After a signal has ended CMD, the terminal has its former settings.
func TestTerminalRestored(t *testing.T) {
	s := newEmbeddedServer(t)
	d := sit(t, s, `$lock sh -c 'stty -echo -icanon; echo in; kill -KILL $$'; echo "code $?"; stty -a | grep -o -e '-*echo ' -e '-*icanon '`)
	d.until("in\r\n")
	d.until("code 137\r\n")
	d.until("echo \r\n")
	d.end(s)
	if text := d.out.String(); strings.Contains(text, "-echo ") || strings.Contains(text, "-icanon ") || !strings.Contains(text, "echo ") {
		t.Errorf("the settings are %q", text)
	}
}

// curator break asks for a confirmation on a terminal.
func TestBreakAsks(t *testing.T) {
	s := newEmbeddedServer(t)
	holder := s.held("lock")
	command := tool + " break --connect " + s.connect + " " + s.path
	d := sit(t, s, command+`; echo "code $?"; `+command+`; echo "code $?"`)
	d.until("is held by curator lock -- sh on ")
	d.until("Type yes to take the lock away: ")
	d.types("no\n")
	d.until("nothing was done\r\ncode 1\r\n")
	d.types("yes\n")
	d.until("code 0\r\n")
	holder.wantExit(76, "lock lost")
	d.end(s)
}
