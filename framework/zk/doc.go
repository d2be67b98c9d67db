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
//   - A Conn with a Lock, or with an ephemeral sequential node, as elections create, is told of the end of the session,
//     by StateExpired and the events of all watches, before the servers give its place to the next one. The client
//     itself keeps the deadline; docs/session.md says how. The driver tells when a server answers again. A Conn with
//     other ephemeral nodes only is told when no server has answered for the session timeout.
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
//   - A session in which this Conn has made an ephemeral sequential node is given up at the deadline of docs/session.md:
//     an outage of 0.27 of the timeout may end it, one of 0.87 does. Such a session sends two small requests every 0.3
//     of its timeout. With other ephemeral nodes a session is given up when no server has answered for its timeout, and
//     without any for four times that. The driver never gives one up.
//   - A session that was given up may live on at the servers until its timeout there, with its nodes: a node that is made
//     again at StateHasSession may exist still, as the old session's, and is gone soon. Compare its EphemeralOwner with
//     Conn.SessionID.
//   - Exists says false with every error. The driver says true with some.
//   - With more than 100,000 calls that wait for their answers, further ones return ErrConnectionClosed.
//   - A Dialer's connection is closed when a read or a write takes too long: Close must end them.
//   - Close waits a moment for work in the background, and for a server and callbacks a second each at most.
//   - Unlock of a node that is gone returns ErrNoNode, and the Lock can be locked again.
//   - Lock fails with ErrNoNode if its own node was deleted. The driver's takes the lock without it.
//   - Behind Close all calls return ErrConnectionClosed, where the driver sometimes has ErrClosing.
package zk
