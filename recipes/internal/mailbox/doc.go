// Package mailbox keeps what a connection tells one recipe in the order of the stream.
//
// A server puts the event of a change on the connection before any reply that shows the change.
// A recipe that hears of both in this order can conclude from a reply what has happened, and
// what has not: when the reply to a read comes behind an event, the read shows the change.
// With replies on one goroutine and events on another, nothing of this holds: a late reply
// brings a deleted node back.
//
// A [Box] takes the replies to requests and the events of watches and of the connection, and
// gives them to the one goroutine that owns the recipe's state. Package zkconn calls its
// functions in the order of the stream, and the box keeps that order:
//
//   - A reply and an event of one connection come as the server has sent them. The header's
//     zxid of a reply is in its Call.
//   - Suspended comes when the connection has ended, and behind it the replies that fail with
//     it. Connected comes ahead of everything of the next connection.
//   - A request that cannot be sent has its reply at once, with an error, ahead of those of
//     earlier requests. It was not sent.
//
// Nothing is lost and nothing waits: the box is as long as what was not taken out. Who bounds
// the requests in flight bounds the replies; events come as fast as the tree changes.
package mailbox
