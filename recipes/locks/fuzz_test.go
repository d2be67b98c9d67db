package locks_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// FuzzNodeData writes something into the node of a holder, as anybody may. It is a request for the lock
// if it is Java's, and nothing else.
func FuzzNodeData(f *testing.F) {
	const revoke = "__REVOKE__"
	f.Add([]byte(revoke))
	f.Add([]byte(revoke + "\n"))
	f.Add([]byte("__REVOKE_"))
	f.Add([]byte("10.1.2.3\nowner=a\nhost=b\npid=3"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		onVirtual(t, func(t *testing.T, s *curatortest.Server) {
			client := s.Client(t)
			lease := suite.Got(virtualMutex(t, locks.WithRevocable(nil))(client).Acquire(t.Context())).OK(t)
			defer giveBack(t, lease)
			time.Sleep(time.Second) // now it is watched
			if _, err := client.SetData().ForPath(t.Context(), lease.Path(), data); errors.Is(err, framework.ErrTooLarge) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			var loss *locks.LossError
			asked := errors.As(lease.Err(), &loss) && loss.Reason == locks.LossRevoked
			if asked != (string(data) == revoke) || !asked && lease.Err() != nil {
				t.Errorf("after %q: %v", data, lease.Err())
			}
		})
	})
}
