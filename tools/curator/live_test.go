//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

// watch starts a command that runs until a signal ends it.
func (s *server) watch(args ...string) *process {
	s.t.Helper()
	return start(s.t, append([]string{args[0], "--connect", s.connect}, args[1:]...)...)
}

// lines returns the lines of stdout that are complete.
func (p *process) lines() []string {
	lines := strings.SplitAfter(p.out.String(), "\n")
	return lines[:len(lines)-1]
}

func TestWatchEvents(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		json := s.watch("watch", "-o", "json", "-n", "4", "/w")
		table := s.watch("watch", "/w")
		node := s.watch("watch", "--node", "-o", "yaml", "-n", "2", "/w")
		for _, p := range []*process{json, table, node} {
			suite.Eventually(t, "the watch", func() bool { return strings.Contains(p.out.String(), "watching") })
		}
		s.ask(0, "create", "/w")
		s.ask(0, "create", "/w/\u202e", "1")
		s.ask(0, "set", "/w/\u202e", "2")
		s.ask(0, "rm", "/w/\u202e")
		json.wantExit(0)
		node.wantExit(0)
		suite.Eventually(t, "the events", func() bool { return len(table.lines()) == 5 })
		table.signal(syscall.SIGINT)
		table.wantExit(130)
		for i, want := range []string{"watching  /w\n", "created   /w\n", `created   /w/\u202e` + "\n", `changed   /w/\u202e` + "\n", `deleted   /w/\u202e` + "\n"} {
			if got := table.lines()[i]; !strings.HasSuffix(got, "  "+want) {
				t.Errorf("line %q, want %q", got, want)
			}
		}
		if got := json.lines(); len(got) != 5 || !strings.Contains(got[3], `"event":"changed","path":"/w/\u202e","zxid":"0x`) {
			t.Errorf("lines %q", got)
		}
		if got := node.out.String(); strings.Count(got, "---\n") != 3 || !strings.Contains(got, "event: created\n") || !strings.Contains(got, "event: children\npath: /w\n") {
			t.Errorf("stdout %q", got)
		}
	})
}

// curator locks --watch prints a document after each change, and only then.
func TestLocksLive(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		s.ask(1, "locks", "--watch", "/locks") // it does not exist
		s.create("/locks/a", "")
		p := s.watch("locks", "-w", "-o", "json", "/locks")
		suite.Eventually(t, "a first document", func() bool { return len(p.lines()) == 1 })
		mutex, err := locks.NewInterProcessMutex(s.client, "/locks/a")
		if err != nil {
			t.Fatal(err)
		}
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "the holder", func() bool { return len(p.lines()) == 2 })
		s.create("/locks/b", "") // which is no lock
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "the end of the hold", func() bool { return len(p.lines()) == 3 })
		s.ask(0, "rm", "-r", "/locks") // which does not end the command
		s.create("/locks/a/lock-0000000001", "10.0.0.1")
		suite.Eventually(t, "another holder", func() bool { return len(p.lines()) == 4 })
		p.signal(syscall.SIGTERM)
		p.wantExit(143)
		for i, want := range []string{"", lease.Path(), "", "/locks/a/lock-0000000001"} {
			var view struct{ Locks []view.Lock }
			if err := json.Unmarshal([]byte(p.lines()[i]), &view); err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(view.Locks) > 0 {
				got = view.Locks[0].Holders[0].Node
			}
			if got != want {
				t.Errorf("document %d: %q, want %q", i, got, want)
			}
		}
	})
}

func TestLeaders(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	latch, err := leader.NewLeaderLatch(s.client, "/elections/latch", leader.WithID("one\x1b[2J"))
	if err != nil {
		t.Fatal(err)
	}
	if err := latch.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer latch.Close(t.Context())
	if _, err := latch.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := func(path string) *server { return &server{t, s.address, s.chroot, s.connect, s.client, path} }
	elected := at("/elections/selector").held("elect", "--id", "web-7")
	mutex := at("/elections/mutex").held("lock")
	s.create("/elections/java/lock-0000000001", "10.0.0.1") // a mutex of Java
	stdout, _ := s.ask(0, "leaders", "/elections")
	lines := strings.Split(stdout, "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[1], `/elections/latch     latch     leader  one[2J  `) || !strings.HasPrefix(lines[2], "/elections/selector  selector  leader  web-7  ") {
		t.Errorf("stdout %q", stdout)
	}
	var view struct{ Elections []view.Election }
	stdout, _ = s.ask(0, "leaders", "/elections/mutex", "-o", "json") // a mutex is shown if PATH is its path
	if err := json.Unmarshal([]byte(stdout), &view); err != nil || len(view.Elections) != 1 || fmt.Sprintf("in %d\n", view.Elections[0].Leader.Token) != mutex.out.String() {
		t.Errorf("%v: %s", err, stdout)
	}
	s.ask(1, "leaders", "/none")
	elected.finish()
	mutex.finish()
}

// TestQueues has a queue with an item that a consumer has locked, and a queue below nodes of other
// recipes.
func TestQueues(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	tasks, err := queue.NewDistributedQueue(s.client, "/queues/tasks", codec.String(), queue.WithLockPath("/queues/tasks-locks"))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := tasks.Put(t.Context(), "data"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- tasks.Consume(ctx, func(ctx context.Context, _ queue.Message[string]) error {
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-begun
	s.create("/queues/delay/queue-|"+strings.ToUpper(strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 16))+"|0000000001", "")
	var view struct{ Queues []view.Queue }
	stdout, _ := s.ask(0, "queues", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &view); err != nil || len(view.Queues) != 2 {
		t.Fatalf("%v: %s", err, stdout)
	}
	delayed, worked := view.Queues[0], view.Queues[1]
	if delayed.Kind != "delay" || delayed.Delayed != 1 || time.Until(*delayed.NextDue) < 59*time.Minute {
		t.Errorf("%+v", delayed)
	}
	if worked.Path != "/queues/tasks" || worked.Kind != "plain" || worked.Length != 3 || worked.Oldest.Node != "/queues/tasks/queue-0000000000" ||
		worked.LockPath != "/queues/tasks-locks" || worked.InWork != 1 || len(worked.Consumers) != 1 || worked.Consumers[0].Session != output.Hex(s.client.SessionID()) {
		t.Errorf("%+v", worked)
	}
	if stdout, _ := s.ask(0, "queues", "/queues"); !strings.Contains(stdout, "1 locked by 1 consumer\n") || !strings.Contains(stdout, "1 delayed, the next is due in ") {
		t.Errorf("stdout %q", stdout)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
