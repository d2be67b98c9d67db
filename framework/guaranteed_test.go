package framework_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
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

// The cause of a context's end says nothing of this client: the delete goes on, whatever it is.
func TestGuaranteedBehindAnyCause(t *testing.T) {
	for _, cause := range []error{nil, framework.ErrClosed, framework.ErrNoNode, errors.New("another client was closed")} {
		synctest.Test(t, func(t *testing.T) {
			server := curatortest.Start(t, curatortest.Virtual())
			client := server.Client(t)
			if _, err := client.Create().ForPath(t.Context(), "/a"); err != nil {
				t.Fatal(err)
			}
			heal := server.Partition(curatortest.Both)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(cause) })
			if err := client.Delete().Guaranteed().ForPath(ctx, "/a"); !errors.Is(err, context.Canceled) {
				t.Fatalf("delete: %v", err)
			}
			if n := client.PendingRemovals(); n != 1 {
				t.Errorf("cause %v: %d removals are pending", cause, n)
			}
			heal()
			time.Sleep(time.Second)
			synctest.Wait()
			if _, there := server.Get("/a"); there {
				t.Errorf("cause %v: the node is there", cause)
			}
		})
	}
}
