package zkconn

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// Flight is calls that were sent in one write, or that wait for a connection. See [Conn.Start].
type Flight struct {
	conn    *Conn
	session int64
	quorum  bool // not on a connection for reads alone
	calls   []*Call
	batch   *batch
	mux     *muxConn // that the batch was queued on; nil before
	refused error    // why Start has not queued it
}

// Do sends calls in one write and waits for all their answers. With a session that is
// not zero they are sent on that session or not at all.
//
// A nil error means that every call was answered; what the answers say is in their Err. A
// *TransportError says that some were not: whether they may have been applied is in it, and it
// is the Err of those calls. ErrTooLarge is returned before anything is sent. When ctx ends Do
// returns at once; calls that were not sent by then never are.
func (c *Conn) Do(ctx context.Context, session int64, calls ...*Call) error {
	f := Flight{conn: c, session: session, calls: calls}
	return f.Wait(ctx)
}

// DoAtQuorum is Do on whatever session there is, but not on a connection for reads alone: for reads by
// which the client learns what has become of its own writes. What a server without a quorum shows may
// be older than they are.
func (c *Conn) DoAtQuorum(ctx context.Context, calls ...*Call) error {
	f := Flight{conn: c, quorum: true, calls: calls}
	return f.Wait(ctx)
}

// Start is the first half of Do: it queues the calls if there is a connection. It does not
// block. What is started first is sent first. If the calls are queued, then is called when Wait
// will return at once, unless then is nil. That is on a goroutine that must not be blocked, and
// may be before Start returns. If the calls are not queued, Wait or Result must be called.
func (c *Conn) Start(session int64, then func(*Flight), calls ...*Call) (f *Flight, queued bool) {
	f = &Flight{conn: c, session: session, calls: calls}
	c.mu.Lock()
	w, err := c.link.mux, c.whyNotSent(session)
	c.mu.Unlock()
	if w == nil || err != nil || session != 0 && w.readOnly {
		f.refused = err
		return f, false // Wait meets the reason again
	}
	if f.batch, f.refused = newBatch(calls, c.cfg.MaxRequest); f.refused != nil {
		return f, false
	}
	f.mux = w
	if then != nil {
		f.batch.then = func() { then(f) }
	}
	if f.refused = w.submit(f.batch); f.refused != nil {
		f.mux, f.batch.then = nil, nil
		return f, false
	}
	return f, true
}

// Result takes the place of Wait, and does not block. In the function that Start was given it
// returns what Wait would. If Start could not queue the calls, Result returns why, which is
// ErrConnectionLoss if there is no connection; the calls are never sent then.
func (f *Flight) Result() error {
	if f.mux != nil {
		err := f.conn.take(f.batch, f.mux)
		if err != nil {
			f.unwatch()
		}
		return f.failed(err)
	}
	err := f.refused
	if err == nil || errors.Is(err, errDead) {
		err = &TransportError{Err: ErrConnectionLoss, Detail: f.conn.lastError()}
	}
	f.conn.reports.losses.tell()
	return f.failed(err)
}

// Ended reports whether Wait returns at once, because calls that are queued have their answers, or will get none.
func (f *Flight) Ended() bool {
	if f.mux == nil {
		return false
	}
	select {
	case <-f.batch.done:
		return true
	default:
		return false
	}
}

// maxRecounts is how often calls are sent again that were refused, because the session's ephemeral nodes were counted
// again meanwhile.
const maxRecounts = 2

// Wait is the second half of Do. Calls that Start could not queue are queued when there is a
// connection. Wait must be called once.
func (f *Flight) Wait(ctx context.Context) error {
	if len(f.calls) == 0 {
		return nil
	}
	err := f.once(ctx)
	for range maxRecounts {
		full, ok := errors.AsType[*EphemeralsTooLarge](err)
		if !ok || !f.recounted(ctx, full) {
			break
		}
		f.batch, f.mux = nil, nil
		err = f.once(ctx)
	}
	return f.failed(err)
}

// once queues the calls, unless that was done, and waits for the answers. Watches of calls that were refused stay as they
// are: they were not set, and the calls may be sent again.
func (f *Flight) once(ctx context.Context) error {
	if err := f.queue(ctx); err != nil {
		return err
	}
	err := f.conn.await(ctx, f.batch, f.mux)
	if _, refused := errors.AsType[*EphemeralsTooLarge](err); err != nil && !refused {
		f.unwatch()
	}
	return err
}

// recounted waits until the session's ephemeral nodes are counted again. It reports false if they are not, or if it must not
// wait.
func (f *Flight) recounted(ctx context.Context, full *EphemeralsTooLarge) bool {
	if full.counted == nil || f.batch != nil && f.batch.then != nil {
		return false
	}
	select {
	case <-full.counted:
		return true
	case <-ctx.Done():
		return false
	}
}

// unwatch gives back the watches of calls that have failed.
func (f *Flight) unwatch() {
	for _, call := range f.calls {
		for watch := range call.watches {
			f.conn.Unwatch(watch)
		}
	}
}

// failed makes err the error of the calls that were not answered, and returns it.
func (f *Flight) failed(err error) error {
	if err != nil {
		for _, call := range f.calls {
			if !call.answered {
				call.Err = err
			}
		}
	}
	return err
}

// queue waits for a connection, and queues the calls on it, unless that was done.
func (f *Flight) queue(ctx context.Context) (err error) {
	if f.batch == nil {
		if f.batch, err = newBatch(f.calls, f.conn.cfg.MaxRequest); err != nil {
			return err
		}
	}
	var p patience
	defer p.stop()
	for f.mux == nil {
		w, err := f.conn.connected(ctx, f.session, f.quorum, &p)
		if err != nil {
			return err
		}
		switch err := w.submit(f.batch); {
		case errors.Is(err, errDead): // the connection ends just now, nothing was sent
			select {
			case <-w.dead:
			case <-ctx.Done():
			}
		case err != nil:
			return err
		default:
			f.mux = w
		}
	}
	return nil
}

// await waits for the answers to a batch that was queued on w.
func (c *Conn) await(ctx context.Context, b *batch, w *muxConn) error {
	late := false
	select {
	case <-b.done:
	case <-ctx.Done():
		if w.withdraw(b) {
			b.frames = nil // the queue may keep the rest for a while
			return b.withdrawnError(ctx)
		}
		select {
		case <-b.done: // both at once: an answer is worth more
		default:
			if late = true; !c.lingers(ctx, b) {
				return ctxError(ctx, true)
			}
		}
	}
	lost := c.take(b, w)
	b.observe(ctx, w)
	if lost != nil && late {
		return ctxError(ctx, true)
	}
	return lost
}

// lingering is the key of the time of Lingering.
type lingering struct{}

// Lingering returns a copy of ctx for requests whose answer decides what becomes of a user's data. When ctx
// ends, a request that was not sent by then never is, as without it; but for the answer to one that was
// sent Do waits for so much longer, and at most for the timeout of the session.
func Lingering(ctx context.Context, longer time.Duration) context.Context {
	return context.WithValue(ctx, lingering{}, longer)
}

// lingers waits for the answers to a batch that was sent, behind the end of ctx for as long as Lingering
// says, and reports whether they have come.
func (c *Conn) lingers(ctx context.Context, b *batch) bool {
	longer, ok := ctx.Value(lingering{}).(time.Duration)
	if !ok {
		return false
	}
	timer := time.NewTimer(min(longer, c.Timeout()))
	defer timer.Stop()
	select {
	case <-b.done:
		return true
	case <-timer.C:
		return false
	}
}

// take decodes the answers to a finished batch, which was queued on w.
func (c *Conn) take(b *batch, w *muxConn) error {
	var lost error
	if b.err != nil {
		lost = c.explain(b.err)
	}
	for i, call := range b.calls {
		if i >= len(b.replies) {
			break
		}
		if err := call.decode(b.replies[i]); err != nil {
			w.fail(err)
			<-w.dead // another goroutine may have ended it, and still tell of that
			return &TransportError{Err: ErrConnectionLoss, Detail: err, Sent: true}
		}
	}
	return lost
}

// AddAuth presents a credential on the connection in use, behind what was sent on it before, and,
// once a server has accepted it, on all later connections. An error of the server's says that it
// was refused, and is not kept; the server ends the connection. After a *TransportError it is not
// known whether it is kept; it can be added again.
func (c *Conn) AddAuth(ctx context.Context, a Auth) error {
	call := &Call{Op: jute.OpAuth, Req: &jute.AuthPacket{Scheme: a.Scheme, Auth: a.Auth}, added: &a}
	if err := c.Do(ctx, 0, call); err != nil {
		return err
	}
	return call.Err
}
