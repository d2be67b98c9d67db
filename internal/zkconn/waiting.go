package zkconn

import (
	"context"
	"time"

	"github.com/go-curator/curator/internal/zkconn/hosts"
)

// waiting says how a call waits for a connection.
type waiting struct {
	inVainErr error // when all servers have been tried in vain; nil to wait on
	atMost    time.Duration
}

type waitingKey struct{}

// FailFast returns a copy of ctx for calls that wait for a connection until all servers have been tried in vain, which
// is ErrNoServer, and for so long at most.
func FailFast(ctx context.Context, atMost time.Duration) context.Context {
	return context.WithValue(ctx, waitingKey{}, waiting{ErrNoServer, atMost})
}

// waitingOf returns how a call with ctx waits. The other arguments are those of the configuration.
func waitingOf(ctx context.Context, failFast bool, atMost time.Duration) waiting {
	if w, ok := ctx.Value(waitingKey{}).(waiting); ok {
		return w
	}
	w := waiting{atMost: atMost}
	if failFast {
		w.inVainErr = ErrConnectionLoss
	}
	return w
}

// inVain returns a channel that is closed when the call need not wait longer; nil for none.
func (w waiting) inVain(list *hosts.List) <-chan struct{} {
	if w.inVainErr == nil {
		return nil
	}
	return list.RoundInVain()
}
