package leader_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tracing"
)

func TestOptions(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		for name, tt := range map[string]struct {
			client *framework.Client
			path   string
			opts   []leader.Option
			want   error
			says   string
		}{
			"nil client":        {nil, "/leader", nil, framework.ErrNotStarted, ""},
			"no path":           {client, "", nil, framework.ErrInvalidPath, ""},
			"relative path":     {client, "leader", nil, framework.ErrInvalidPath, "leader"},
			"the root":          {client, "/", nil, framework.ErrInvalidPath, "path of its own"},
			"nil option":        {client, "/leader", []leader.Option{leader.WithID("a"), nil}, framework.ErrInvalidOption, "option 2 of 2"},
			"id not UTF-8":      {client, "/leader", []leader.Option{leader.WithID("\xff")}, framework.ErrInvalidOption, "WithID"},
			"no name":           {client, "/leader", []leader.Option{leader.WithName("")}, framework.ErrInvalidOption, "WithName"},
			"name of two lines": {client, "/leader", []leader.Option{leader.WithName("a\nb")}, framework.ErrInvalidOption, "WithName"},
			"long name":         {client, "/leader", []leader.Option{leader.WithName(strings.Repeat("a", 129))}, framework.ErrInvalidOption, "WithName"},
			"fine":              {client, "/leader", []leader.Option{leader.WithID(""), leader.WithName("orders")}, nil, ""},
		} {
			var latchOpts []leader.LatchOption
			var selectorOpts []leader.SelectorOption
			for _, o := range tt.opts {
				latchOpts, selectorOpts = append(latchOpts, o), append(selectorOpts, o)
			}
			_, latchErr := leader.NewLeaderLatch(tt.client, tt.path, latchOpts...)
			_, selectorErr := leader.NewLeaderSelector(tt.client, tt.path, selectorOpts...)
			for _, err := range []error{latchErr, selectorErr} {
				if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%s: %v, want %v that says %q", name, err, tt.want, tt.says)
				}
			}
		}
		suite.Got(leader.NewLeaderLatch(client, "/leader", leader.WithCloseMode(7))).Fails(t, framework.ErrInvalidOption)
	})
}

func never(context.Context, *locks.Lease) error { panic("called") }

func TestMisuse(t *testing.T) {
	var noCtx context.Context
	for name, test := range map[string]func(t *testing.T, e *env){
		"nil and zero": func(t *testing.T, e *env) {
			for _, l := range []*leader.LeaderLatch{nil, {}} {
				suite.WantErr(t, l.Start(t.Context()), framework.ErrNotStarted)
				suite.Got(l.Await(t.Context())).Fails(t, framework.ErrNotStarted)
				suite.Got(l.Participants(t.Context())).Fails(t, framework.ErrNotStarted)
				suite.Got(l.Leader(t.Context())).Fails(t, framework.ErrNotStarted)
				l.LeadershipListenable().Add(func(context.Context, leader.Change) {})
				suite.WantErr(t, l.Leadership().Err(), locks.ErrNotHeld)
				suite.WantErr(t, l.Close(t.Context()), nil)
			}
			for _, s := range []*leader.LeaderSelector{nil, {}} {
				suite.WantErr(t, s.Run(t.Context(), never), framework.ErrNotStarted)
				suite.Got(s.Participants(t.Context())).Fails(t, framework.ErrNotStarted)
				suite.Got(s.Leader(t.Context())).Fails(t, framework.ErrNotStarted)
				s.Interrupt()
				suite.WantErr(t, s.Leadership().Err(), locks.ErrNotHeld)
			}
		},
		"nil arguments": func(t *testing.T, e *env) {
			m, r := e.member("m"), e.selector("r")
			e.selects = false
			suite.WantErr(t, m.Start(noCtx), framework.ErrInvalidOption)
			suite.Got(m.Await(noCtx)).Fails(t, framework.ErrInvalidOption)
			suite.Got(m.Participants(noCtx)).Fails(t, framework.ErrInvalidOption)
			suite.Got(m.Leader(noCtx)).Fails(t, framework.ErrInvalidOption)
			suite.WantErr(t, r.Run(noCtx, never), framework.ErrInvalidOption)
			suite.WantErr(t, r.Run(t.Context(), nil), framework.ErrInvalidOption)
		},
		"lives": func(t *testing.T, e *env) {
			m := e.joined("m")
			suite.WantErr(t, m.Start(t.Context()), framework.ErrAlreadyStarted)
			m.close()
			m.close()
			suite.WantErr(t, m.Start(t.Context()), framework.ErrClosed)
			closed := e.member("closed")
			closed.close()
			suite.WantErr(t, closed.Start(t.Context()), framework.ErrClosed)
			suite.WantErr(t, closed.Leadership().Release(t.Context()), nil)
		},
		"client not started": func(t *testing.T, e *env) {
			client := suite.Got(framework.NewClient(e.b.ConnectString(), retry.OneTime(time.Second))).OK(t)
			latch := suite.Got(leader.NewLeaderLatch(client, "/leader")).OK(t)
			suite.WantErr(t, latch.Start(t.Context()), framework.ErrNotStarted)
			selector := suite.Got(leader.NewLeaderSelector(client, "/leader")).OK(t)
			suite.WantErr(t, selector.Run(t.Context(), never), framework.ErrNotStarted)
		},
		"Run twice": func(t *testing.T, e *env) {
			r := e.selector("r").run()
			term := r.leads()
			suite.WantErr(t, r.Run(t.Context(), never), framework.ErrAlreadyStarted)
			term.end <- leader.ErrStop
			r.wantEnd()
			e.selects = false
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) { test(t, newEnv(t, b)) })
		})
	}
}

// A latch and a lock refuse each other's path, in either order.
func TestKindMismatch(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		m := e.joined("m")
		m.leads()
		client, _ := b.Client(t)
		mutex := suite.Got(locks.NewInterProcessMutex(client, e.path)).OK(t)
		rw := suite.Got(locks.NewInterProcessReadWriteLock(client, e.path)).OK(t)
		for _, lock := range []locks.InterProcessLock{mutex, rw.ReadLock(), rw.WriteLock()} {
			suite.Got(lock.Acquire(t.Context())).Fails(t, locks.ErrKindMismatch)
		}
		r := e.selector("r")
		suite.WantErr(t, r.Run(t.Context(), never), locks.ErrKindMismatch)
		suite.Got(r.Participants(t.Context())).Fails(t, locks.ErrKindMismatch)
		suite.Got(r.Leader(t.Context())).Fails(t, locks.ErrKindMismatch)
		e.selects = false
		e.wantIDs("m")
		if i, err := locks.Inspect(t.Context(), client, e.path); err != nil || i.Kind != "latch" || len(i.Holders) != 1 || len(i.Waiters) != 0 {
			t.Errorf("%+v, %v", i, err)
		}
		m.close()

		for _, lock := range []locks.InterProcessLock{mutex, rw.ReadLock(), rw.WriteLock()} {
			lease := suite.Got(lock.Acquire(t.Context())).OK(t)
			m := e.member("m")
			suite.WantErr(t, m.Start(t.Context()), locks.ErrKindMismatch)
			suite.Got(m.Participants(t.Context())).Fails(t, locks.ErrKindMismatch)
			e.untilNodes(1)
			suite.OK(t, lease.Release(t.Context()))
			m.start() // another try
			m.leads()
			m.close()
		}
	})
}

// A lock that comes to a latch's path later, past the check, does not stop the leader. The latch
// that waits leaves the line, says so once in the log, and comes back when the lock is gone.
func TestKindMismatchLater(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		var log suite.Log
		m, other := e.joined("m"), e.member("other", framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		lease := m.leads()
		other.start()
		foreign := suite.Got(e.observer.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), e.path+"/lock-0000000000")).OK(t)
		m.close()
		pass(10 * time.Minute)
		suite.WantErr(t, lease.Err(), locks.ErrReleased)
		other.wantNoLead()
		if n := strings.Count(log.String(), "cannot stand for election"); n != 1 {
			t.Errorf("logged %d times: %s", n, log.String())
		}
		e.remove(foreign)
		pass(time.Minute)
		other.leads()
		suite.Eventually(t, "the log", func() bool { return strings.Contains(log.String(), "stands for election again") })
		other.close()
	})
}

// Two latches of one client with one id are two participants. It is logged, once.
func TestLatchTwins(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		var log suite.Log
		client, _ := b.Client(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		var latches []*leader.LeaderLatch
		for i, id := range []string{"a", "b", "a", "a"} {
			latch, err := leader.NewLeaderLatch(client, e.path, leader.WithID(id))
			if err == nil {
				err = latch.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			latches = append(latches, latch)
			pass(time.Second)
			if n, want := strings.Count(log.String(), "with the same id"), min(1, i/2); n != want {
				t.Errorf("latch %d: logged %d times, want %d", i, n, want)
			}
		}
		e.wantIDs("a", "b", "a", "a")
		for _, latch := range latches {
			if err := latch.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// What the server refuses for good is returned by Start and by Run. Later the latch logs it, and
// tries again after pauses.
func TestNoAuth(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		suite.Got(e.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), e.path)).OK(t)
		allow := func(perms framework.Perm) {
			t.Helper()
			suite.Got(e.observer.SetACL().ForPath(t.Context(), e.path, []framework.ACL{{Perms: perms, Scheme: "world", ID: "anyone"}})).OK(t)
		}
		allow(framework.PermRead | framework.PermAdmin | framework.PermDelete)
		m, r := e.member("m"), e.selector("r")
		e.selects = false
		suite.WantErr(t, m.Start(t.Context()), framework.ErrNoAuth)
		suite.WantErr(t, r.Run(t.Context(), never), framework.ErrNoAuth)
		allow(framework.PermAll)
		m.start()
		lease := m.leads()
		if !b.Virtual {
			m.close()
			return
		}
		allow(framework.PermRead | framework.PermAdmin | framework.PermDelete)
		e.remove(lease.Path())
		pass(10 * time.Minute)
		m.wantNoLead()
		if n := m.network.Requests(jute.OpCreate2); n > 100 {
			t.Errorf("%d creates in ten minutes", n)
		}
		allow(framework.PermAll)
		pass(time.Minute)
		lease = m.leads()

		allow(framework.PermRead | framework.PermAdmin | framework.PermDelete)
		e.remove(lease.Path())
		pass(10 * time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.client.Close(ctx); err != nil {
			t.Error(err)
		}
		_, err := m.Await(ctx) // the pause is over
		suite.WantErr(t, err, framework.ErrClosed)
		m.close()
	})
}

// onEnd is a span processor that calls a function at the end of an acquire.
type onEnd struct {
	trace.SpanProcessor
	fn func()
}

func (p onEnd) OnEnd(s trace.ReadOnlySpan) {
	if p.SpanProcessor.OnEnd(s); s.Name() == tracing.SpanLockAcquire {
		p.fn()
	}
}

// The term is lost, or ctx ends, between the grant and the function: the function is not called.
func TestSelectorLostBeforeTheTerm(t *testing.T) {
	for name, lose := range map[string]func(r *runner, e *env){
		"lost":     func(_ *runner, e *env) { e.remove(e.path + "/" + e.nodes()[0]) },
		"ctx ends": func(r *runner, _ *env) { r.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				var r *runner
				var once sync.Once
				between := make(chan struct{})
				provider := trace.NewTracerProvider(trace.WithSpanProcessor(onEnd{
					trace.NewSimpleSpanProcessor(noExporter{}), func() {
						once.Do(func() {
							close(between)
							pass(time.Second) // the node is watched
							lose(r, e)
							pass(time.Second)
						})
					},
				}))
				r = e.selector("r", framework.WithTracing(tracing.WithTracerProvider(provider)))
				called := make(chan *locks.Lease, 2)
				r.runWith(func(_ context.Context, lease *locks.Lease) error {
					called <- lease
					return leader.ErrStop
				})
				<-between
				if name == "ctx ends" {
					r.wantEnd()
					if len(called) > 0 {
						t.Error("the function was called after the end of ctx")
					}
				} else {
					r.wantEnd() // by the second term
					if lease := <-called; len(called) > 0 || number(lease.Path()) == "0000000000" {
						t.Errorf("the function was called with %s", lease.Path())
					}
				}
				e.untilNodes(0)
			})
		})
	}
}

type noExporter struct{}

func (noExporter) ExportSpans(context.Context, []trace.ReadOnlySpan) error { return nil }
func (noExporter) Shutdown(context.Context) error                          { return nil }
