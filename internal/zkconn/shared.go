package zkconn

import (
	"sync"
	"sync/atomic"
)

// shared is what the connections of a Conn have in common.
type shared struct {
	clock      clock
	persistent subscriptions
	eventIDs   atomic.Int64   // how many events servers have told
	workers    sync.WaitGroup // the writers

	sent, received atomic.Int64 // bytes
	lastPing       atomic.Int64 // how long it took
}
