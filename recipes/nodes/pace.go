package nodes

import "time"

// The pauses before a deleted node is created again. They grow, so a program that deletes the
// node again and again does not keep the server busy. After a time without a deletion they are
// short again.
const (
	firstPause = 10 * time.Millisecond
	maxPause   = 10 * time.Second
	calmTime   = 10 * time.Second
)

// takeoverPause is the first pause of a node that others may take over. A program in Java deletes
// the node and then creates its own. If ours is there again by then, it tries once more, and gives
// up without an error.
const takeoverPause = 100 * time.Millisecond

// The pauses after failed tries. A reconnect or an event of the node ends a pause early.
const (
	firstRetryPause = 50 * time.Millisecond
	maxRetryPause   = time.Minute
)

// unreadablePause is the time between checks of a node that the client may not read. Servers of
// ZooKeeper 3.8.4, 3.9.2 and later, and patched older ones, send such a client no events of the
// node.
const unreadablePause = 10 * time.Second
