package zkconn

import (
	"context"
	"time"
)

// answersProve is the key of TrustAnswers.
type answersProve struct{}

// TrustAnswers returns a context for [Open] with which every answer moves the deadline, as if the
// server that answers were the leader. That is wrong on an ensemble. It is for a test that shows that
// it can detect the consequences.
func TrustAnswers(ctx context.Context) context.Context {
	return context.WithValue(ctx, answersProve{}, true)
}

// Use says that somebody relies on the session, or waits to, until Unuse. As long as somebody
// does, proofs are asked for (S2).
func (c *Conn) Use() { c.lease.Use() }

// Unuse undoes one Use.
func (c *Conn) Unuse() { c.lease.Unuse() }

// InUse tells whether somebody relies on the session, or did until a moment ago.
func (c *Conn) InUse() bool { return c.lease.InUse() }

// Margin returns how long before the earliest end of the session at the servers its deadline is.
func (c *Conn) Margin() time.Duration { return c.lease.Margin() }

// Deadline returns when belief in the session must end unless there is another proof before (S4).
// It is in the past when nobody has used the session for a while, see Use. ok is false when the
// session is over already.
func (c *Conn) Deadline(session int64) (deadline time.Time, ok bool) {
	return c.lease.Deadline(session)
}

// AwaitProof waits until the session can be relied on. It returns an error when the session is over,
// the Conn is closed, servers reject the credentials, or ctx ends.
func (c *Conn) AwaitProof(ctx context.Context, session int64) error {
	for {
		again, err := c.awaitsProof(session)
		if err != nil {
			c.losses.tell()
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
	if err := c.refuse(session); err != nil {
		return nil, err
	}
	return c.lease.Await(), nil
}
