package main

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// The control sequences at the beginning and the end of the screen.
const (
	screenBegins = "\x1b[?1049h"
	screenEnds   = "\x1b[?1049l"
)

// wantRestored fails the test unless the terminal has its former settings, echo and line mode
// included, and a cursor.
func (d *desk) wantRestored() {
	d.t.Helper()
	text := d.out.String()
	last := text[strings.LastIndex(text, screenEnds)+1:]
	if strings.Count(text, screenBegins) != strings.Count(text, screenEnds) || strings.Contains(last, "-echo ") ||
		strings.Contains(last, "-icanon ") || !strings.Contains(last, "icanon ") {
		d.t.Errorf("the terminal was not restored: %q", last)
	}
}

const showSettings = `; echo "code $?"; stty -a | grep -o -e '-*echo ' -e '-*icanon '; echo end`

// TestScreen runs curator locks --watch on a terminal. It shows changes, control characters in names
// have no effect, Ctrl-Z gives the terminal back to the shell, and q quits.
func TestScreen(t *testing.T) {
	s := newEmbeddedServer(t)
	s.create("/locks/a\u202e/lock-0000000001", "10.0.0.1\u202ered")
	d := sit(t, s, `set -m; `+tool+` locks --watch --connect `+s.connect+` /locks; echo "code $?"; read y; fg`+showSettings)
	d.until(`/locks/a\u202e`)
	d.until("10.0.0.1red") // without the control sequence
	s.create("/locks/b/lock-0000000001", "10.0.0.2")
	d.until("10.0.0.2")
	d.types(ctrlZ)
	d.until("code 147\r\n")
	d.types("go on\n")
	begun := strings.Count(d.out.String(), screenBegins)
	suite.Eventually(t, "the screen again", func() bool { return strings.Count(d.out.String(), screenBegins) > begun || begun == 2 })
	d.types("x") // a key without a meaning
	d.types("q")
	d.until("code 0\r\n")
	d.until("end\r\n")
	d.wantRestored()
	if text := d.out.String(); strings.Contains(text, "\u202e") {
		t.Errorf("a name was written as it is: %q", text)
	}
}

// child returns the process that the shell runs.
func (d *desk) child() (pid int) {
	d.t.Helper()
	suite.Eventually(d.t, "the process of the shell", func() bool {
		out, err := exec.Command("ps", "--ppid", strconv.Itoa(d.shell.Process.Pid), "-o", "pid=").Output()
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(out)))
		}
		return err == nil
	})
	return pid
}

// TestScreenEndsBySignals checks that the terminal is restored after each signal.
func TestScreenEndsBySignals(t *testing.T) {
	s := newEmbeddedServer(t)
	d := sit(t, s, `trap : INT; `+tool+` locks -w --connect `+s.connect+showSettings)
	d.until("curator locks /")
	d.types(ctrlC)
	d.until("code 130\r\n")
	d.until("end\r\n")
	d.wantRestored()

	d = sit(t, s, tool+` demo --speed 5`+showSettings)
	d.until("/leaders/scheduler")
	if err := syscall.Kill(d.child(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	d.until("code 143\r\n")
	d.until("end\r\n")
	d.wantRestored()
}

// TestScreenOutlivesTheEnsemble stops the server for a while. The screen says so, and shows changes
// again afterwards.
func TestScreenOutlivesTheEnsemble(t *testing.T) {
	e := curatortest.Start(t, curatortest.WithTickTime(tick))
	s := serverAt(t, e.ConnectString(), "")
	s.create("/locks/a/lock-0000000001", "10.0.0.1")
	d := sit(t, s, `trap : INT; `+tool+` locks -w --connect `+s.connect+showSettings)
	d.until("10.0.0.1")
	e.Stop()
	d.until("the ensemble does not answer: no connection since ")
	e.Start()
	s.create("/locks/b/lock-0000000001", "10.0.0.2")
	d.until("10.0.0.2")
	d.types(ctrlC)
	d.until("code 130\r\n")
	d.until("end\r\n")
	d.wantRestored()
}
