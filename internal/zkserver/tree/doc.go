// Package tree is what a ZooKeeper 3.8 server knows and how requests change it: nodes with
// their data, ACLs and Stats; sessions; watches; quotas. [State.Do] does one request and
// returns its reply.
//
// It has no network, no clock and no goroutine: its caller passes the time, and the
// same calls have the same results. Package zkserver makes a server of it. What it does not
// do are handshakes, authentication, four-letter words and faults.
//
// It is fuzzed by itself, and compared with a real server by itself: see the tests here and
// those of package zkserver.
//
// Nothing here is safe for concurrent use. No call waits.
package tree
