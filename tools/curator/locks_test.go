//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curator/internal/view"
	"github.com/go-curator/curator/tools/curatortest"
)

// ask runs a command in this process and checks its exit code.
func (s *server) ask(code int, args ...string) (stdout, stderr string) {
	s.t.Helper()
	got, stdout, stderr := runHere(s.t, []string{"CURATOR_CONNECT=" + s.connect}, args...)
	if got != code {
		s.t.Errorf("%q: exit code %d, want %d, stdout %q, stderr %q", args, got, code, stdout, stderr)
	}
	return stdout, stderr
}

// create creates a node with data, and its parents, also just after a restart of the server, when the client may not
// know yet that its connection has ended.
func (s *server) create(path, data string) {
	s.t.Helper()
	if _, err := s.client.Create().Idempotent().CreatingParentsIfNeeded().WithData([]byte(data)).ForPath(s.t.Context(), path); err != nil {
		s.t.Fatal(err)
	}
}

// seen returns the locks below a path.
func (s *server) seen(path string) []view.Lock {
	s.t.Helper()
	stdout, _ := s.ask(0, "locks", path, "-o", "json")
	var view struct{ Locks []view.Lock }
	if err := json.Unmarshal([]byte(stdout), &view); err != nil {
		s.t.Fatalf("%v: %s", err, stdout)
	}
	return view.Locks
}

func TestLocks(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		if stdout, _ := s.ask(0, "locks"); stdout != "PATH  KIND  PLACE  OWNER  FOR  TOKEN  SESSION\n" {
			t.Errorf("stdout %q", stdout)
		}
		s.ask(1, "locks", "/locks")
		at := func(path string) *server {
			other := *s
			other.path = path
			return &other
		}
		mutex := at("/locks/a").held("lock")
		waiter := at("/locks/a").run("lock", "--", "true")
		at("/locks/a").untilNodes(2)
		reader := at("/locks/b/rw").held("rlock")
		lease := at("/locks/sem").held("semaphore", "-n", "2")
		s.create("/locks/bad/lock-0000000001", "")
		s.create("/locks/bad/latch-0000000002", "")
		s.create("/locks/java/lock-0000000001", "10.1.2.3\x1b[2J\u202e")

		seen := s.seen("/")
		var paths, kinds []string
		for _, lock := range seen {
			paths, kinds = append(paths, lock.Path), append(kinds, lock.Kind)
		}
		if !slices.Equal(paths, []string{"/locks/a", "/locks/b/rw", "/locks/bad", "/locks/java", "/locks/sem"}) ||
			!slices.Equal(kinds, []string{"mutex", "read-write", "", "mutex", "semaphore-v2"}) || seen[2].Error == "" {
			t.Errorf("locks %q of the kinds %q", paths, kinds)
		}
		holder, next := seen[0].Holders[0], seen[0].Waiters[0]
		host, _ := os.Hostname()
		if holder.Label != "curator lock -- sh" || holder.Host != host || holder.PID != mutex.cmd.Process.Pid || next.PID != waiter.cmd.Process.Pid ||
			fmt.Sprintf("in %d\n", holder.Token) != mutex.out.String() || holder.RevocationRequested || !strings.HasPrefix(holder.Session, "0x") {
			t.Errorf("holder %+v, waiter %+v", holder, next)
		}
		stdout, _ := s.ask(0, "locks", "/")
		if strings.Contains(stdout, "\x1b") || strings.Contains(stdout, "\u202e") || !strings.Contains(stdout, "waiter 1") {
			t.Errorf("stdout %q", stdout)
		}
		s.ask(0, "verify", "/locks/a", strconv.FormatInt(holder.Token, 10))
		if _, stderr := s.ask(1, "verify", "/locks/a", "1"); !strings.Contains(stderr, "not held with the token 1, but by curator lock -- sh on ") {
			t.Errorf("stderr %q", stderr)
		}
		mutex.finish()
		waiter.wantExit(0)
		s.ask(1, "verify", "/locks/a", strconv.FormatInt(holder.Token, 10))
		reader.finish()
		lease.finish()
	})
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	s.ask(1, "revoke", s.path)
	mutex, err := locks.NewInterProcessMutex(s.client, s.path, locks.WithRevocable(nil))
	if err != nil {
		t.Fatal(err)
	}
	lease, err := mutex.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if stdout, _ := s.ask(0, "revoke", s.path); !strings.HasPrefix(stdout, "asked "+filepath.Base(os.Args[0])+" on ") {
		t.Errorf("stdout %q", stdout)
	}
	<-lease.Context().Done()
	if seen := s.seen(s.path); len(seen) != 1 || !seen[0].Holders[0].RevocationRequested {
		t.Errorf("locks %+v", seen)
	}
	if err := lease.Release(t.Context()); err != nil && !errors.Is(err, locks.ErrLockLost) {
		t.Fatal(err)
	}
}

// A holder that has released the lock meanwhile does not keep the others from being asked.
func TestRevokeAfterARelease(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	var holders []view.Contender
	for _, path := range []string{"/lock/a", "/lock/b"} {
		s.create(path, "")
		var stat framework.Stat
		if _, err := s.client.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		holders = append(holders, view.Contender{Node: path, Token: stat.Czxid})
	}
	holders[0].Token-- // another node had the path when the lock was read
	asked, err := revoke(t.Context(), s.client, holders)
	if err != nil || len(asked) != 1 || asked[0].Node != "/lock/b" {
		t.Errorf("asked %+v, %v", asked, err)
	}
	if data, err := s.client.GetData().ForPath(t.Context(), "/lock/b"); string(data) != "__REVOKE__" || err != nil {
		t.Errorf("data %q, %v", data, err)
	}
}

func TestBreak(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		s.ask(1, "break", "--yes", s.path)
		holder := s.held("lock")
		waiter := s.run("lock", "--", "true")
		s.untilNodes(2)
		s.ask(64, "break", s.path) // there is no terminal
		s.ask(1, "break", "--yes", "--token", "1", s.path)
		s.untilNodes(2)
		if stdout, _ := s.ask(0, "break", "--yes", s.path); !strings.HasPrefix(stdout, "took "+s.path+" away from curator lock -- sh on ") {
			t.Errorf("stdout %q", stdout)
		}
		waiter.wantExit(0)
		holder.wantExit(76, "lock lost")
		s.wantFree()

		one, two := s.held("rlock"), s.held("rlock")
		s.ask(64, "break", "--yes", s.path) // which of them?
		var token string
		if _, err := fmt.Sscanf(two.out.String(), "in %s", &token); err != nil {
			t.Fatal(err)
		}
		s.ask(0, "break", "--yes", "--token", token, s.path)
		two.wantExit(76, "lock lost")
		one.finish()
		s.wantFree()
	})
}

// A holder that may not be read has no token, and is not the one that break takes without a token.
func TestBreakHidden(t *testing.T) {
	t.Parallel()
	s := serverAt(t, curatortest.Start(t, curatortest.WithRelease("3.9.5")).ConnectString(), "")
	create := s.client.Create().CreatingParentsIfNeeded().WithMode(framework.EphemeralSequential).WithACL(framework.WorldACL(framework.PermWrite))
	for range 2 {
		if _, err := create.ForPath(t.Context(), s.path+"/x__READ__"); err != nil {
			t.Fatal(err)
		}
	}
	if _, stderr := s.ask(64, "break", "--yes", s.path); !strings.Contains(stderr, "has 2 holders") {
		t.Errorf("stderr %q", stderr)
	}
	s.ask(1, "break", "--yes", "--token", "7", s.path)
	if len(s.nodes()) != 2 {
		t.Errorf("left: %q", s.nodes())
	}
}
