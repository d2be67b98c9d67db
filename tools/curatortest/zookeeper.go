package curatortest

import "github.com/go-curator/curator/framework"

// ZooKeeper has the common methods of [Server] and [Ensemble], so one test can run on the
// embedded server and on real ones. A call that takes milliseconds on an embedded server can
// take seconds on real ones.
//
// Minor releases may add methods, because only this package implements it.
//
// Java: TestingServer and TestingCluster, which have no common type.
type ZooKeeper interface {
	// ConnectString returns the connect string of the servers for framework.NewClient.
	ConnectString() string
	// Client returns a started client, which is closed at the end of the test. See
	// [Server.Client].
	Client(tb TB, opts ...framework.Option) *framework.Client

	// ExpireSession ends a session now, as its timeout would. An unknown session is ignored.
	ExpireSession(id int64)
	// SessionIDs returns the ids of the sessions, in ascending order, including sessions without a
	// connection.
	SessionIDs() []int64
	// Disconnect closes every connection; clients reconnect.
	Disconnect()
	// Refuse immediately closes new connections until accept is called or the test ends. Open
	// connections stay.
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
	// Start starts stopped servers with their data, and returns when they serve. Each session
	// has its full timeout again.
	Start()
	// Restart is Stop and Start.
	Restart()

	// Close ends the servers and deletes their data. A test's servers end with it. It can be
	// called more than once.
	Close() error

	sealed()
}

var (
	_ ZooKeeper = (*Server)(nil)
	_ ZooKeeper = (*Ensemble)(nil)
)

func (*Server) sealed()   {}
func (*Ensemble) sealed() {}
