// Package zk has the API of github.com/go-zookeeper/zk, version 1.0.4, on the session of a framework.Client. A program
// that uses the driver changes the path of one import:
//
//	sed -i s,github.com/go-zookeeper/zk,github.com/go-curator/curator/framework/zk, *.go
//
// Conn.Client returns the client of the same session, for the recipes, for contexts, and for what the driver does not
// have. NewConn returns a Conn on a client that there is. The page docs/from-go-zookeeper.md leads on from here.
//
// Types that are only data, such as Stat, ACL and Event, and all errors are the driver's own, so values cross freely, and
// errors can be compared. There are no retries below this API, as there are none in the driver.
//
// # What is better
//
//   - Who has made an ephemeral node, or has a Lock, is told of the end of the session, by StateExpired and the events of
//     all watches, before the servers give the node's place to somebody else. The client itself keeps the deadline;
//     docs/session.md says how. The driver tells when a server answers again.
//   - A watch is never lost: its channel gets the event of a change that came while there was no connection, also when
//     the next connections end, too. Then the channel is closed.
//   - A call ends within two session timeouts. When all servers have been tried in vain it returns ErrNoServer.
//   - A server that answers a reconnect with another session is StateExpired, and ends the watches of the old one.
//   - CreateProtectedEphemeralSequential and Lock leave no node behind that nobody knows of.
//   - An answer that is too large fails its call, and not the connection.
//   - An EventCallback may block. Of the events of the session that nobody has read 1,024 are kept, and always the last.
//   - Close ends the session at the server, and joins all goroutines but that of an EventCallback which does not return.
//   - Spans and metrics by OpenTelemetry, as package tracing describes, as soon as the program installs an SDK.
//   - With NewConn: TLS, SASL, a chroot, namespaces, and servers that read only.
//
// # What differs
//
//   - A session whose deadline has passed while this Conn has, or had, an ephemeral node is given up, up to an eighth of
//     its timeout before the driver could know.
//   - A session without an ephemeral node is given up when no server has answered for four of its timeouts. The driver never
//     gives one up.
//   - A session with an ephemeral node sends two small requests every 0.3 of its timeout, to know that it lives.
//   - Unlock of a node that is gone returns ErrNoNode, and the Lock can be locked again.
//   - Lock fails with ErrNoNode if its own node was deleted. The driver's takes the lock without it.
//   - Behind Close all calls return ErrConnectionClosed, where the driver sometimes has ErrClosing.
package zk
