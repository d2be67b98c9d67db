//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/tools/curator/internal/hold"
)

// run starts a command of curator that runs CMD. args are as for lock.
func (s *server) run(command string, args ...string) *process {
	s.t.Helper()
	return start(s.t, append([]string{command, "--connect", s.connect, s.path}, args...)...)
}

// held starts a command of curator whose CMD runs until the end of its standard input.
func (s *server) held(command string, flags ...string) *process {
	s.t.Helper()
	p := s.run(command, append(flags, "--", "sh", "-c", "echo in $CURATOR_FENCING_TOKEN; cat; exit 3")...)
	suite.Eventually(s.t, "the command", func() bool { return strings.HasPrefix(p.out.String(), "in ") })
	return p
}

func (p *process) finish() {
	p.t.Helper()
	p.stdin.Close()
	p.wantExit(3)
}

func TestReadWriteLocks(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		one, two := s.held("rlock"), s.held("rlock")
		s.run("wlock", "--try", "--", "true").wantExit(75, "the write lock "+s.path+" is held by curator rlock -- sh on ")
		writer := s.run("wlock", "--", "echo", "written")
		s.untilNodes(3)
		s.run("rlock", "--timeout", "4s", "-E", "9", "--", "true").wantExit(9, "the read lock "+s.path+" was not acquired within 4s")
		one.finish()
		two.finish()
		writer.wantExit(0)
		write := s.held("wlock")
		s.run("rlock", "--try", "--", "true").wantExit(75, "is held by curator wlock -- sh on ")
		s.run("lock", "--try", "--", "true").wantExit(64, "another kind of lock")
		write.finish()
		s.wantFree()
	})
}

func TestSemaphore(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		one, two := s.held("semaphore", "-n", "2"), s.held("semaphore", "-n", "2")
		s.run("semaphore", "-n2", "--try", "--", "true").wantExit(75, "the semaphore "+s.path+" is held by curator semaphore -- sh on ")
		waiter := s.run("semaphore", "-n", "2", "--", "true")
		suite.Eventually(t, "the waiter", func() bool { return len(s.children("/leases")) == 3 })
		s.wantHolders(one, two)
		if seen := s.seen(s.path); len(seen) != 1 || len(seen[0].Waiters) != 1 || seen[0].Waiters[0].PID != waiter.cmd.Process.Pid {
			t.Errorf("locks %+v", seen)
		}
		s.ask(64, "break", "--yes", s.path) // which of the two?
		one.finish()
		waiter.wantExit(0)
		s.wantHolders(two)
		s.ask(0, "break", "--yes", s.path)
		two.wantExit(76, "lock lost")
		for _, below := range []string{"/leases", "/locks"} {
			if names := s.children(below); len(names) > 0 {
				t.Errorf("left behind: %q", names)
			}
		}
	})
}

// children returns the names of the children of a node below the test's lock, none if it is missing.
func (s *server) children(below string) []string {
	s.t.Helper()
	names, err := s.client.GetChildren().ForPath(s.t.Context(), s.path+below)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		s.t.Fatal(err)
	}
	return names
}

// wantHolders fails unless curator locks shows these holders of the semaphore, and curator verify finds of
// each of its leases whether it is among them.
func (s *server) wantHolders(holders ...*process) {
	s.t.Helper()
	var want, tokens []string
	for _, h := range holders {
		want = append(want, strings.TrimSuffix(strings.TrimPrefix(h.out.String(), "in "), "\n"))
	}
	for _, lock := range s.seen(s.path) {
		for _, h := range lock.Holders {
			tokens = append(tokens, strconv.FormatInt(h.Token, 10))
		}
	}
	slices.Sort(tokens)
	if slices.Sort(want); !slices.Equal(tokens, want) {
		s.t.Errorf("the tokens of the holders are %q, want %q", tokens, want)
	}
	for _, name := range s.children("/leases") {
		var stat framework.Stat
		if _, err := s.client.CheckExists().StoringStatIn(&stat).ForPath(s.t.Context(), s.path+"/leases/"+name); err != nil {
			s.t.Fatal(err)
		}
		code, token := 1, strconv.FormatInt(stat.Czxid, 10)
		if slices.Contains(want, token) {
			code = 0
		}
		s.ask(code, "verify", s.path, token)
	}
}

// curator elect takes part in the elections of package leader.
func TestElect(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		one := s.held("elect", "--id", "web-7")
		two := s.run("elect", "--", "echo", "elected")
		s.untilNodes(2)
		selector, err := leader.NewLeaderSelector(s.client, s.path)
		if err != nil {
			t.Fatal(err)
		}
		list, err := selector.Participants(t.Context())
		if err != nil || len(list) != 2 || list[0].ID != "web-7" || !strings.HasPrefix(list[1].ID, "curator elect -- echo on ") {
			t.Fatalf("participants %v, %v", list, err)
		}
		s.run("elect", "--try", "--", "true").wantExit(75, "the election "+s.path+" is led by web-7")
		one.finish()
		two.wantExit(0)
		lost := s.held("elect")
		s.deleteNodes()
		lost.wantExit(76, "lock lost")
		s.wantFree()
	})
}

// The nodes have the ACL of --acl, and are in the namespace of --namespace.
func TestACLAndNamespace(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	p := s.held("lock", "--namespace", "shop", "--acl", "world:anyone:cdr", "-v")
	node := "/shop" + s.path
	acl, err := s.client.GetACL().ForPath(t.Context(), node)
	if err != nil || len(acl) != 1 || acl[0].String() != "world:anyone:cdr" {
		t.Errorf("ACL %v, %v", acl, err)
	}
	names, err := s.client.GetChildren().ForPath(t.Context(), node)
	if err != nil || len(names) != 1 {
		t.Errorf("nodes %q, %v", names, err)
	}
	p.stdin.Close()
	p.wantExit(3, ": CONNECTED to "+s.connect+", timeout 10s")
	var stat framework.Stat
	if _, err := s.client.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), node); err != nil || stat.NumChildren != 0 {
		t.Errorf("left behind: %d, %v", stat.NumChildren, err)
	}
}

// When curator is killed, the processes that CMD has started are killed, too, even those that ignore
// signals.
func TestKilledWithGrandchildren(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	pidFile := t.TempDir() + "/pid"
	holder := s.holder("(trap '' TERM HUP; echo started >" + pidFile + "; while :; do sleep 0.01; done) & while :; do sleep 0.01; done")
	suite.Eventually(t, "the grandchild", func() bool { _, err := os.Stat(pidFile); return err == nil })
	group := groupOf(t, holder)
	holder.signal(syscall.SIGKILL)
	holder.wait()
	suite.Eventually(t, "the end of the group", func() bool { return !alive(t, -group) })
}

// The guard has ended when the command has.
func TestGuardEnds(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	holder := s.holder("cat")
	out, err := exec.Command("ps", "-o", "pid=,args=", "--ppid", strconv.Itoa(holder.cmd.Process.Pid)).Output()
	if err != nil || !strings.Contains(string(out), hold.GuardArg) {
		t.Fatalf("no guard: %q, %v", out, err)
	}
	guard := 0
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); fields[len(fields)-1] == hold.GuardArg {
			guard, _ = strconv.Atoi(fields[0])
		}
	}
	holder.stdin.Close()
	holder.wantExit(0)
	suite.Eventually(t, "the end of the guard", func() bool { return !alive(t, guard) })
}

// Without a terminal a wait is logged after some seconds. A waiter for a lease is not among the holders.
func TestWaitIsLogged(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	semaphore := *s
	semaphore.path = "/tests/semaphore"
	user := semaphore.held("semaphore", "-n", "1")
	next := semaphore.run("semaphore", "-n", "1", "--timeout", "7s", "--", "true")
	holder := s.held("lock")
	waiter := s.run("lock", "--timeout", "7s", "--", "true")
	waiter.wantExit(75, "s so far: held by curator lock -- sh on ", "was not acquired within 7s")
	if text := waiter.err.String(); !strings.Contains(text, "waiting for "+s.path+", ") || !strings.Contains(text, "; number 1 of 1 in the queue\n") {
		t.Errorf("stderr %q", text)
	}
	next.wantExit(75, "s so far: held by curator semaphore -- sh on ", "was not acquired within 7s")
	if text := next.err.String(); !strings.Contains(text, "waiting for "+semaphore.path+", ") || !strings.Contains(text, "; number 1 of 1 in the queue\n") || strings.Contains(text, "and another") {
		t.Errorf("stderr %q", text)
	}
	user.finish()
	holder.finish()
}
