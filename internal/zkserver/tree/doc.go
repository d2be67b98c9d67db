// Package tree is the state of a ZooKeeper 3.8 server: nodes with their data, ACLs and Stats;
// sessions; watches; quotas. [State.Do] applies one request and returns its reply.
//
// It has no network, no clock and no goroutine: its caller passes the time, and the same calls
// have the same results. Package zkserver makes a server of it, and adds handshakes,
// authentication, four-letter words and faults.
//
// It is fuzzed alone, and compared with a real server alone: see the tests here and those of
// package zkserver.
//
// Nothing here is safe for concurrent use. No call waits.
package tree
