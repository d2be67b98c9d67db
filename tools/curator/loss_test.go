//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// sessionTimeout is longer than a busy machine stands still.
const sessionTimeout = 4 * time.Second

// When a holder is killed, its CMD dies, and another process gets the lock within the session timeout
// and two ticks.
func TestKilledHolder(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		holder := s.lock("--session-timeout", sessionTimeout.String(), "--", "sh", "-c", "echo $$; exec cat")
		suite.Eventually(t, "the command", func() bool { return strings.HasSuffix(holder.out.String(), "\n") })
		pid, err := strconv.Atoi(strings.TrimSpace(holder.out.String()))
		if err != nil {
			t.Fatal(err)
		}
		// The next CMD says whether the holder's lives on. A zombie does not.
		waiter := s.lock("--session-timeout", sessionTimeout.String(), "--", "sh", "-c",
			`case $(ps -o stat= -p "$1") in ""|Z*) echo in;; *) echo "in beside $1";; esac`, "sh", strconv.Itoa(pid))
		s.untilNodes(2)
		killed := time.Now()
		holder.signal(syscall.SIGKILL)
		holder.wait()
		waiter.untilOut("in\n")
		took := time.Since(killed)
		t.Logf("handed over after %v", took)
		if took > sessionTimeout+2*tick+late {
			t.Errorf("handed over after %v", took)
		}
		waiter.wantExit(0)
		s.wantFree()
	})
}

// A holder that is continued after a stop that was longer than its session timeout ends its CMD.
func TestThawedHolder(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		holder := s.lock("--session-timeout", sessionTimeout.String(), "--", "sh", "-c", "echo in; sleep 60; echo out")
		holder.untilOut("in\n")
		waiter := s.lock("--", "echo", "next")
		s.untilNodes(2)
		holder.signal(syscall.SIGSTOP)
		waiter.wantExit(0)
		waiter.untilOut("next\n")
		thawed := time.Now()
		holder.signal(syscall.SIGCONT)
		holder.wantExit(76, "lock lost")
		if took := time.Since(thawed); took > late {
			t.Errorf("it took %v", took)
		}
		holder.untilOut("in\n")
		s.wantFree()
	})
}

// When the node is deleted, the whole process group gets SIGTERM.
func TestDeletedNode(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		dir := t.TempDir()
		holder := s.holder(`cd ` + dir + `
			trap 'echo term >parent; wait; exit 3' TERM
			(trap 'echo term >child; exit' TERM; echo ready; while :; do sleep 0.01; done) &
			while :; do sleep 0.01; done`)
		holder.untilOut("in\nready\n")
		s.deleteNodes()
		holder.wantExit(76, "lock lost: its node was deleted")
		for _, name := range []string{"child", "parent"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("the %s did not get SIGTERM: %v", name, err)
			}
		}
		s.wantFree()
	})
}

// A CMD that ignores SIGTERM gets SIGKILL after --grace.
func TestGrace(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	holder := s.holder("trap '' TERM; sh -c 'while :; do sleep 0.01; done' & while :; do sleep 0.01; done", "--grace", "300ms")
	group := groupOf(t, holder)
	lost := time.Now()
	s.deleteNodes()
	holder.wantExit(76, "SIGKILL in 300ms")
	if took := time.Since(lost); took < 300*time.Millisecond || took > late {
		t.Errorf("it took %v", took)
	}
	if alive(t, -group) {
		t.Error("the group is alive")
	}
}

// When the network fails, CMD has ended before another process can get the lock, however long --grace
// is.
func TestPartitionedHolder(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		network := newNetwork(t, s.address)
		journal := writeFile(t, "journal", "", 0o600)
		script := `trap '' TERM; while :; do date +%s%N >>"$1"; sleep 0.02; done`
		holder := start(t, "lock", "--connect", network.address()+s.chroot, "--session-timeout", "4s", "--grace", "1m",
			s.path, "--", "sh", "-c", script, "sh", journal)
		s.untilNodes(1)
		waiter := s.lock("--", "date", "+%s%N")
		s.untilNodes(2)
		suite.Eventually(t, "a line of the journal", func() bool {
			info, err := os.Stat(journal)
			return err == nil && info.Size() > 0
		})
		heal := network.cut()
		defer heal()
		waiter.wantExit(0)
		holder.wantExit(76, "lock lost: no answer")
		content, err := os.ReadFile(journal)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		last, err := strconv.ParseInt(lines[len(lines)-1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		next, err := strconv.ParseInt(strings.TrimSpace(waiter.out.String()), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v after the last sign of life of the one the next was in", time.Duration(next-last))
		if next <= last {
			t.Error("two were in")
		}
		s.wantFree()
	})
}

// A loss that only the release notices gives the exit code of a loss.
func TestLostBeforeTheRelease(t *testing.T) {
	t.Parallel()
	e := curatortest.Start(t, curatortest.WithTickTime(tick))
	s := serverAt(t, e.ConnectString(), "")
	holder := s.holder("cat; exit 7")
	for _, op := range []string{"delete", "multi"} { // as if the node were gone
		e.Inject(curatortest.Rule{Op: op, Path: s.path + "/**", Times: 10, Do: curatortest.Fail(framework.ErrNoNode)})
	}
	holder.stdin.Close()
	holder.wantExit(76, "the lock was lost before the release; the command had ended with status 7")
	s.wantFree()
}

// A connection that breaks and comes back within the session is no loss.
func TestReconnect(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		network := newNetwork(t, s.address)
		holder := start(t, "lock", "--connect", network.address()+s.chroot, s.path, "--", "sh", "-c", "echo in; cat; exit 7")
		holder.untilOut("in\n")
		for range 3 {
			network.disconnect()
		}
		holder.stdin.Close()
		holder.wantExit(7)
		s.wantFree()
	})
}

// CMD is ended after a loss although nobody reads stderr, and the pipe is full.
func TestLossWithFullStderr(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	holder := newPiped(t, "lock", "--connect", s.connect, s.path, "--", "sleep", "60")
	s.untilNodes(1)
	holder.fill()
	s.deleteNodes()
	if code := holder.wait(); code != 76 {
		t.Errorf("exit code %d", code)
	}
	s.wantFree()
}
