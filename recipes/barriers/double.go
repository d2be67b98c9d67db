package barriers

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/watchset"
	"github.com/go-curator/curator/tracing"
)

// DistributedDoubleBarrier is one member of a barrier that opens when enough members have
// entered, and again when all of them leave. It may be used for several rounds, one after the
// other. A nil *DistributedDoubleBarrier, and the zero value, return framework.ErrNotStarted.
//
// Java: DistributedDoubleBarrier, with which it shares the barrier; there an object can be used
// for only one round.
type DistributedDoubleBarrier struct {
	place     place
	memberQty int
	unmarked  atomic.Bool // the barrier's node may not be written to

	mu       sync.Mutex
	presence presence
	member   member // while it is in, or leaves
}

// presence is where a member is.
type presence int

const (
	out presence = iota
	entering
	in
	leaving
)

// NewDistributedDoubleBarrier returns a member of the barrier at path, which opens for memberQty
// members: all of them must give the same number. More than that may pass. It does no I/O.
//
// memberQty has a limit, because one transaction checks all members when the barrier opens: the limit of
// framework.WithMaxData, which must not exceed the servers' jute.maxbuffer, divided by the length of path
// plus 54 bytes. By default that is between 12,000 and 17,000 members for a path of 8 to 30 characters.
//
// Errors: framework.ErrInvalidPath, framework.ErrInvalidOption for a memberQty that is not
// positive or above the limit and for a bad option, framework.ErrNotStarted for a nil client.
//
// Java: DistributedDoubleBarrier, which has no limit, and does not check the members.
func NewDistributedDoubleBarrier(client *framework.Client, path string, memberQty int, opts ...Option) (*DistributedDoubleBarrier, error) {
	p, err := newPlace(client, path, opts)
	if err != nil {
		return nil, err
	}
	if err := p.checkQuantity(memberQty); err != nil {
		return nil, err
	}
	return &DistributedDoubleBarrier{place: p, memberQty: memberQty}, nil
}

func (b *DistributedDoubleBarrier) check(ctx context.Context) error {
	if b == nil {
		return (*place)(nil).check(ctx)
	}
	return b.place.check(ctx)
}

// Enter waits until memberQty members have entered. A member that comes when the barrier is
// open already passes, too. When Enter returns an error the member has not entered and is not
// counted: its node is deleted, if necessary in the background. After the end of a session
// Enter creates its node again.
//
// When ctx ends Enter reads once more, for up to a second, and returns nil if the others have
// counted the member. With members in Java ctx should have a deadline: see the package.
//
// Errors: ErrNotPassed, ctx's error, ErrEntered, framework.ErrClosed, framework.ErrConnectionLoss
// when the client's retry policy gives up, or the server's.
//
// Java: enter; there a member that gave up is counted until its session ends.
func (b *DistributedDoubleBarrier) Enter(ctx context.Context) (err error) {
	if err := b.check(ctx); err != nil {
		return err
	}
	if !b.move(out, entering) {
		return fmt.Errorf("barrier %s: %w", b.place.path, ErrEntered)
	}
	entered := member{}
	next := out
	defer func() { b.settle(next, entered) }() // also when a retry policy of the user panics
	ctx, span := b.place.api.Telemetry().BarrierWait(ctx, tracing.BarrierEnter, b.place.path)
	defer func() { span.End(err) }()
	e := &entry{place: &b.place, memberQty: b.memberQty, unmarked: &b.unmarked, set: watchset.New()}
	returned := false
	defer func() {
		if !returned { // a retry policy of the user panics
			err = zkclient.ErrPanicked
			e.abandon(ctx)
		}
		b.place.giveBack(e.set)
	}()
	if err = ctx.Err(); err == nil {
		err = e.run(ctx)
	}
	if err != nil {
		err = e.giveUp(ctx, err)
	}
	if err == nil {
		next, entered = in, e.member
		if entered.node != "" {
			entered.own = e.set.Take(ownTag) // it goes with the node
		}
	}
	returned = true
	return explain(ctx, b.place.path, err, e.seen)
}

// Leave waits until all members of the round leave. When Leave returns, with or without an
// error, this member has left: its node is deleted, if necessary in the background. Leave works
// with an ended ctx: it then leaves without waiting for the others. When ctx ends, and when
// this member was lost, Leave goes on for up to a second, to leave no open barrier behind.
//
// Errors: ErrNotPassed, ctx's error, ErrMemberLost, ErrEntered, framework.ErrClosed,
// framework.ErrConnectionLoss when the client's retry policy gives up, or the server's.
//
// Java: leave.
func (b *DistributedDoubleBarrier) Leave(ctx context.Context) (err error) {
	if err := b.check(ctx); err != nil {
		return err
	}
	if !b.move(in, leaving) {
		return fmt.Errorf("barrier %s: %w", b.place.path, ErrEntered)
	}
	defer b.settle(out, member{})
	ctx, span := b.place.api.Telemetry().BarrierWait(ctx, tracing.BarrierLeave, b.place.path)
	defer func() { span.End(err) }()
	d := &departure{place: &b.place, member: b.member, set: watchset.New()}
	returned := false
	defer func() {
		if !returned { // a retry policy of the user panics
			err = zkclient.ErrPanicked
			d.abandon(ctx)
		}
		b.place.giveBack(d.set, d.own)
	}()
	if err = d.run(ctx); err != nil {
		d.finish(ctx, err)
	}
	returned = true
	return explain(ctx, b.place.path, err, d.seen)
}

// move goes from one presence to another, and reports whether it was there.
func (b *DistributedDoubleBarrier) move(from, to presence) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.presence != from {
		return false
	}
	b.presence = to
	return true
}

// settle ends a call.
func (b *DistributedDoubleBarrier) settle(to presence, m member) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.presence, b.member = to, m
}
