package zkconn

import (
	"sync"
	"sync/atomic"

	"github.com/go-curator/curator/internal/zkconn/lease"
)

// shared is what the connections of a Conn have in common.
type shared struct {
	lease      lease.Session
	persistent subscriptions
	eventIDs   atomic.Int64   // how many events servers have told
	lastZxid   atomic.Int64   // the highest that was seen in a reply
	workers    sync.WaitGroup // the writers

	closedByServer atomic.Bool // the server has confirmed the end of the session

	sent, received atomic.Int64 // bytes
	lastPing       atomic.Int64 // how long it took
}
