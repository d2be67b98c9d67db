// Package curatortest gives tests a ZooKeeper: an embedded server in this process, in
// virtual time if wanted, with faults on demand; or real servers from installed jars.
//
//	func TestOrders(t *testing.T) {
//		server := curatortest.Start(t)
//		client := server.Client(t)
//		...
//		server.ExpireSession(client.SessionID())
//
// The embedded server answers as a standalone ZooKeeper 3.8 does and keeps nothing on
// disk: its data ends with it. It is for tests, not for production. What a quorum does, and
// what a disk does, only real servers show: see [Real] and [RealEnsemble].
//
// With [Virtual] there are no sockets, and time is that of package time: inside a bubble of
// testing/synctest, in which the server must be started, hours of session time pass in
// milliseconds. The client must then connect with [Server.DialContext].
//
// Real servers end with the test also if the test is killed, but on Linux only: elsewhere a killed
// test leaves them behind. docs/platforms.md of this module has the other differences.
//
// docs/testing.md of this module is the guide: what each fault does, and what real failure it
// stands for.
//
// Everything here is safe for concurrent use. What a test starts ends with the test, and so
// do the faults that it scripts: a server's methods that take effect until they are undone
// are undone by the cleanup of the test that started it. They return no error: if they
// cannot do what they say, they fail that test.
package curatortest
