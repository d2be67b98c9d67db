package requests_test

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

func leaderCases() []tableCase {
	latch := func(f *fixture, c *framework.Client, opts ...leader.LatchOption) *leader.LeaderLatch {
		l, err := leader.NewLeaderLatch(c, "/election", opts...)
		return made(f, l, err)
	}
	life := func(op, row string, opts ...leader.LatchOption) tableCase {
		return tableCase{"recipes/leader: " + op, row, func(f *fixture) {
			l := latch(f, f.client, opts...)
			f.step("Start", func() { started(f, l) })
			f.step("Await", func() { f.must(l.Await(f.Context())) })
			var second *leader.LeaderLatch
			f.step("another client starts", func() { second = started(f, latch(f, f.other)) })
			f.cut()
			f.expire()
			f.step("Close", func() { f.ok(l.Close(f.Context())) })
			f.step("the other client closes its latch", func() { f.ok(second.Close(f.Context())) })
		}}
	}
	all := []tableCase{
		life("(*LeaderLatch) Start", "leads"),
		life("WithID", "leads", leader.WithID("me")),
		life("WithStartInBackground", "leads", leader.WithStartInBackground()),
		life("WithCloseMode", "leads", leader.WithCloseMode(leader.Silent)),
		{"recipes/leader: (*LeaderLatch) Start", "another client leads", func(f *fixture) {
			first := started(f, latch(f, f.other))
			f.must(first.Await(f.Context()))
			l := latch(f, f.client)
			f.step("Start", func() { started(f, l) })
			var end func()
			f.step("Await", func() { end = f.waits(func(ctx context.Context) error { return value(l.Await(ctx)) }) })
			f.cut()
			f.step("the other client closes its latch", func() { f.ok(first.Close(f.Context())); end() })
			f.step("Close", func() { f.ok(l.Close(f.Context())) })
		}},
		{"recipes/leader: (*LeaderLatch) Start", "another client leads until its session ends", func(f *fixture) {
			first := started(f, latch(f, f.other))
			f.must(first.Await(f.Context()))
			l := latch(f, f.client)
			f.step("Start", func() { started(f, l) })
			f.unordered("the other session ends", func() { f.server.ExpireSession(f.other.SessionID()) })
			f.step("Close", func() { f.ok(l.Close(f.Context())) })
			f.step("the other client closes its latch", func() { f.ok(first.Close(f.Context())) })
		}},
		{"recipes/leader: (*LeaderLatch) Await", "leads", func(f *fixture) {
			l := started(f, latch(f, f.client))
			f.step("call", func() { f.must(l.Await(f.Context())) })
		}},
	}
	return append(all, append(participantsCases(), selectorCases()...)...)
}

func participantsCases() []tableCase {
	// latch and selector are asked while another client leads.
	latch := func(f *fixture) *leader.LeaderLatch {
		first, err := leader.NewLeaderLatch(f.other, "/election")
		f.ok(err)
		f.must(started(f, first).Await(f.Context()))
		l, err := leader.NewLeaderLatch(f.client, "/election")
		return made(f, l, err)
	}
	selector := func(f *fixture) *leader.LeaderSelector {
		first, err := leader.NewLeaderSelector(f.other, "/election")
		f.ok(err)
		f.Cleanup(leads(f, first))
		settle()
		s, err := leader.NewLeaderSelector(f.client, "/election")
		return made(f, s, err)
	}
	var all []tableCase
	add := func(op string, asks func(f *fixture) func(ctx context.Context) error) {
		all = append(all,
			tableCase{"recipes/leader: " + op, "one participant", func(f *fixture) {
				call := asks(f)
				f.step("call", func() { f.ok(call(f.Context())) })
			}},
			tableCase{"recipes/leader: " + op, "an answer is lost", func(f *fixture) {
				call := asks(f)
				f.step("call", func() {
					f.unanswered("getChildren")
					f.ok(call(f.Context()))
				})
			}},
		)
	}
	add("(*LeaderLatch) Leader", func(f *fixture) func(ctx context.Context) error {
		l := latch(f)
		return func(ctx context.Context) error { return value(l.Leader(ctx)) }
	})
	add("(*LeaderLatch) Participants", func(f *fixture) func(ctx context.Context) error {
		l := latch(f)
		return func(ctx context.Context) error { return value(l.Participants(ctx)) }
	})
	add("(*LeaderSelector) Leader", func(f *fixture) func(ctx context.Context) error {
		s := selector(f)
		return func(ctx context.Context) error { return value(s.Leader(ctx)) }
	})
	add("(*LeaderSelector) Participants", func(f *fixture) func(ctx context.Context) error {
		s := selector(f)
		return func(ctx context.Context) error { return value(s.Participants(ctx)) }
	})
	return all
}

// leads leads whenever the selector may, until stop is called.
func leads(f *fixture, s *leader.LeaderSelector) (stop func()) {
	ctx, cancel := context.WithCancel(f.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Run(ctx, func(ctx context.Context, _ *locks.Lease) error {
			<-ctx.Done()
			return nil
		})
	}()
	return func() { cancel(); <-done }
}

func selectorCases() []tableCase {
	selector := func(f *fixture, c *framework.Client) *leader.LeaderSelector {
		s, err := leader.NewLeaderSelector(c, "/election")
		return made(f, s, err)
	}
	return []tableCase{
		{"recipes/leader: (*LeaderSelector) Run", "free", func(f *fixture) {
			s := selector(f, f.client)
			var stop func()
			f.step("Run", func() { stop = leads(f, s) })
			f.cut()
			f.expire()
			f.step("the context ends", func() { stop() })
		}},
		{"recipes/leader: (*LeaderSelector) Run", "contended", func(f *fixture) {
			first, second := selector(f, f.other), selector(f, f.client)
			stopFirst := leads(f, first)
			settle()
			var stop func()
			f.step("Run", func() { stop = leads(f, second) })
			f.cut()
			f.step("the other client is interrupted", first.Interrupt)
			f.step("and so is this one", second.Interrupt)
			f.step("the other client ends", stopFirst)
			f.step("the context ends", func() { stop() })
		}},
		{"recipes/leader: (*LeaderSelector) Run", "three terms", func(f *fixture) {
			s := selector(f, f.client)
			terms := 0
			f.step("Run", func() {
				ctx, cancel := context.WithCancel(f.Context())
				defer cancel()
				_ = s.Run(ctx, func(context.Context, *locks.Lease) error {
					if terms++; terms == 3 {
						cancel()
					}
					return nil
				})
			})
		}},
	}
}
