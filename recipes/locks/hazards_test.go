package locks_test

import (
	"math"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestA10SequenceWraps is the other half of TestA10LockIsGrantedTwice in internal/zkconn:
// there is a holder, of another client, at the last of the server's numbers, and ours is
// the first that counts from the beginning. See TestRule10 for the numbers before.
func TestA10SequenceWraps(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client := s.Client(t)
		mutex := mutexOf(t, client)
		holder := "/lock/_c_01234567-89ab-cdef-0123-456789abcdef-lock-2147483647"
		suite.Got(client.Create().CreatingParentsIfNeeded().WithMode(framework.Ephemeral).ForPath(t.Context(), holder)).OK(t)
		// Those near the end, the first one behind it, and one whose digits are those of a low number.
		for _, next := range []int32{math.MaxInt32 - 1_000_000 + 1, math.MinInt32, math.MinInt32 + 1_000_001} {
			s.SetSequence("/lock", next)
			for _, acquire := range []func() (*locks.Lease, error){
				func() (*locks.Lease, error) { return mutex.Acquire(t.Context()) },
				func() (*locks.Lease, error) { return mutex.TryAcquire(t.Context()) },
			} {
				suite.Got(acquire()).Fails(t, locks.ErrSequenceExhausted)
			}
		}
		if names := s.Children("/lock"); len(names) != 1 || "/lock/"+names[0] != holder {
			t.Fatalf("nodes %q", names)
		}
	})
}
