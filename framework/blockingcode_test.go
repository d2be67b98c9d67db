package framework_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

// gate stops code of a user's from some moment on, for ever, as far as the client can tell.
type gate struct {
	stops atomic.Bool
	goOn  chan struct{}
}

func newGate(t *testing.T) *gate {
	g := &gate{goOn: make(chan struct{})}
	t.Cleanup(func() { close(g.goOn) })
	return g
}

func (g *gate) pass() {
	if g.stops.Load() {
		<-g.goOn
	}
}

// askedPolicy is an error policy that takes note of what it is asked, and may stop.
type askedPolicy struct {
	*gate
	mu    sync.Mutex
	asked []state.ConnectionState
}

func (p *askedPolicy) IsErrorState(s state.ConnectionState) bool {
	p.pass()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, s)
	return s == state.Lost
}

// stoppingMeters makes instruments and registrations that stop as the code of an SDK may.
type stoppingMeters struct {
	noop.MeterProvider
	*gate
}

func (p stoppingMeters) Meter(string, ...metric.MeterOption) metric.Meter {
	return stoppingMeter{gate: p.gate}
}

type stoppingMeter struct {
	noop.Meter
	*gate
}

func (m stoppingMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return stoppingCounter{gate: m.gate}, nil
}

func (m stoppingMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	return stoppingRegistration{gate: m.gate}, nil
}

type stoppingCounter struct {
	noop.Int64Counter
	*gate
}

func (c stoppingCounter) Add(context.Context, int64, ...metric.AddOption) { c.pass() }
func (c stoppingCounter) Enabled(context.Context) bool                    { c.pass(); return true }

type stoppingRegistration struct {
	noop.Registration
	*gate
}

func (r stoppingRegistration) Unregister() error { r.pass(); return nil }

// The policy is asked once for each state, by NewClient.
func TestErrorPolicyIsAskedOnce(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		policy := &askedPolicy{gate: newGate(t)}
		c, network := b.Client(t, framework.WithErrorPolicy(policy))
		if err := c.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		network.Cut()
		if err := c.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		for s := state.Connected; s <= state.ReadOnly; s++ {
			if got := c.ErrorPolicy().IsErrorState(s); got != (s == state.Lost) {
				t.Errorf("%v is an error state: %t", s, got)
			}
		}
		if c.ErrorPolicy().IsErrorState(0) || c.ErrorPolicy().IsErrorState(-1) || c.ErrorPolicy().IsErrorState(100) {
			t.Error("what is no state is an error state")
		}
		want := []state.ConnectionState{state.Connected, state.Suspended, state.Reconnected, state.Lost, state.ReadOnly}
		if !slices.Equal(policy.asked, want) {
			t.Errorf("the policy was asked for %v, want %v", policy.asked, want)
		}
	})
}

// Code of a user's that stops does not keep the client from telling deadlines in time, and holds up Close no
// longer than WithMaxCloseWait says.
func TestDeadlineWhileUsersCodeStops(t *testing.T) {
	for name, option := range map[string]func(g *gate) framework.Option{
		"error policy": func(g *gate) framework.Option { return framework.WithErrorPolicy(&askedPolicy{gate: g}) },
		"metrics": func(g *gate) framework.Option {
			return framework.WithTracing(tracing.WithMeterProvider(stoppingMeters{gate: g}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				g := newGate(t)
				c, network := b.Client(t, option(g), framework.WithMaxCloseWait(3*time.Second))
				if err := c.BlockUntilConnected(t.Context()); err != nil {
					t.Fatal(err)
				}
				var told atomic.Int64
				start := time.Now()
				defer zkclient.Of(c).OnLoss("", func(l zkclient.Loss) {
					if l.Kind == zkclient.LossDeadline {
						told.CompareAndSwap(0, int64(time.Since(start)))
					}
				})()
				synctest.Wait()
				g.stops.Store(true)
				heal := network.Isolate()
				network.Cut()
				time.Sleep(suite.SessionTimeout)
				synctest.Wait()
				if at := time.Duration(told.Load()); at == 0 || at >= suite.SessionTimeout {
					t.Errorf("the deadline was told after %v, 0 for never, of a session timeout of %v", at, suite.SessionTimeout)
				}
				heal()
				if err := c.BlockUntilConnected(t.Context()); err != nil {
					t.Fatal(err)
				}
				start = time.Now()
				closed := make(chan error, 1)
				go func() { closed <- c.Close(context.WithoutCancel(t.Context())) }()
				select {
				case <-closed:
				case <-time.After(time.Minute):
					t.Fatal("Close does not return")
				}
				if took := time.Since(start); took > 4*time.Second {
					t.Errorf("Close took %v", took)
				}
			})
		})
	}
}
