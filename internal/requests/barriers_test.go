package requests_test

import (
	"context"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/barriers"
)

func barrierCases() []tableCase {
	barrier := func(f *fixture, c *framework.Client) *barriers.DistributedBarrier {
		b, err := barriers.NewDistributedBarrier(c, "/parent/barrier")
		return made(f, b, err)
	}
	all := callOf("recipes/barriers: (*DistributedBarrier) Set", "twice", "create", func(f *fixture) error {
		f.ok(barrier(f, f.client).Set(f.Context()))
		return barrier(f, f.client).Set(f.Context())
	})
	all = append(all,
		tableCase{"recipes/barriers: (*DistributedBarrier) Remove", "twice", func(f *fixture) {
			f.ok(barrier(f, f.client).Set(f.Context()))
			f.step("call", func() { f.ok(barrier(f, f.client).Remove(f.Context())) })
			f.step("call again", func() { f.ok(barrier(f, f.client).Remove(f.Context())) })
		}},
		tableCase{"recipes/barriers: (*DistributedBarrier) Remove", "an answer is lost", func(f *fixture) {
			f.ok(barrier(f, f.client).Set(f.Context()))
			f.step("call", func() {
				f.unanswered("delete")
				f.ok(barrier(f, f.client).Remove(f.Context()))
			})
		}},
		tableCase{"recipes/barriers: (*DistributedBarrier) Wait", "it is not set", func(f *fixture) {
			f.step("call", func() { f.ok(barrier(f, f.client).Wait(f.Context())) })
		}},
		tableCase{"recipes/barriers: (*DistributedBarrier) Wait", "cut while it waits", func(f *fixture) {
			f.ok(barrier(f, f.other).Set(f.Context()))
			var end func()
			f.step("Wait", func() { end = f.waits(barrier(f, f.client).Wait) })
			f.cut()
			f.expire()
			f.step("another client removes it", func() { f.ok(barrier(f, f.other).Remove(f.Context())); end() })
		}},
		tableCase{"recipes/barriers: (*DistributedBarrier) Wait", "the context ends", func(f *fixture) {
			f.ok(barrier(f, f.other).Set(f.Context()))
			f.step("Wait", func() {
				ctx, cancel := context.WithTimeout(f.Context(), time.Second)
				defer cancel()
				_ = barrier(f, f.client).Wait(ctx)
			})
		}},
	)
	return append(all, append(enterCases(), leaveCases()...)...)
}

func doubleBarrier(f *fixture, c *framework.Client) *barriers.DistributedDoubleBarrier {
	b, err := barriers.NewDistributedDoubleBarrier(c, "/barrier", 2)
	return made(f, b, err)
}

// enterCases are of a double barrier of two.
func enterCases() []tableCase {
	enter := func(row string, between func(f *fixture)) tableCase {
		return tableCase{"recipes/barriers: (*DistributedDoubleBarrier) Enter", row, func(f *fixture) {
			var end func()
			f.step("the first enters", func() { end = f.waits(doubleBarrier(f, f.client).Enter) })
			between(f)
			f.step("the second enters", func() { f.ok(doubleBarrier(f, f.other).Enter(f.Context())); end() })
		}}
	}
	return []tableCase{
		enter("free", func(*fixture) {}),
		enter("cut while it waits", (*fixture).cut),
		{"recipes/barriers: (*DistributedDoubleBarrier) Enter", "the session ends while it waits", func(f *fixture) {
			done := make(chan struct{})
			f.step("Enter", func() { go func() { defer close(done); _ = doubleBarrier(f, f.client).Enter(f.Context()) }() })
			f.expire()
			f.step("Close of the client", func() { f.ok(f.client.Close(f.Context())); <-done })
		}},
		{"recipes/barriers: (*DistributedDoubleBarrier) Enter", "an answer to a create is lost", func(f *fixture) {
			f.nodes("/barrier")
			var end func()
			f.step("the first enters", func() {
				f.unanswered("create")
				end = f.waits(doubleBarrier(f, f.client).Enter)
			})
			f.step("the second enters", func() { f.ok(doubleBarrier(f, f.other).Enter(f.Context())); end() })
		}},
		{"recipes/barriers: (*DistributedDoubleBarrier) Enter", "the context ends", func(f *fixture) {
			f.step("Enter", func() {
				ctx, cancel := context.WithTimeout(f.Context(), time.Second)
				defer cancel()
				_ = doubleBarrier(f, f.client).Enter(ctx)
			})
		}},
	}
}

// entered has two members in the barrier, the one whose node is the first in order before the other.
func entered(f *fixture) (lowest, highest *barriers.DistributedDoubleBarrier) {
	lowest, highest = doubleBarrier(f, f.client), doubleBarrier(f, f.other)
	end := f.waits(lowest.Enter)
	f.ok(highest.Enter(f.Context()))
	end()
	if f.wires[0].lastEphemeral() > f.wires[1].lastEphemeral() {
		lowest, highest = highest, lowest
		f.wires[0], f.wires[1] = f.wires[1], f.wires[0]
		f.client, f.other = f.other, f.client
	}
	f.wires[0].name, f.wires[1].name = "lowest", "highest"
	return lowest, highest
}

// leaveCases are of a double barrier of two.
func leaveCases() []tableCase {
	leave := func(row string, lowestFirst bool, between func(f *fixture)) tableCase {
		return tableCase{"recipes/barriers: (*DistributedDoubleBarrier) Leave", row, func(f *fixture) {
			first, second := entered(f)
			if !lowestFirst {
				first, second = second, first
			}
			var end func()
			f.step("the first leaves", func() { end = f.waits(first.Leave) })
			between(f)
			f.step("the second leaves", func() { f.ok(second.Leave(f.Context())); end() })
		}}
	}
	nothing := func(*fixture) {}
	return []tableCase{
		leave("the lowest first", true, nothing),
		leave("the highest first", false, nothing),
		leave("the lowest first, cut while it waits", true, (*fixture).cut),
		leave("the highest first, cut while it waits", false, func(f *fixture) {
			f.unordered("the connection is cut", func() { f.server.DisconnectSession(f.other.SessionID()) })
		}),
	}
}
