package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/seam"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tracing"
)

var (
	// errStartOver: the contender's node is gone, by its session's end or by somebody's
	// hand; the attempt goes on with another node, at the end of the queue.
	errStartOver = errors.New("the contender's node is gone")
	// errMaxWait is the cause of a wait that WithMaxWait ended.
	errMaxWait = errors.New("WithMaxWait has passed")
)

// acquire is Acquire, or TryAcquire when it must not wait, as a span.
func (in *internals) acquire(ctx context.Context, wait bool) (*Lease, error) {
	if ctx == nil {
		return nil, fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
	}
	spanCtx, span := in.inside.Tracer().Acquire(ctx, tracing.Lock{Kind: in.kind, Path: in.path}, !wait)
	lease, err := in.enter(ctx, spanCtx, span, wait)
	if err != nil {
		span.Failed(err, errors.Is(err, ErrNotAcquired))
		return nil, fmt.Errorf("lock %s: %w", in.path, err)
	}
	span.Granted(lease.Token(), lease.nested)
	return lease, nil
}

// enter nests in the lease that ctx carries, if it does, or else contends. The wait's own
// context is waitCtx; ctx is what Acquire was given.
func (in *internals) enter(ctx, waitCtx context.Context, span *tracing.Acquisition, wait bool) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	if wait && in.cfg.maxWait > 0 {
		var cancel context.CancelFunc
		waitCtx, cancel = context.WithTimeoutCause(waitCtx, in.cfg.maxWait, errMaxWait)
		defer cancel()
	}
	for parent := in.carried(ctx); parent != nil; parent = in.carried(ctx) {
		lease, err := parent.nest(ctx, waitCtx, span, wait)
		if !errors.Is(err, errParentOver) {
			return lease, err
		}
		if ctx.Err() != nil { // as a rule it was the outer lease's own
			return nil, ended(ctx)
		}
	}
	c := contender{in: in, wait: wait}
	for {
		hold, err := c.contend(waitCtx)
		if err != nil {
			return nil, c.explain(ctx, waitCtx, err)
		}
		if lease := hold.newLease(ctx, span, nil); lease != nil {
			return lease, nil
		}
		hold.remove() // lost before anyone could use it
	}
}

// ended returns a context's error, with its cause.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}

// contender is one acquisition on its way.
type contender struct {
	in   *internals
	wait bool
	busy bool // others were seen ahead

	node seam.Created
	own  *nodeWatch // on the own node, once it waits
}

// contend queues until the lock is granted. Whatever it returns but a hold, it leaves no
// node behind.
func (c *contender) contend(ctx context.Context) (*hold, error) {
	for {
		node, left, err := c.in.inside.CreateAndList(ctx, c.in.builder(), c.in.path+"/"+lockName)
		if err != nil {
			c.settle(ctx, left)
			return nil, err
		}
		c.node = node
		hold, left, err := c.attempt(ctx)
		if !errors.Is(err, errStartOver) {
			c.settle(ctx, left)
			return hold, err
		}
	}
}

// attempt queues with the node that was made. When it fails, or a user's retry policy
// panics, the node is removed.
func (c *contender) attempt(ctx context.Context) (hold *hold, left *seam.Removal, err error) {
	defer func() {
		if hold != nil {
			return
		}
		if c.own != nil {
			c.own.stop()
			c.own = nil
		}
		left = c.in.inside.Remove(c.node.Path, c.node.Session)
	}()
	hold, err = c.queue(ctx, c.node.Siblings)
	return hold, nil, err
}

// settle waits for the removal of the contender's node, for a bound of its own, so that
// nothing is left behind when Acquire returns if the server can be reached.
func (c *contender) settle(ctx context.Context, removal *seam.Removal) {
	if removal == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.in.cfg.releaseTimeout)
	defer cancel()
	select {
	case <-removal.Done:
	case <-ctx.Done():
	}
}

// cleanUp returns the context in which clean-up waits: ctx, or when it has ended a short
// time of its own.
func (in *internals) cleanUp(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx != nil && ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	if ctx == nil {
		ctx = over // Release with a nil context still releases
	}
	return context.WithTimeout(context.WithoutCancel(ctx), in.cfg.releaseTimeout)
}

// queue waits until the node is the first. names are the children of the lock's path as
// its create left them.
func (c *contender) queue(ctx context.Context, names []string) (*hold, error) {
	own := c.node.Path[strings.LastIndexByte(c.node.Path, '/')+1:]
	if nearEnd(own) {
		return nil, ErrSequenceExhausted
	}
	for {
		queue, err := contenders(names)
		if err != nil {
			return nil, err
		}
		i := slices.Index(queue, own)
		switch {
		case i < 0:
			return nil, errStartOver
		case i == 0:
			hold, err := c.grant()
			if !errors.Is(err, errInDoubt) {
				return hold, err
			}
		case !c.wait:
			c.busy = true
			return nil, ErrNotAcquired
		default:
			c.busy = true
			if err := c.sleep(ctx, c.in.full+"/"+queue[i-1]); err != nil {
				return nil, err
			}
		}
		if names, err = c.in.list(ctx, c.node.Session); err != nil {
			return nil, err
		}
	}
}

// sleep returns nil when the queue is to be looked at again: because the node ahead went
// or changed, or because the watch on it could not be kept.
func (c *contender) sleep(ctx context.Context, ahead string) error {
	conn, err := c.in.inside.Conn()
	if err != nil {
		return err
	}
	var calls []*zkconn.Call
	if c.own == nil || c.own.fired() {
		c.own = newNodeWatch(conn, c.node.Path)
		calls = append(calls, c.own.call())
	}
	next := newNodeWatch(conn, ahead)
	defer next.stop()
	calls = append(calls, next.call())
	if err := conn.Do(ctx, c.node.Session, calls...); err != nil {
		c.own = nil // Do took its watches back
		return c.interrupted(ctx, err)
	}
	if len(calls) == 2 && calls[0].Err != nil {
		c.own = nil
		return c.refused(calls[0].Err, errStartOver)
	}
	if err := calls[len(calls)-1].Err; err != nil {
		return c.refused(err, nil)
	}
	select {
	case <-next.event:
		return after(next.what)
	case <-c.own.event:
		if c.own.what == zkconn.NodeDeleted {
			return errStartOver
		}
		return after(c.own.what)
	case <-ctx.Done():
		return ended(ctx)
	}
}

// refused is the answer to a watch that was not set: missing for a node that is gone.
func (c *contender) refused(err, missing error) error {
	if errors.Is(err, framework.ErrNoNode) {
		return missing
	}
	return err
}

// interrupted says how to go on after a request that was not answered. A lost connection
// is waited for by the look at the queue that follows.
func (c *contender) interrupted(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ended(ctx)
	case errors.Is(err, framework.ErrSessionExpired):
		return errStartOver
	case framework.Retryable(err):
		return nil
	}
	return err
}

// after says how to go on after an event of a watch.
func after(what zkconn.EventType) error {
	switch what {
	case zkconn.WatchSessionLost:
		return errStartOver
	case zkconn.WatchClosed:
		return framework.ErrClosed
	}
	return nil
}

// explain turns the reason for which a wait ended into the caller's error: seen busy and
// not let in is ErrNotAcquired, and not having seen the queue is not.
func (c *contender) explain(ctx, waitCtx context.Context, err error) error {
	switch {
	case waitCtx.Err() == nil || errors.Is(err, ErrKindMismatch) || errors.Is(err, ErrNotAcquired):
		return err
	case ctx.Err() == nil && c.busy:
		return fmt.Errorf("%w within %v", ErrNotAcquired, c.in.cfg.maxWait)
	case ctx.Err() == nil:
		return fmt.Errorf("%w: no answer within %v: %v", framework.ErrConnectionLoss, c.in.cfg.maxWait, err)
	case c.busy:
		return fmt.Errorf("%w: %w", ErrNotAcquired, ended(ctx))
	}
	return err
}

// nodeWatch is a data watch on one node, for one waiter.
type nodeWatch struct {
	conn  *zkconn.Conn
	path  string
	watch *zkconn.Watch
	event chan struct{} // closed by the event
	what  zkconn.EventType
}

func newNodeWatch(conn *zkconn.Conn, path string) *nodeWatch {
	w := &nodeWatch{conn: conn, path: path, event: make(chan struct{})}
	w.watch = zkconn.NewWatch(path, zkconn.WatchData, func(e zkconn.WatchEvent) {
		w.what = e.Type
		close(w.event)
	})
	return w
}

// call returns the read that sets the watch.
func (w *nodeWatch) call() *zkconn.Call {
	return &zkconn.Call{
		Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: w.path, Watch: true},
		Res: &jute.GetDataResponse{}, Watch: w.watch,
	}
}

func (w *nodeWatch) fired() bool {
	select {
	case <-w.event:
		return true
	default:
		return false
	}
}

func (w *nodeWatch) stop() { w.conn.Unwatch(w.watch) }
