package suite

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/tools/curatortest"
)

// Twins runs test in virtual time on two servers, which have the same history as long as the same is done on
// both without time passing: the same zxids and times. Then restore ends the first one and moves its clients
// to the second: to them it is a restart on an older snapshot, with what was written to the second since.
func Twins(t *testing.T, test func(t *testing.T, first, second *Backend, restore func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var twins [2]*Backend
		for i := range twins {
			server := curatortest.Start(t, curatortest.WithTickTime(Tick), noReaping, curatortest.Virtual())
			twins[i] = newBackend("virtual", server.ConnectString(), server.DialContext)
			twins[i].server = server
		}
		first, second := twins[0], twins[1]
		var present atomic.Pointer[curatortest.Server]
		present.Store(first.server)
		second.root = first.root
		first.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return present.Load().DialContext(ctx, network, address)
		}
		test(t, first, second, func() {
			present.Store(second.server)
			first.server.Stop()
		})
	})
}
