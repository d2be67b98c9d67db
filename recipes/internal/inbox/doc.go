// Package inbox passes the replies and events of a connection to one recipe, in the order of
// the stream.
//
// A server sends the event of a change before any reply that shows the change. A recipe that
// gets both in this order can rely on it: when the reply to a read comes after an event, the
// read shows the change. If one goroutine handled replies and another one events, a late reply
// could bring a deleted node back.
//
// An [Inbox] takes the replies to requests and the events of watches and of the connection, and
// gives them to the one goroutine that owns the recipe's state. Package zkconn calls its
// functions in the order of the stream, and the inbox keeps that order:
//
//   - Replies and events of one connection come in the order in which the server has sent them.
//     The zxid of a reply's header is in its Call.
//   - Suspended comes when the connection has ended, and after it the replies that fail with
//     the connection. Connected comes before all replies and events of the next connection.
//   - A request that cannot be sent because there is no connection fails with a reply that stands
//     behind Suspended and before Connected, or it is sent on the next connection. Who sends again
//     after Connected what has failed since Suspended forgets none. A request that is refused for
//     another reason has its reply immediately.
//
// No message is lost and no sender waits: the inbox has no limit. A recipe limits the replies by
// limiting its requests; events come as fast as the tree changes.
package inbox
