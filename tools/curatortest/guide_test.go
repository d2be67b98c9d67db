package curatortest_test

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestOrderIsStored(t *testing.T) {
	server := curatortest.Start(t)
	client := server.Client(t)

	if _, err := client.Create().WithData([]byte("new")).ForPath(t.Context(), "/order"); err != nil {
		t.Fatal(err)
	}
	if data, ok := server.Get("/order"); !ok || string(data) != "new" {
		t.Errorf("stored: %q, %t", data, ok)
	}
}

func TestHolderIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		holder, other := server.Client(t), server.Client(t)

		lease := acquire(t, holder)
		heal := server.PartitionSession(holder.SessionID(), curatortest.Both)
		cutOff := time.Now()

		next := acquire(t, other) // returns when the first session has expired
		t.Logf("let in after %v", time.Since(cutOff))
		if lease.Err() == nil {
			t.Error("two holders: the first one still believes in its lease")
		}
		heal()
		if err := lease.Release(t.Context()); !errors.Is(err, locks.ErrLockLost) {
			t.Errorf("release of a lost lock: %v", err)
		}
		if err := next.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// acquire acquires the lock of these tests.
func acquire(t *testing.T, client *framework.Client) *locks.Lease {
	t.Helper()
	mutex, err := locks.NewInterProcessMutex(client, "/locks/orders")
	if err != nil {
		t.Fatal(err)
	}
	lease, err := mutex.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func TestReplyIsLost(t *testing.T) {
	server := curatortest.Start(t)
	client := server.Client(t)

	hit := server.Inject(curatortest.Rule{Op: "create", Path: "/order", Do: curatortest.CutAfter()})
	_, err := client.Create().ForPath(t.Context(), "/order")
	if !framework.MaybeApplied(err) {
		t.Errorf("create: %v", err)
	}
	if _, applied := server.Get("/order"); !applied || !hit() {
		t.Errorf("applied: %t, a reply was lost: %t", applied, hit())
	}
}

func TestEmptyContainerGoes(t *testing.T) {
	server := curatortest.Start(t, curatortest.WithContainerCheckInterval(5*time.Second))
	client := server.Client(t)

	_, err := client.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), "/jobs/1")
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Delete().ForPath(t.Context(), "/jobs/1"); err != nil {
		t.Fatal(err)
	}
	server.AdvanceClock(10 * time.Second)
	if _, there := server.Get("/jobs"); there {
		t.Error("the container is there")
	}
}

func TestLeaderDies(t *testing.T) {
	ensemble := curatortest.RealEnsemble(t, 3)
	client := ensemble.Client(t)

	ensemble.Leader().Kill() // the other two elect a new one
	if _, err := client.CheckExists().ForPath(t.Context(), "/order"); err != nil {
		t.Error(err)
	}
}

func TestClientCertificate(t *testing.T) {
	server := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.RequireAndVerifyClientCert}))
	orders := server.TLSConfigWith(curatortest.Certificate{Subject: pkix.Name{CommonName: "orders"}})
	client := curatortest.NewClient(t, server.TLSConnectString(),
		framework.WithTLS(orders), framework.WithoutEnsembleTracker())

	acl := framework.ACL{Perms: framework.PermAll, Scheme: "x509", ID: "CN=orders"}
	if _, err := client.Create().WithACL(acl).ForPath(t.Context(), "/order"); err != nil {
		t.Error(err)
	}
}

// TestGuide checks that the Go code in docs/testing.md is also in a test of this directory, so that it
// was run.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(source)
	}
	blocks := strings.Split(string(guide), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("%d blocks of Go", len(blocks))
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(sources.String(), code) {
			t.Errorf("no test has this code of docs/testing.md:\n%s", code)
		}
	}
}

func TestWorkerRegistersAgain(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) curatortest.ZooKeeper{
		"embedded": func(t *testing.T) curatortest.ZooKeeper { return curatortest.Start(t) },
		"real":     func(t *testing.T) curatortest.ZooKeeper { return curatortest.Real(t) },
	} {
		t.Run(name, func(t *testing.T) {
			zk := start(t)
			client := zk.Client(t)
			register(t, client)

			zk.Restart() // the session survives
			if exists, err := client.CheckExists().ForPath(t.Context(), "/worker"); err != nil || !exists {
				t.Errorf("after a restart: %t, %v", exists, err)
			}
			zk.ExpireSession(client.SessionID())
			if exists, err := client.CheckExists().ForPath(t.Context(), "/worker"); err != nil || exists {
				t.Errorf("after the session's end: %t, %v", exists, err)
			}
			register(t, client)
		})
	}
}

// register creates the ephemeral node of these tests. The test fails if the node exists.
func register(t *testing.T, client *framework.Client) {
	t.Helper()
	if _, err := client.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/worker"); err != nil {
		t.Fatal(err)
	}
}
