package locks_test

import (
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// Near the end of the server's numbers the lock is refused: there two could hold it.
func TestSequenceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client := server.Client(t)
		mutex, err := locks.NewInterProcessMutex(client, "/lock")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Create().ForPath(t.Context(), "/lock"); err != nil {
			t.Fatal(err)
		}
		for _, next := range []int32{1<<31 - 1_000_000, 1<<31 - 1} {
			server.SetSequence("/lock", next)
			_, err = mutex.Acquire(t.Context())
			wantErr(t, err, locks.ErrSequenceExhausted)
			if names := server.Children("/lock"); len(names) != 0 {
				t.Fatalf("nodes %q", names)
			}
		}
		server.SetSequence("/lock", 1<<31-2_000_000)
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
