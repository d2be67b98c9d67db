// Package zkconn is the session layer. It owns the driver, github.com/go-zookeeper/zk, which no
// other package imports, and adds the features that the driver lacks.
//
// The driver connects, opens and resumes the session and sends pings. All its traffic passes
// through a [muxConn], the net.Conn of its dialer. The muxConn sets a deadline for the
// handshake, checks frames before the driver gets them, and adds our requests to the driver's
// session, with xids at and below -1000. It takes their replies and all watch events out of the
// stream. So every request has a context and is bound to its connection and session. It is known
// whether it was sent, and several can be sent in one write.
//
// # Goroutines
//
// The driver has one that connects and, for each connection, two that send and receive.
// Each muxConn has one that writes and, while it is read-only, two more that look for a server
// with a quorum. A [Conn] has one, the monitor, which checks the clock, asks for proofs and
// delivers events to subscribers in order, and one while the user's SASL mechanism runs.
// [Conn.Close] joins all of them, the goroutine of a mechanism only until its context ends.
//
// Mutexes are taken in the order Conn.mu, muxConn.mu, subscriptions.mu, that of lease.Session or losses.mu. No I/O
// and no code of users runs under them or on the driver's goroutines.
package zkconn
