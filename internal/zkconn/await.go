package zkconn

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

// patience bounds the time for which one call waits for connections. The time begins with the first
// wait. Several connections may end before the call is sent.
type patience struct{ timer *time.Timer }

func (p *patience) over(d time.Duration) <-chan time.Time {
	if p.timer == nil {
		p.timer = time.NewTimer(d)
	}
	return p.timer.C
}

func (p *patience) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// connected waits for a connection: of the given session if that is not zero, and with quorum not for one
// for reads alone. When ctx has ended, it returns ctx's error.
func (c *Conn) connected(ctx context.Context, session int64, quorum bool, p *patience) (*muxConn, error) {
	var wait waiting
	var inVain <-chan struct{}
	for first := true; ; first = false {
		c.mu.Lock()
		w, ready, err := c.link.mux, c.link.ready, c.whyNotSent(session)
		c.mu.Unlock()
		if ctx.Err() != nil { // also if there is a connection by now: what was not sent before is never sent
			err := ctxError(ctx, false)
			if why := c.lastError(); w == nil && why != nil {
				err.Detail = join(err.Detail, why)
			}
			return nil, err
		}
		if err != nil {
			c.reports.losses.tell()
			return nil, err
		}
		switch {
		case w != nil && (session == 0 && !quorum || !w.readOnly):
			return w, nil
		case w != nil: // another connection will have the session, or a quorum
			ready = w.dead
		}
		if first { // nearly every call needs no more; who waits looks again, behind inVain
			wait = waitingOf(ctx, c.cfg.FailFast, c.cfg.ConnectionTimeout)
			inVain = wait.inVain(c.hosts)
			continue
		}
		select {
		case <-ready:
		case <-ctx.Done():
		case <-inVain:
			return nil, &TransportError{Err: wait.inVainErr, Detail: c.lastError()}
		case <-p.over(wait.atMost):
			return nil, &TransportError{Err: ErrConnectionLoss, Detail: c.lastError()}
		}
	}
}

// lastError returns why there is no connection, as far as is known.
func (c *Conn) lastError() error {
	c.mu.Lock()
	why := c.link.err
	c.mu.Unlock()
	if t := c.hosts.Trying(); why == nil && t.Server != "" {
		return fmt.Errorf("%s: no answer yet", t)
	}
	return why
}

// Connected waits for a connection and returns its session, zero if it is read-only. It returns ctx's error
// if ctx has ended.
func (c *Conn) Connected(ctx context.Context) (session int64, err error) {
	var p patience
	defer p.stop()
	w, err := c.connected(ctx, 0, false, &p)
	if err != nil {
		return 0, err
	}
	if w.readOnly {
		return 0, nil
	}
	return w.session, nil
}

// Ready waits for a connection until ctx ends, however long that is.
func (c *Conn) Ready(ctx context.Context) error {
	for {
		_, err := c.Connected(ctx)
		if lost, ok := errors.AsType[*TransportError](err); !ok || !errors.Is(lost.Err, ErrConnectionLoss) {
			return err
		}
	}
}

// AwaitProof waits until the session can be relied on. It returns an error when the session is over,
// the Conn is closed, servers reject the credentials, or ctx ends.
func (c *Conn) AwaitProof(ctx context.Context, session int64) error {
	for {
		again, err := c.awaitsProof(session)
		if err != nil {
			c.reports.losses.tell()
		}
		if again == nil {
			return err
		}
		select {
		case <-again:
		case <-ctx.Done():
			return ctxError(ctx, false)
		}
	}
}

// awaitsProof returns nil if the session can be relied on, and nil and an error if it never can be.
// Otherwise it returns a channel that is closed when this may have changed.
func (c *Conn) awaitsProof(session int64) (again <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.whyNotSent(session); err != nil {
		return nil, err
	}
	return c.lease.Await(), nil
}

// unreachable is how long a clean-up waits without a connection.
const unreachable = 5 * time.Second

// servesReadsOnly reports whether the connection in use is to a server without a quorum.
func (c *Conn) servesReadsOnly() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link.mux != nil && c.link.mux.readOnly
}

// Reachable returns a copy of ctx for a clean-up: it also ends, with ErrConnectionLoss, when there has been
// no connection for 5 s, now or later, or only one to a server without a quorum, which deletes nothing. A
// clean-up must not wait for servers that do not come back.
func (c *Conn) Reachable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	alone := time.AfterFunc(unreachable, func() {
		cancel(&TransportError{Err: ErrConnectionLoss, Detail: c.lastError()})
	})
	var mu sync.Mutex
	told := false
	observer, connected := c.Observe(func(e EventType) {
		mu.Lock()
		defer mu.Unlock()
		told = true
		switch e {
		case WatchSuspended:
			alone.Reset(unreachable)
		case WatchReset:
			if !c.link.mux.readOnly { // c.mu is held
				alone.Stop()
			}
		case WatchClosed: // without a client everything ends by itself
			alone.Stop()
		}
	})
	connected = connected && !c.servesReadsOnly()
	mu.Lock()
	defer mu.Unlock()
	if connected && !told { // else the connection may be gone already
		alone.Stop()
	}
	return ctx, func() {
		c.Unobserve(observer)
		alone.Stop()
		cancel(nil)
	}
}
