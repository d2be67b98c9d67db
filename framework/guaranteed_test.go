package framework_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
)

// TestPendingRemovals counts deletes that go on in the background, and has Close wait for
// them as long as its context lets it.
func TestPendingRemovals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client := server.Client(t)
		if _, err := client.Create().ForPath(t.Context(), "/a"); err != nil {
			t.Fatal(err)
		}
		pending := func(want int) {
			t.Helper()
			synctest.Wait()
			if got := client.PendingRemovals(); got != want {
				t.Errorf("%d removals are pending, want %d", got, want)
			}
		}
		pending(0)
		heal := server.Partition(curatortest.Both)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := client.Delete().Guaranteed().ForPath(ctx, "/a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("delete: %v", err)
		}
		pending(1)
		heal()
		time.Sleep(time.Second)
		pending(0)
		if _, there := server.Get("/a"); there {
			t.Error("the node is there")
		}
	})
}
