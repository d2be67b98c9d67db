// Package zkserver is a ZooKeeper server in memory. It speaks the wire protocol and
// answers as a standalone ZooKeeper 3.8 does: the same replies, error codes, Stat fields,
// sequence numbers and watch events, in the same order.
//
// It keeps nothing on disk: its data lives as long as the [Server]. It is one server, not
// an ensemble, so that nothing here shows what a quorum does. Left out are SASL, reconfig,
// read-only mode, request throttling, and the admin server. Quotas are counted and not
// enforced, which is ZooKeeper's default: what exceeds one is done, and is in the log.
//
// What the server knows is in package tree, which has no network and no clock.
//
// It shares what is odd in ZooKeeper 3.8.0: a one-shot watch replaces a persistent one of
// the same connection on the same path, and the other way round; checkWatches finds the
// watches of everybody; a create2 in a multi has no Stat; a check outside of a multi that
// holds is not answered; a setWatches with a list that is null ends there, with an error;
// events are kept from clients that may not read the node; and after 2147483647 that
// sequence number comes again.
//
// It differs where ZooKeeper's order is by chance: children and the ephemeral nodes of a
// session that ends come in one that is always the same. Requests are done one after the
// other, so that none is checked against an ACL that an earlier one in the same write has
// just replaced. A null string is an empty one. docs/embedded-server.md has every known
// difference, with its reason, and tells how alikeness is tested.
//
// A [Server] is safe for concurrent use. One lock guards its state, under which there is
// no input or output: what a connection is to be told goes to a queue that its own
// goroutine writes from, so that a client which does not read stalls nobody else. Unlike
// ZooKeeper's the queue has bounds: while 4 MiB wait in it, no more requests of the client
// are read, and when it has 32 MiB, events above all, the connection is ended. A request
// takes memory as its bytes come, not by the length that it announces.
//
// Time is that of package time only, so that a Server made inside a bubble of
// testing/synctest, and served over connections without sockets, lives in its virtual time.
// Its clock can be moved ahead, by [Server.AdvanceClock].
//
// Faults are scripted with [Server.Inject], [Server.Partition], [Server.Pause] and others.
//
// [Server.Close] ends every connection and returns when every goroutine has.
package zkserver
