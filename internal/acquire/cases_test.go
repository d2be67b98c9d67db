package acquire_test

import (
	"encoding/json"
	"flag"
	"os"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/acquire"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { suite.Main(m) }

// recordFile is set by TestFigures, which builds a binary that records, and runs the cases below in it.
var recordFile = flag.String("record", "", "write the calls of a case to this file")

// TestFree acquires a free mutex and releases it at once, before the node of the holder is watched.
func TestFree(t *testing.T) {
	onMutex(t, func(t *testing.T, server *curatortest.Server, _ *framework.Client, mutex *locks.InterProcessMutex) *locks.Lease {
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := server.Watches(); n != 0 {
			t.Errorf("%d watches", n)
		}
		return lease
	})
}

// TestContended acquires a mutex that another client holds. That client uses no lock: it creates and deletes a
// node with the name of a lock's. So all recorded calls are the waiter's.
func TestContended(t *testing.T) {
	onMutex(t, func(t *testing.T, server *curatortest.Server, other *framework.Client, mutex *locks.InterProcessMutex) *locks.Lease {
		holder, err := other.Create().WithProtection().WithMode(framework.EphemeralSequential).ForPath(t.Context(), "/lock/lock-")
		if err != nil {
			t.Fatal(err)
		}
		granted := make(chan *locks.Lease, 1)
		go func() {
			lease, err := mutex.Acquire(t.Context())
			if err != nil {
				t.Error(err)
			}
			granted <- lease
		}()
		synctest.Wait()
		if n := server.Watches(); n != 2 || len(granted) > 0 {
			t.Errorf("%d watches, want those of the own node and of the one ahead; granted: %v", n, len(granted) > 0)
		}
		if err := other.Delete().ForPath(t.Context(), holder); err != nil {
			t.Fatal(err)
		}
		return <-granted
	})
}

// onMutex acquires a mutex by get in virtual time, releases it, and records the calls of both. To start the client,
// to make the mutex and to close the client is not part of them.
func onMutex(t *testing.T, get func(t *testing.T, server *curatortest.Server, other *framework.Client, mutex *locks.InterProcessMutex) *locks.Lease) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(suite.Tick))
		client, other := server.Client(t), server.Client(t)
		if _, err := other.Create().ForPath(t.Context(), "/lock"); err != nil {
			t.Fatal(err)
		}
		mutex, err := locks.NewInterProcessMutex(client, "/lock")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		acquire.Start()
		lease := get(t, server, other, mutex)
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		calls := acquire.Stop()
		runtime.KeepAlive(lease) // the runtime calls a function for a lease that is unreachable
		if children := server.Children("/lock"); len(children) > 0 {
			t.Errorf("left behind: %q", children)
		}
		if *recordFile == "" {
			return
		}
		text, err := json.Marshal(calls)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(*recordFile, text, 0o600); err != nil {
			t.Fatal(err)
		}
	})
}
