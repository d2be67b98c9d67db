package lockqueue

import (
	"context"
	"errors"
	"math"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/layout"
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
		var res jute.GetChildren2Response
		call := listCall(full, &res)
		err := conn.Do(ctx, session, call)
		if session != 0 && errors.Is(err, framework.ErrSessionExpired) {
			over = true // not to be retried
			return nil
		}
		if err != nil {
			return err
		}
		names = res.Children
		return call.Err
	})
	if over || session != 0 && errors.Is(err, framework.ErrNoNode) {
		return nil, ErrLeft
	}
	return names, err
}

func listCall(full string, res *jute.GetChildren2Response) *zkconn.Call {
	return &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: full}, Res: res}
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
