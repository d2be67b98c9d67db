package lockqueue

import (
	"cmp"
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// send sends the calls in one write, as one operation of the trace. The operation is named
// after the first call, and its path is that of the nearest node ahead.
func (c *Contender) send(ctx context.Context, conn *zkconn.Conn, calls ...*zkconn.Call) error {
	path := c.spec.FullDir
	if len(c.behind) > 0 {
		path = c.behind[len(c.behind)-1]
	}
	ctx, traced := c.spec.Client.Telemetry().Operation(ctx, conn, telemetry.Op{
		Name: jute.OpName(calls[0].Op), Path: path, Full: true, Batch: len(calls), Missing: true,
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
	case errors.Is(err, framework.ErrSessionExpired):
		return restart, nil
	case framework.Retryable(err):
		return look, nil
	}
	return restart, err
}

// afterRefusal says how to go on after the answer that a watch was not set. If that may pass,
// the queue is listed again, after a pause of the client's retry policy.
func (c *Contender) afterRefusal(ctx context.Context, answer error) (phase, error) {
	if !framework.Retryable(answer) {
		return restart, answer
	}
	return look, c.spec.Client.Pause(ctx, "getChildren", c.spec.Dir, answer)
}
