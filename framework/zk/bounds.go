package zk

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

// bounds ends calls: none outlives two session timeouts, or the Conn. Calls that begin within an eighth of the timeout
// share a context, so that a call need not make one.
type bounds struct {
	conn   *zkconn.Conn
	base   context.Context // ends with the Conn
	cancel context.CancelFunc

	current atomic.Pointer[bound]
	mu      sync.Mutex
}

type bound struct {
	ctx   context.Context
	until time.Time // the last moment at which a call may begin with it
}

// start begins the life of the bounds, which ends with that of the client or by cancel.
func (b *bounds) start(life context.Context, conn *zkconn.Conn) {
	b.conn = conn
	b.base, b.cancel = context.WithCancel(zkconn.FailFast(life, 24*time.Hour)) // each context has a deadline before that
}

// next returns the context of a call that begins now.
func (b *bounds) next() context.Context {
	now := time.Now()
	if current := b.current.Load(); current != nil && now.Before(current.until) {
		return current.ctx
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if current := b.current.Load(); current != nil && now.Before(current.until) {
		return current.ctx
	}
	timeout := b.conn.Timeout()
	ctx, cancel := context.WithDeadline(b.base, now.Add(2*timeout))
	context.AfterFunc(ctx, cancel) // the deadline ends it, or the Conn
	b.current.Store(&bound{ctx, now.Add(timeout / 8)})
	return ctx
}
