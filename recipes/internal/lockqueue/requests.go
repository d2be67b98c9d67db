package lockqueue

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// ErrLeft is returned by List when the session that owns the contender's node is over, or the
// directory of the queue is gone.
var ErrLeft = errors.New("the contender has lost its place")

// List lists the children of the queue. With a session that is not zero, List returns ErrLeft
// when that session is over.
func List(ctx context.Context, client *zkclient.Client, dir, full string, session int64) (names []string, err error) {
	over := false
	err = client.Retry(ctx, "getChildren", dir, func(ctx context.Context, conn *zkconn.Conn) error {
		call := zkconn.List(full, nil)
		err := conn.Do(ctx, session, call)
		if session != 0 && errors.Is(err, zkconn.ErrSessionExpired) {
			over = true // not to be retried
			return nil
		}
		if err != nil {
			return err
		}
		names = call.Names()
		return call.Err
	})
	if over || session != 0 && errors.Is(err, zkconn.ErrNoNode) {
		return nil, ErrLeft
	}
	return names, err
}

// reserve is how many numbers before the last one a queue is not used any more. A server
// repeats its last number, so order, and with it exclusion, ends there (rule 10).
const reserve = 1_000_000

// sequence returns the number that the server gave to a node whose name has it behind a mark. ok is false
// when the number is too high, or has wrapped around.
func sequence(name, mark string) (n int64, ok bool) {
	n, ok = layout.Sequence(name, mark)
	return n, ok && n <= math.MaxInt32-reserve
}

// send sends the calls in one write, as one operation of the trace. The operation is named
// after the first call, and its path is that of the nearest node ahead.
func (c *Contender) send(ctx context.Context, conn *zkconn.Conn, calls ...*zkconn.Call) error {
	path := c.spec.FullDir
	if len(c.ahead.nodes) > 0 {
		path = c.ahead.nodes[len(c.ahead.nodes)-1]
	}
	ctx, traced := c.spec.Client.Telemetry().Operation(ctx, conn, telemetry.Op{
		Name: calls[0].Name(), Path: path, Full: true, Batch: len(calls), Missing: true,
	})
	err := conn.Do(ctx, c.last().Session, calls...)
	traced.End(1, cmp.Or(err, calls[len(calls)-1].Err))
	return err
}

// afterNoAnswer says how to go on after a request without an answer. The list that follows
// waits for a lost connection.
func (c *Contender) afterNoAnswer(ctx context.Context, err error) (phase, error) {
	switch {
	case ctx.Err() != nil:
		return restart, zkclient.ContextError(ctx)
	case errors.Is(err, zkconn.ErrSessionExpired):
		return restart, nil
	case zkclient.Retryable(err):
		return look, nil
	}
	return restart, err
}

// afterRefusal says how to go on after the answer that a watch was not set. If that may pass,
// the queue is listed again, after a pause of the client's retry policy.
func (c *Contender) afterRefusal(ctx context.Context, answer error) (phase, error) {
	if !zkclient.Retryable(answer) {
		return restart, answer
	}
	return look, c.spec.Client.Pause(ctx, "getChildren", c.spec.Dir, answer)
}
