package queue_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// guarded consumes one node, with items "x", by a function, and waits until the queue is empty.
func guarded(f *fixture, client *framework.Client, fn func(ctx context.Context, m message) error, items ...string) *consumer {
	f.t.Helper()
	suite.OK(f.t, f.queue(f.observer).Put(f.t.Context(), items...))
	c := f.consume(f.queue(client).Consume, fn)
	f.drained()
	c.idle()
	c.stop()
	return c
}

// effect returns the operation by which the tests count how often an item has its effect.
func (f *fixture) effect(client *framework.Client) framework.Op {
	return client.TransactionOp().Create().WithMode(framework.PersistentSequential).ForPath(f.b.Path("effects") + "/effect-")
}

func (f *fixture) makeEffects() {
	f.t.Helper()
	suite.Got(f.observer.Create().CreatingParentsIfNeeded().ForPath(f.t.Context(), f.b.Path("effects"))).OK(f.t)
}

func (f *fixture) wantEffects(want int) {
	f.t.Helper()
	if got := len(f.children(f.b.Path("effects"))); got != want {
		f.t.Errorf("%d effects, want %d", got, want)
	}
}

// Guard commits with the removal of the item. After that the lease is released, the context of the
// function lives on, and its result does not matter.
func TestGuard(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		f.makeEffects()
		c := guarded(f, f.observer, func(ctx context.Context, m message) error {
			if err := m.Lease.Verify(ctx); err != nil || m.Lease.Token() <= m.Stat.Czxid {
				t.Errorf("token %d of the item %d: %v", m.Lease.Token(), m.Stat.Czxid, err)
			}
			results, err := m.Guard(ctx, f.effect(f.observer))
			if err != nil || len(results) != 1 || results[0].Path != b.Path("effects")+"/effect-0000000000" {
				t.Errorf("results %v, error %v", results, err)
			}
			if len(f.items()) > 0 || len(f.lockNodes()) > 0 {
				t.Errorf("left: %q, %q", f.items(), f.lockNodes())
			}
			suite.CheckErr(t, m.Lease.Err(), locks.ErrReleased)
			if err := ctx.Err(); err != nil {
				t.Errorf("the function's context has ended: %v", context.Cause(ctx))
			}
			_, err = m.Guard(ctx, f.effect(f.observer))
			suite.CheckErr(t, err, locks.ErrNotHeld)
			return errors.New("that does not matter")
		}, "x")
		c.want("x")
		f.wantEffects(1)
	})
}

// What Guard refuses, and what becomes of the item then.
func TestGuardRefused(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		f.makeEffects()
		client, network := b.Client(t)
		var stray message
		c := guarded(f, client, func(ctx context.Context, m message) error {
			stray = m
			if m.Item != "last" {
				_, err := m.Guard(ctx)
				suite.CheckErr(t, err, framework.ErrInvalidOption)
				return nil
			}
			_, err := m.Guard(context.Context(nil))
			suite.CheckErr(t, err, framework.ErrInvalidOption)
			_, err = m.Guard(ctx, f.effect(client), client.TransactionOp().Delete().ForPath("/none"))
			suite.CheckErr(t, err, framework.ErrNoNode) // nothing was applied, and another try is allowed
			_, err = m.Guard(ctx, framework.Op{})
			suite.CheckErr(t, err, framework.ErrInvalidBuilder)
			_, err = m.Guard(ctx, f.effect(client))
			return err
		}, "first", "last")
		c.want("first", "last")
		f.wantEffects(1)
		suite.Got(stray.Guard(t.Context())).Fails(t, locks.ErrNotHeld)

		// The lock is lost without the consumer's knowing.
		tries := 0
		c = guarded(f, client, func(ctx context.Context, m message) error {
			if tries++; tries == 1 {
				network.On(jute.OpMulti, suite.Late, func() { f.delete(f.locks) })
				_, err := m.Guard(ctx, f.effect(client))
				suite.CheckErr(t, err, locks.ErrLockLost)
				return err
			}
			_, err := m.Guard(ctx, f.effect(client))
			return err
		}, "x")
		c.want("x", "x")
		f.wantEffects(2)
		f.nothingLeft()
	})
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, false)
		guarded(f, f.observer, func(ctx context.Context, m message) error {
			_, err := m.Guard(ctx)
			suite.CheckErr(t, err, locks.ErrNotHeld)
			suite.CheckErr(t, m.Lease.Err(), locks.ErrNotHeld)
			return nil
		}, "x")
		suite.Got(message{}.Guard(t.Context())).Fails(t, locks.ErrNotHeld)
	})
}

// Whatever happens to the reply and to the session, a guarded effect happens once. The function
// returns the error of Guard, as its documentation says.
func TestGuardOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fate  suite.Fate
		fault func(r *faultyRun)
		want  int // deliveries
	}{
		{"not sent", suite.CutBefore, nil, 2},
		{"reply lost", suite.CutAfter, nil, 1},
		{"not sent, session lost", suite.CutBefore, expire, 2},
		{"reply and session lost", suite.CutAfter, expire, 1},
		{"reply lost, lagging server", suite.CutAfter, lag, 1},
		{"reply lost, ctx ends", suite.CutAfter, endCtx, 1},
		{"not sent, ctx ends", suite.CutBefore, endCtx, 2},
		{"item deleted", suite.Late, deleteItem, 1},
		{"not sent, item deleted", suite.CutBefore, deleteItem, 1},
		{"lock deleted", suite.Late, deleteLock, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b, true)
				f.makeEffects()
				guard := func(client *framework.Client) func(ctx context.Context, m message) error {
					return func(ctx context.Context, m message) error {
						_, err := m.Guard(ctx, f.effect(client))
						return err
					}
				}
				r := &faultyRun{fixture: f}
				r.client, r.network = b.Client(t)
				hit := r.network.On(jute.OpMulti, c.fate, func() {
					if c.fault != nil {
						c.fault(r)
					}
				})
				r.consumer = f.consume(f.queue(r.client).Consume, guard(r.client))
				f.put("x")
				<-hit
				heir := f.consume(f.queue(f.observer).Consume, guard(f.observer))
				f.drained()
				r.consumer.stop()
				heir.stop()
				if got := slices.Concat(r.consumer.items(), heir.items()); len(got) != c.want {
					t.Errorf("handed over %d times, want %d", len(got), c.want)
				}
				effects := 1
				if strings.HasSuffix(c.name, "item deleted") {
					effects = 0
				}
				f.wantEffects(effects)
				f.nothingLeft()
			})
		})
	}
}
