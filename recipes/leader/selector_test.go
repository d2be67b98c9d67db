package leader_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

// What Java's tests pin of LeaderSelector, and where it is tested here:
//
//	LS1   the function runs while the mutex is held          TestSelectorRotates
//	LS2   it returns: the next one leads                     TestSelectorRotates
//	LS3   requeue                                            TestSelectorRotates: Run is the loop
//	LS4   requeue while queued                               TestMisuse, Run twice
//	LS5   interrupt                                          TestSelectorInterrupt
//	LS6   close while leading, waiting, before the start     TestSelectorStops; before the start there is nothing to close
//	LS7   SUSPENDED and LOST by policy                       TestSelectorFaults
//	LS8   a loss between the grant and the function          TestSelectorLostBeforeTheTerm
//	LS9   the function fails or panics                       TestSelectorErrors, TestSelectorPanics
//	LS10  the node goes although ctx has ended, server down  TestSelectorStopsOffline
//	LS11  the leader's session ends                          TestSelectorFaults, session ends
//	LS12  ids                                                TestParticipants
//	LS13  a mutex on the same path                           TestSelectorBesideMutex

func TestSelectorRotates(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		first := e.selector("first").queued(0)
		running := []*runner{first}
		term := first.leads()
		running = append(running, e.selector("second").queued(1))
		running = append(running, e.selector("third").queued(2))
		token := int64(0)
		for i := range 6 {
			r := running[i%3]
			if i > 0 {
				term = r.leads()
			}
			if term.lease.Token() <= token {
				t.Errorf("token %d after %d", term.lease.Token(), token)
			}
			token = term.lease.Token()
			for _, other := range running {
				if other != r && other.Leadership() != nil {
					t.Errorf("%s leads beside %s", other.id, r.id)
				}
			}
			if err := term.lease.Verify(term.ctx); err != nil {
				t.Error(err)
			}
			term.end <- nil
			<-term.lease.Context().Done()
			suite.WantErr(t, term.lease.Err(), locks.ErrReleased)
			e.wantIDs(running[(i+1)%3].id, running[(i+2)%3].id, r.id)
		}
		for _, r := range running {
			r.leads().end <- leader.ErrStop
			r.wantEnd()
		}
		e.untilNodes(0)
	})
}

func TestSelectorInterrupt(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		first, second := e.selector("first").queued(0), e.selector("second")
		term := first.leads()
		second.queued(1)
		second.Interrupt() // does not lead
		first.Interrupt()
		term.wantCause(t, leader.ErrInterrupted)
		if err := term.lease.Err(); err != nil {
			t.Errorf("the lease ends with %v before the function does", err)
		}
		second.wantNoTerm()
		term.end <- errors.New("explained by the interrupt")
		next := second.leads()
		e.wantIDs("second", "first")
		if next.ctx.Err() != nil {
			t.Error("the next term is interrupted, too")
		}
		next.end <- leader.ErrStop
		second.wantEnd()
		term = first.leads()
		term.end <- leader.ErrStop
		first.wantEnd()
		first.Interrupt() // does not run
	})
}

func TestSelectorErrors(t *testing.T) {
	failed := errors.New("failed")
	for name, tt := range map[string]struct {
		before  func(r *runner, t *term) // happens before the function returns
		returns error
		ends    bool // Run
		with    error
	}{
		"nil":                            {nil, nil, false, nil},
		"an error":                       {nil, failed, true, failed},
		"stop":                           {nil, leader.ErrStop, true, nil},
		"wrapped stop":                   {nil, errors.Join(failed, leader.ErrStop), true, nil},
		"an error after the end of ctx":  {func(r *runner, _ *term) { r.stop() }, failed, true, nil},
		"nil after the end of ctx":       {func(r *runner, _ *term) { r.stop() }, nil, true, nil},
		"an error after an interrupt":    {func(r *runner, _ *term) { r.Interrupt() }, failed, false, nil},
		"stop after an interrupt":        {func(r *runner, _ *term) { r.Interrupt() }, leader.ErrStop, true, nil},
		"an error after a loss":          {func(r *runner, t *term) { r.e.remove(t.lease.Path()) }, failed, false, nil},
		"nil after a loss":               {func(r *runner, t *term) { r.e.remove(t.lease.Path()) }, nil, false, nil},
		"stop after a loss":              {func(r *runner, t *term) { r.e.remove(t.lease.Path()) }, leader.ErrStop, true, nil},
		"an error after its own release": {func(_ *runner, t *term) { _ = t.lease.Release(t.ctx) }, failed, true, failed},
		"nil after its own release":      {func(_ *runner, t *term) { _ = t.lease.Release(t.ctx) }, nil, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				r := e.selector("r").run()
				term := r.leads()
				if pass(time.Second); tt.before != nil {
					tt.before(r, term)
					<-term.ctx.Done()
				}
				term.end <- tt.returns
				if !tt.ends {
					r.leads().end <- leader.ErrStop
				}
				if r.wantEnd(tt.with); tt.with == nil {
					e.untilNodes(0)
				}
			})
		})
	}
}

func TestSelectorStops(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		leads, waits := e.selector("leads").queued(0), e.selector("waits")
		term := leads.leads()
		waits.queued(1)
		waits.close()
		e.wantIDs("leads")
		leads.stop()
		term.wantCause(t, context.Canceled)
		if err := term.lease.Err(); err != nil {
			t.Errorf("the lease ends with %v before the function does", err)
		}
		term.end <- term.ctx.Err()
		leads.wantEnd()
		if left := e.nodes(); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := leads.Run(ended, func(context.Context, *locks.Lease) error { t.Error("called"); return nil }); err != nil {
			t.Error(err)
		}
	})
}

// The node is removed although ctx has ended and the server cannot be reached.
func TestSelectorStopsOffline(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		r := e.selector("r", framework.WithSessionTimeout(20*time.Second), sessionPolicy).run()
		term := r.leads()
		heal := r.network.Isolate()
		r.stop()
		term.wantCause(t, context.Canceled)
		start := time.Now()
		term.end <- nil
		r.wantEnd()
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("Run returned after %v", took)
		}
		e.wantIDs("r")
		heal()
		e.untilNodes(0)
	})
}

// A panic steps down and goes on.
func TestSelectorPanics(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		r := e.selector("r")
		func() {
			defer func() {
				if got := recover(); got != "panic of the user" {
					t.Errorf("recovered %v", got)
				}
			}()
			_ = r.Run(t.Context(), func(context.Context, *locks.Lease) error { panic("panic of the user") })
		}()
		if left := e.nodes(); len(left) > 0 || r.Leadership() != nil {
			t.Errorf("left: %q", left)
		}
		r.run().leads().end <- leader.ErrStop // it can run again
		r.wantEnd()
	})
}

// A mutex shares the election of a selector, and code below the leader re-enters it.
func TestSelectorBesideMutex(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		r := e.selector("r").queued(0)
		term := r.leads()
		own := suite.Got(locks.NewInterProcessMutex(r.client, e.path)).OK(t)
		nested := suite.Got(own.TryAcquire(term.ctx)).OK(t)
		if err := nested.Release(t.Context()); err != nil {
			t.Error(err)
		}
		other := suite.Got(locks.NewInterProcessMutex(e.observer, e.path)).OK(t)
		if _, err := other.TryAcquire(t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("%v, want ErrNotAcquired", err)
		}
		acquired := make(chan *locks.Lease)
		go func() {
			lease, err := other.Acquire(t.Context())
			if err != nil {
				t.Error(err)
			}
			acquired <- lease
		}()
		e.untilNodes(2)
		term.end <- nil
		lease := <-acquired
		r.wantNoTerm()
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		r.leads().end <- leader.ErrStop
		r.wantEnd()
	})
}

// The function's loops of its own: Run stands again for as long as the function returns nil.
func TestSelectorManyTerms(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		r := e.selector("r")
		terms, token := 0, int64(0)
		err := r.Run(t.Context(), func(_ context.Context, lease *locks.Lease) error {
			if terms++; lease.Token() <= token || lease.Err() != nil {
				t.Errorf("token %d after %d, %v", lease.Token(), token, lease.Err())
			}
			if token = lease.Token(); terms == 100 {
				return leader.ErrStop
			}
			return nil
		})
		if err != nil || terms != 100 {
			t.Errorf("%d terms, %v", terms, err)
		}
	})
}

// A function that always returns at once is slowed down, and the log says so once.
func TestSelectorHurries(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		var log suite.Log
		client, _ := b.Client(t, framework.WithLogger(log.Warnings()))
		selector := suite.Got(leader.NewLeaderSelector(client, b.Path("leader"))).OK(t)
		terms := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := selector.Run(ctx, func(context.Context, *locks.Lease) error { terms++; return nil }); err != nil {
			t.Error(err)
		}
		if terms < 200 || terms > 1000 {
			t.Errorf("%d terms in a minute", terms)
		}
		if n := strings.Count(log.String(), "returns at once"); n != 1 {
			t.Errorf("it was logged %d times:\n%s", n, log.String())
		}
	})
}
