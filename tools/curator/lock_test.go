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

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

func TestRunsTheCommand(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		p := s.lock("--", "sh", "-c", `cat; echo "$CURATOR_LOCK_PATH" "$CURATOR_FENCING_TOKEN"; echo err >&2; exit 42`)
		fmt.Fprintln(p.stdin, "from stdin")
		p.stdin.Close()
		if code := p.wait(); code != 42 || p.err.String() != "err\n" {
			t.Fatalf("exit code %d, stderr %q", code, &p.err)
		}
		lines := strings.Split(p.out.String(), "\n")
		path, text, _ := strings.Cut(lines[1], " ")
		token, err := strconv.ParseInt(text, 10, 64)
		if len(lines) != 3 || lines[0] != "from stdin" || path != s.path || err != nil || token <= 0 {
			t.Fatalf("stdout %q", &p.out)
		}
		s.wantFree()

		// Flags may be after PATH, too, and the flags of CMD are not curator's.
		p = s.lock("--timeout", "10s", "--", "echo", "--timeout", "-E", "--")
		p.wantExit(0)
		if got := p.out.String(); got != "--timeout -E --\n" {
			t.Fatalf("stdout %q", got)
		}
		s.wantFree()
	})
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	s.lock("--", "sh", "-c", "kill -KILL $$").wantExit(128 + 9)
	s.lock("--", "sh", "-c", "kill -TERM $$").wantExit(128 + 15)
	s.lock("--", "no-such-command").wantExit(127, `cannot run "no-such-command"`)
	s.lock("--", "/no/such/command").wantExit(127, "no such file")
	s.lock("--", "").wantExit(127, "cannot run")
	s.lock("--", "/dev/null").wantExit(126, "permission denied")
	s.lock("--", "/").wantExit(126, "directory")
	s.lock("--max-hold", "100ms", "--", "sleep", "60").wantExit(124, "the command has run for 100ms")
	s.lock("--max-hold", "100ms", "--grace", "100ms", "--", "sh", "-c", "trap '' TERM; while :; do sleep 0.01; done").wantExit(124, "SIGKILL in 100ms")
	s.wantFree()
}

// That a script has no interpreter shows only at its start, when the lock is held.
func TestCommandThatDoesNotStart(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	for content, code := range map[string]int{"#!/no/such/interpreter\n": 127, "no script": 126} {
		script := writeFile(t, "script", content, 0o700)
		s.lock("--", script).wantExit(code, "cannot run")
		s.wantFree()
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		holder := s.holder("cat")
		s.lock("--try", "--", "echo", "in").wantExit(75, "is held by curator lock -- sh on ")
		s.lock("--try", "-E", "0", "--", "echo", "in").wantExit(0, "is held by curator lock -- sh on ")
		late, other := s.lock("--timeout", "4s", "--", "echo", "in"), s.lock("--timeout", "4s", "-E9", "--", "echo", "in")
		late.wantExit(75, "not acquired within 4s: it is held by curator lock -- sh on ")
		other.wantExit(9, "not acquired within 4s")
		if n := len(s.nodes()); n != 1 {
			t.Fatalf("%d contenders", n)
		}
		waiter := s.lock("--timeout", "20s", "--", "echo", "next")
		s.untilNodes(2)
		holder.stdin.Close()
		holder.wantExit(0)
		waiter.wantExit(0)
		if got := waiter.out.String(); got != "next\n" {
			t.Fatalf("stdout %q", got)
		}
		s.wantFree()
	})
}

// A signal during the wait ends the wait.
func TestSignalWhileWaiting(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		holder := s.holder("cat")
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
			waiter := s.lock("--", "echo", "in")
			s.untilNodes(2)
			waiter.signal(sig)
			waiter.wantExit(128 + int(sig))
			if out := waiter.out.String(); out != "" {
				t.Fatalf("stdout %q", out)
			}
			if n := len(s.nodes()); n != 1 {
				t.Fatalf("%d contenders after %v", n, sig)
			}
		}
		holder.stdin.Close()
		holder.wantExit(0)
		s.wantFree()
	})
}

func TestNested(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	curator := func(path string) []string { return []string{"--", tool, "lock", "--connect", s.connect, path} }
	s.lock(append(curator(s.path), "--", "true")...).wantExit(64, "would wait for itself")
	// With another lock between them, and with another form of the connect string.
	between := append(curator("/other"), "--", tool, "lock", "--connect", " "+s.connect+"/", s.path, "--", "true")
	s.lock(between...).wantExit(64, "would wait for itself")
	s.lock(append(curator("/other"), "--", "true")...).wantExit(0)
	cmd := exec.Command(tool, "lock", "--connect", s.connect, s.path, "--", "true")
	cmd.Env = []string{"CURATOR_LOCK_PATH=" + s.path}
	startCmd(t, cmd).wantExit(64, "would wait for itself")
	s.wantFree()
}

func TestChroot(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		args := []string{"lock", "--connect", s.connect + "/tests/app", "/lock", "--", "true"}
		start(t, args...).wantExit(64, "the chroot "+s.chroot+"/tests/app of "+s.address+" does not exist")
		if _, err := s.client.Create().CreatingParentsIfNeeded().ForPath(t.Context(), "/tests/app"); err != nil {
			t.Fatal(err)
		}
		start(t, args...).wantExit(0)
		names, err := s.client.GetChildren().ForPath(t.Context(), "/tests/app/lock")
		if err != nil || len(names) > 0 {
			t.Errorf("left behind: %q, %v", names, err)
		}
	})
}

func TestConnectFromTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	cmd := exec.Command(tool, "lock", s.path, "--", "echo", "in")
	cmd.Env = []string{"CURATOR_CONNECT=" + s.connect}
	p := startCmd(t, cmd)
	p.wantExit(0)
	p.untilOut("in\n")
}

func TestNotPermitted(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		readOnly := []framework.ACL{{Perms: 1, Scheme: "world", ID: "anyone"}}
		if _, err := s.client.Create().CreatingParentsIfNeeded().WithACL(readOnly...).ForPath(t.Context(), s.path); err != nil {
			t.Fatal(err)
		}
		s.lock("--", "echo", "in").wantExit(77, "not permitted")
		s.wantFree()
	})
}

func TestOtherKindOfLock(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	node := s.path + "/_c_x-__READ__0000000000"
	if _, err := s.client.Create().CreatingParentsIfNeeded().ForPath(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	s.lock("--", "echo", "in").wantExit(64, "another kind of lock")
}

// curator lock excludes programs that use the library.
func TestSharedWithTheLibrary(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		mutex, err := locks.NewInterProcessMutex(s.client, s.path)
		if err != nil {
			t.Fatal(err)
		}
		holder := s.holder("cat")
		if _, err := mutex.TryAcquire(t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
			t.Fatalf("error %v", err)
		}
		holder.stdin.Close()
		holder.wantExit(0)
		lease, err := mutex.TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.lock("--try", "--", "echo", "in").wantExit(75, "is held by "+filepath.Base(os.Args[0])+" on ")
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.wantFree()
	})
}
