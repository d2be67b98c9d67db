package curatortest_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestLeaseHeldAtTheEnd ends tests that have released their leases, and tests that have not.
func TestLeaseHeldAtTheEnd(t *testing.T) {
	for name, test := range map[string]struct {
		during func(t *testing.T, s *curatortest.Server, tb *fakeTB)
		want   string
	}{
		"held": {func(t *testing.T, s *curatortest.Server, tb *fakeTB) { acquire(t, s.Client(tb)) }, "not released, of /lock"},
		"released": {func(t *testing.T, s *curatortest.Server, tb *fakeTB) {
			if err := acquire(t, s.Client(tb)).Release(t.Context()); err != nil {
				t.Error(err)
			}
		}, ""},
		"lost": {func(t *testing.T, s *curatortest.Server, tb *fakeTB) {
			client := s.Client(tb)
			lease := acquire(t, client)
			s.ExpireSession(client.SessionID())
			<-lease.Context().Done()
		}, "not released, of /lock"},
		"lost and released": {func(t *testing.T, s *curatortest.Server, tb *fakeTB) {
			client := s.Client(tb)
			lease := acquire(t, client)
			s.ExpireSession(client.SessionID())
			if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrLockLost) {
				t.Errorf("release: %v", err)
			}
		}, ""},
		"without a connection": {func(t *testing.T, s *curatortest.Server, tb *fakeTB) {
			client := s.Client(tb)
			if err := client.BlockUntilConnected(t.Context()); err != nil {
				t.Error(err)
			}
			s.Partition(curatortest.Both)
		}, ""},
	} {
		run := func(t *testing.T, opts ...curatortest.Option) {
			tb := &fakeTB{}
			test.during(t, curatortest.Start(t, opts...), tb)
			tb.end()
			got := strings.Join(tb.failures, "; ")
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("failures: %q, want %q", got, test.want)
			}
		}
		if name != "without a connection" { // in real time the client would wait for ten seconds
			t.Run(name+"/TCP", func(t *testing.T) { run(t) })
		}
		t.Run(name+"/Virtual", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, curatortest.Virtual()) })
		})
	}
}

// TestTestingIsNotLinked checks that a program that uses the servers does not link package testing.
func TestTestingIsNotLinked(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".", "../../internal/zkserver", "../curator").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 50 {
		t.Errorf("a short list: %v", packages)
	}
	for _, p := range packages {
		if p == "testing" || strings.HasPrefix(p, "testing/") {
			t.Errorf("%s is linked", p)
		}
	}
}

// TestVirtualClient checks that a client keeps its session for two hours, and then loses it.
func TestVirtualClient(t *testing.T) {
	start := time.Now()
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client := server.Client(t)
		if _, err := client.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/e"); err != nil {
			t.Fatal(err)
		}
		session := client.SessionID()
		pass(2 * time.Hour)
		if server.Sessions() != 1 || client.SessionID() != session {
			t.Errorf("%d sessions; the client's is 0x%x and was 0x%x", server.Sessions(), client.SessionID(), session)
		}
		heal := server.Partition(curatortest.Both)
		pass(time.Hour)
		heal()
		if exists, err := client.CheckExists().ForPath(t.Context(), "/e"); err != nil || exists {
			t.Errorf("exists: %t, %v", exists, err)
		}
		if client.SessionID() == session {
			t.Error("the session has outlived an hour without a word")
		}
	})
	t.Logf("three hours in %v", time.Since(start))
}
