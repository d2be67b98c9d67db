// Package turns limits how many nodes of a recipe are checked, or created again, at the same
// time after a reconnect, so a client with many nodes does not flood the servers.
package turns

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
)

// Turns limits how many nodes of a recipe do something at the same time. All methods may be
// called from several goroutines.
type Turns struct {
	slots  chan struct{}
	spread func() time.Duration
}

// New returns turns for atOnce nodes at a time. Before its turn each node waits for a random time
// that is shorter than the result of spread. The node's goroutine calls spread.
func New(atOnce int, spread func() time.Duration) *Turns {
	return &Turns{slots: make(chan struct{}, atOnce), spread: spread}
}

// Take waits for a turn, and returns the function that ends it. If ctx ends first, Take returns
// the cause of its end.
func (t *Turns) Take(ctx context.Context) (end func(), err error) {
	if spread := t.spread(); spread > 0 {
		if err := wait.For(ctx, rand.N(spread)); err != nil {
			return nil, err
		}
	}
	select {
	case t.slots <- struct{}{}:
		return func() { <-t.slots }, nil
	case <-ctx.Done():
		return nil, zkclient.ContextError(ctx)
	}
}
