package curatortest

import "github.com/go-curator/curator/framework"

// ZooKeeper is what [Server] and [Ensemble] have in common, so that one test runs on the
// embedded server and on real ones. Its methods mean the same on both; what takes
// milliseconds on an embedded server can take seconds on real ones.
//
// Methods may be added to it in minor releases: only this package implements it.
// Java: TestingServer and TestingCluster, which have no type in common.
type ZooKeeper interface {
	// ConnectString is what framework.NewClient needs to reach the servers.
	ConnectString() string
	// Client returns a started client, which is closed at the end of the test. See
	// [Server.Client].
	Client(tb TB, opts ...framework.Option) *framework.Client

	// ExpireSession ends a session now, as its timeout would; an unknown one is ignored.
	ExpireSession(id int64)
	// Disconnect closes every connection at once; clients reconnect.
	Disconnect()
	// Refuse closes new connections at once until accept is called or the test ends. Those
	// that there are stay.
	Refuse() (accept func())
	// Partition lets nothing through between clients and servers in the given direction,
	// without closing connections, until heal is called or the test ends.
	Partition(d Direction) (heal func())
	// Pause stops the servers, as SIGSTOP does, until resume is called or the test ends, or
	// the servers are stopped or restarted.
	Pause() (resume func())

	// Stop stops the servers until Start: connections end, and there are no new ones. Data and
	// sessions stay, and no session ends meanwhile.
	Stop()
	// Start starts those servers that are stopped, with the data that they had, and returns when
	// they serve. Each session has its full timeout anew.
	Start()
	// Restart is Stop and Start.
	Restart()

	// Close ends the servers for good. A test's servers end with it. It can be called more than
	// once.
	Close() error

	sealed()
}

var (
	_ ZooKeeper = (*Server)(nil)
	_ ZooKeeper = (*Ensemble)(nil)
)

func (*Server) sealed()   {}
func (*Ensemble) sealed() {}
