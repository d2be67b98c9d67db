// Package zkconn is the session layer: it owns the driver, github.com/go-zookeeper/zk,
// which nothing else imports, and gives the rest of the module what the driver lacks.
//
// The driver is left with what it does well: it connects, opens and resumes the session
// and sends pings. Everything it sends and receives passes through a [muxConn],
// the net.Conn that its dialer was given. There the handshake gets a deadline, frames are
// checked before the driver sees them, and requests of our own join the driver's
// session under xids at and below -1000; their replies and all watch events are taken
// out of the stream again. So every request here has a context, is bound to the
// connection and the session it was issued for, knows whether it was sent, and can be
// sent together with others in one write.
//
// # Goroutines
//
// The driver has one that connects and, for each connection, two that send and receive.
// Each muxConn has one that writes, and two more, while it is read-only, that look for a
// server with a quorum. A [Conn] has one, the monitor, that watches the clock, asks for proofs and tells
// subscribers what happened, in order, and one while the user's SASL mechanism runs.
// [Conn.Close] joins all of them, that of a mechanism only until its context ends.
//
// Locks are taken in the order Conn.mu, muxConn.mu, subscriptions.mu or Conn.clockMu. No I/O and no
// foreign code runs under them or on the driver's goroutines.
package zkconn
