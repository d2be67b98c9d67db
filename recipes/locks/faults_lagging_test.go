package locks_test

import (
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// The row lagging of the table in faults_test.go: the client reconnects to a server that is
// behind the one before. Writes are the same at all servers, releases among them.

// patient has a client believe in its session for as long as a busy machine needs to get it a
// connection: that is the longest that the servers grant.
var patient = framework.WithSessionTimeout(20 * suite.Tick)

// The reply is lost, and the next server does not know the node yet: it is looked for behind a
// sync.
func TestCreateLagging(t *testing.T) {
	eachKindVirtually(t, creators, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		f.prepare()
		f.network.Lag()
		f.createUnanswered(nil)
	})
}

// Those ahead let go while there is no connection, and the next server has not heard of it.
func TestWaitLagging(t *testing.T) {
	eachKindVirtually(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		f.network.Lag()
		heal := f.network.Isolate()
		f.releaseHolders()
		heal()
		lease := f.granted(a)
		f.wantPaths(lease, f.wantOurs())
		f.env.release(lease)
	})
}

// The node is deleted while there is no connection, and the next server has it still.
func TestHoldLagging(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		suite.Eventually(t, "the watches on the nodes", func() bool { return f.network.Requests(jute.OpGetData) >= f.kind.leases })
		f.network.Lag()
		heal := f.network.Isolate()
		f.delete(f.contended(f.wantOurs())...)
		heal()
		f.lost(lease, locks.LossNodeDeleted)
		f.succeed()
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	}, sessionPolicy, patient)
}
