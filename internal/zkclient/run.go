package zkclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/retry"
)

// Operation is one call of a user.
type Operation struct {
	Name, Path string
	// Repeat: the operation may be tried again although an earlier try may have been applied.
	Repeat  bool
	Missing bool   // ErrNoNode is an answer, not a failure
	Wire    string // the request that is sent, if it has another name
	Batch   int    // how many operations it is, if that is more than one
}

// Try is one try of an operation.
type Try = func(ctx context.Context, conn *zkconn.Conn) error

// traced returns the operation as spans and metrics show it.
func (op Operation) traced(ctx context.Context, prefix string) telemetry.Op {
	name := op.Name
	if op.Wire != "" {
		name = op.Wire
	}
	return telemetry.Op{Name: name, Path: op.Path, Prefix: prefix, Batch: op.Batch, Missing: op.Missing, Background: isLate(ctx)}
}

// lateKey is the key of the mark of Late in contexts.
type lateKey struct{}

// Late marks the context of an operation that was accepted before Close began, and is still given its time.
func Late(ctx context.Context) context.Context { return context.WithValue(ctx, lateKey{}, true) }

func isLate(ctx context.Context) bool { return ctx.Value(lateKey{}) != nil }

// Conn returns the session layer of a client that is open, or why there is none.
func (c *Client) Conn() (*zkconn.Conn, error) {
	if c == nil {
		return nil, ErrNilClient
	}
	return c.connection(false)
}

// Epoch returns that of the servers' data, see zkconn.Conn.Epoch. It is asked for ahead of a request. Without a
// connection, where no request has an answer, it is 0.
func (c *Client) Epoch() int64 {
	conn, err := c.Conn()
	if err != nil {
		return 0
	}
	return conn.Epoch()
}

// Usable is Conn for an operation with ctx.
func (c *Client) Usable(ctx context.Context) (*zkconn.Conn, error) {
	switch {
	case c == nil:
		return nil, ErrNilClient
	case ctx == nil:
		return nil, ErrNilContext
	}
	return c.connection(isLate(ctx))
}

// connection returns the session layer. late says that the operation was accepted before Refuse.
func (c *Client) connection(late bool) (*zkconn.Conn, error) {
	conn := c.conn.Load()
	switch {
	case conn == nil && c.isClosing():
		return nil, zkconn.ErrClosed
	case conn == nil:
		return nil, errLatent
	case !late && c.isClosing():
		c.tellClosed()
		return nil, zkconn.ErrClosed
	}
	return conn, nil
}

// Run tries fn until it succeeds or the retry policy gives up.
func (c *Client) Run(ctx context.Context, op Operation, fn Try) error {
	conn, err := c.Usable(ctx)
	if err != nil {
		return c.fail(op.Name, op.Path, err)
	}
	ctx, traced := c.cfg.Telemetry.Operation(ctx, conn, op.traced(ctx, c.prefix))
	tries, err := 1, ErrPanicked
	defer func() { traced.End(tries, err) }()
	// Nearly every operation succeeds at once, and then needs no loop.
	if err = fn(ctx, conn); err != nil {
		tries, err = c.repeat(ctx, conn, op, fn, err)
	}
	return err
}

// repeat is what Run does behind a first try that has failed with err. It returns how many tries there were.
func (c *Client) repeat(ctx context.Context, conn *zkconn.Conn, op Operation, fn Try, err error) (tries int, _ error) {
	tries, err = c.again(ctx, conn, op, fn, err)
	if lacksConnection(err) {
		conn.SuspendUnconnected()
	}
	return tries, err
}

// fail returns the user's error of a failure. That of a nil Client is err itself.
func (c *Client) fail(op, path string, err error) error {
	if c == nil {
		return err
	}
	return c.cfg.Fail(Failure{Op: op, Path: path, Err: err})
}

// Retry is Run for what may be repeated, and for which ErrNoNode is an answer.
func (c *Client) Retry(ctx context.Context, op, path string, fn Try) error {
	return c.Run(ctx, Operation{Name: op, Path: path, Repeat: true, Missing: true}, fn)
}

// Pause waits for as long as the client's retry policy wants after err, the answer to a request. It
// returns err, as Retry does, if the policy gives up.
func (c *Client) Pause(ctx context.Context, op, path string, err error) error {
	return c.Retry(ctx, op, path, func(context.Context, *zkconn.Conn) error {
		failed := err
		err = nil // the second try succeeds
		return failed
	})
}

// lacksConnection tells whether an operation failed because there was no connection in time: before the
// client's own timeout, or before the deadline of the operation's context. A context that was
// cancelled says nothing about the connection.
func lacksConnection(err error) bool {
	var unsent *zkconn.TransportError
	return errors.As(err, &unsent) && !unsent.Sent &&
		(errors.Is(unsent.Err, zkconn.ErrConnectionLoss) || errors.Is(unsent.Err, context.DeadlineExceeded))
}

// ErrPanicked is the error of a call that did not return: a function of the user, such as a retry policy, has
// panicked.
var ErrPanicked = errors.New("a panic in code of the user")

// again tries fn again, if that makes sense after the first try's error. It returns how many
// tries there were.
func (c *Client) again(ctx context.Context, conn *zkconn.Conn, op Operation, fn Try, err error) (tries int, _ error) {
	var last Failure
	var told error // of last
	note := func(err error) error {
		tries++
		last = Failure{Op: op.Name, Path: op.Path, Attempts: tries, Err: err, Outcome: Outcome{
			final: !op.Repeat && MaybeApplied(err), applied: last.MaybeApplied(), // by an earlier try
		}}
		told = c.cfg.Fail(last)
		return told
	}
	first := note(err)
	if !last.Retryable() {
		return tries, first
	}
	ctx, cancel := c.WithLife(ctx)
	defer cancel(nil)
	err = retry.Do(ctx, c.cfg.Retry, func(ctx context.Context) error {
		if first != nil {
			err := first
			first = nil
			return err
		}
		c.cfg.Telemetry.Retry(ctx, op.Name, tries+1, last.Err)
		err := fn(ctx, conn)
		if err == nil {
			tries++
			return nil
		}
		return note(err)
	})
	if err == nil {
		return tries, nil
	}
	if last.Retryable() {
		c.cfg.Telemetry.GaveUp()
	}
	if err != told { //nolint:errorlint // ctx ended the loop, else it is the last try's error itself
		last.Err, last.Outcome = loopError(ctx, last.Err), Outcome{final: true, applied: last.MaybeApplied()}
		told = c.cfg.Fail(last)
	}
	return tries, told
}

// loopError joins the last try's error with why the loop ended.
func loopError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause == error(zkconn.ErrClosed) { //nolint:errorlint // the client's own end, not that of another one in the cause of the caller
		return fmt.Errorf("%w: %w", cause, err)
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}

// Call runs an operation that is one request. One that is repeated is a read.
func (c *Client) Call(ctx context.Context, op Operation, code jute.Op, req, res jute.Record) error {
	return c.Run(ctx, op, func(ctx context.Context, conn *zkconn.Conn) error {
		err := do(ctx, conn, 0, &zkconn.Call{Op: code, Req: req, Res: res})
		if op.Repeat {
			err = NotApplied(err)
		}
		return err
	})
}

// do sends one request, on a session if that is not zero. The error may be the server's answer.
func do(ctx context.Context, conn *zkconn.Conn, session int64, call *zkconn.Call) error {
	if err := conn.Do(ctx, session, call); err != nil {
		return err
	}
	return call.Err
}

// sessionKey is the key of the session in the contexts of OnSession.
type sessionKey struct{}

// OnSession returns a copy of ctx for transactions and reads that are sent on this session or not at all.
// Then their error matches ErrSessionExpired, and is not retried. A server without a quorum gets none of
// them.
func OnSession(ctx context.Context, session int64) context.Context {
	return context.WithValue(ctx, sessionKey{}, session)
}

// DoOnSession is conn.Do on the session of ctx, if OnSession has set one.
func (c *Client) DoOnSession(ctx context.Context, conn *zkconn.Conn, op string, call *zkconn.Call) error {
	session, _ := ctx.Value(sessionKey{}).(int64)
	err := conn.Do(ctx, session, call)
	if session != 0 && errors.Is(err, zkconn.ErrSessionExpired) {
		return c.cfg.Fail(Failure{Op: op, Attempts: 1, Err: err, Outcome: Outcome{final: true}})
	}
	return err
}

// Read is DoOnSession for a read. The error may be the server's answer.
func (c *Client) Read(ctx context.Context, conn *zkconn.Conn, op string, call *zkconn.Call) error {
	err := c.DoOnSession(ctx, conn, op, call)
	if err == nil {
		err = call.Err
	}
	return err
}

// ReadError returns the error of a try that only reads. That of DoOnSession stays: the session is over.
func ReadError(err error) error {
	if isFinal(err) {
		return err
	}
	return NotApplied(err)
}
