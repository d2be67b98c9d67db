// Package zkserver is a ZooKeeper server in memory. It speaks the wire protocol and answers
// like a standalone ZooKeeper 3.8: the same replies, error codes, Stat fields, sequence numbers
// and watch events, in the same order. docs/embedded-server.md has its requests, its limits,
// its differences from ZooKeeper, the oddities of ZooKeeper that it shares, and the tests.
//
// The state of the server is in package tree, which has no network and no clock.
//
// A [Server] is safe for concurrent use. One mutex guards its state, and no input or output
// happens under it: messages to a connection go into a queue, and the connection's own
// goroutine writes them, so a client that does not read delays no others. A request takes
// memory as its bytes arrive, not by its announced length.
//
// The server uses only the time of package time, so a Server that is made inside a bubble of
// testing/synctest, and serves connections without sockets, uses virtual time.
// [Server.AdvanceClock] moves its clock ahead.
//
// [Server.Inject], [Server.Partition], [Server.Pause] and other methods make faults.
//
// [Server.Close] ends every connection and returns when every goroutine has ended.
package zkserver
