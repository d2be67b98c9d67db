// Package curatortest gives tests a ZooKeeper server: an embedded server in this process,
// optionally in virtual time, with faults on demand; or real servers from installed jars.
//
//	func TestOrders(t *testing.T) {
//		server := curatortest.Start(t)
//		client := server.Client(t)
//		...
//		server.ExpireSession(client.SessionID())
//
// The embedded server answers like a standalone ZooKeeper 3.8 and writes nothing to a disk: its
// data ends with it. It is for tests, not for production. Only real servers have a quorum and a
// disk: see [Real] and [RealEnsemble].
//
// With [Virtual] there are no sockets, and the server must be started inside a bubble of
// testing/synctest. There hours of session time take milliseconds. The client must then connect
// with [Server.DialContext].
//
// Real servers end with the test. On Linux they also end if the test is killed; on other
// systems a killed test leaves them behind. docs/platforms.md of this module has the other
// differences.
//
// docs/testing.md of this module is the guide: it describes each fault, and the real failure
// that the fault stands for.
//
// Everything is safe for concurrent use. Servers end with the test that started them, and so do
// their faults. Methods for faults return no error: if a fault cannot be made, that test fails.
package curatortest
