package leader_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// leaderPoints returns the points of the elections' metrics.
func leaderPoints(t *testing.T, metrics *suite.Metrics) string {
	t.Helper()
	return strings.Join(slices.DeleteFunc(metrics.Points(t), func(p string) bool { return !strings.HasPrefix(p, "curator.leader.") }), "\n")
}

func TestLatchMetrics(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e, metrics := newEnv(t, b), suite.NewMetrics()
		m := e.joined("m", framework.WithTracing(metrics.Option()), leader.WithName("orders"))
		want := func(points ...string) {
			t.Helper()
			suite.Eventually(t, strings.Join(points, " "), func() bool { return leaderPoints(t, metrics) == strings.Join(points, "\n") })
		}
		lease := m.leads()
		want("curator.leader.status{curator.leader.name=orders} 1", "curator.leader.transitions{curator.leader.name=orders} 1")
		m.network.Cut()
		lost(t, lease, locks.LossSuspended)
		m.leads()
		want("curator.leader.status{curator.leader.name=orders} 1", "curator.leader.transitions{curator.leader.name=orders} 3")
		m.close()
		want("curator.leader.transitions{curator.leader.name=orders} 4")
	})
}

func TestSelectorMetrics(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e, metrics := newEnv(t, b), suite.NewMetrics()
		r := e.selector("r", framework.WithTracing(metrics.Option())).run() // without a name
		term := r.leads()
		suite.Eventually(t, "the status", func() bool {
			return leaderPoints(t, metrics) == "curator.leader.status{} 1\ncurator.leader.transitions{} 1"
		})
		term.end <- leader.ErrStop
		r.wantEnd()
		suite.Eventually(t, "the end", func() bool { return leaderPoints(t, metrics) == "curator.leader.transitions{} 2" })
	})
}

func TestSpans(t *testing.T) {
	for name, tt := range map[string]struct {
		recipe string
		run    func(e *env, opts ...any) (lease *locks.Lease)
		end    string // how the term ends, with the reason of a loss
	}{
		"latch closed": {tracing.RecipeLatch, func(e *env, opts ...any) *locks.Lease {
			m := e.joined("m", opts...)
			defer m.close()
			return m.leads()
		}, "released"},
		"latch lost": {tracing.RecipeLatch, func(e *env, opts ...any) *locks.Lease {
			m, next := e.joined("m", opts...), e.joined("next")
			lease := m.leads()
			pass(time.Second)
			e.remove(lease.Path())
			<-lease.Context().Done()
			m.close()
			next.close()
			return lease
		}, "lost node_deleted"},
		"selector": {tracing.RecipeSelector, func(e *env, opts ...any) *locks.Lease {
			r := e.selector("r", opts...).run()
			term := r.leads()
			term.end <- leader.ErrStop
			r.wantEnd()
			return term.lease
		}, "released"},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e, spans := newEnv(t, b), suite.NewSpans()
				lease := tt.run(e, framework.WithTracing(spans.Option()), leader.WithName("orders"))
				spans.AwaitCount(t, tracing.SpanLeaderTermEnd, 1)
				elected, end := spans.Named(tracing.SpanLeaderElected)[0], spans.Named(tracing.SpanLeaderTermEnd)[0]
				for _, span := range []sdktrace.ReadOnlySpan{elected, end} {
					got := attributes(span)
					if got[tracing.AttrLeaderRecipe].AsString() != tt.recipe || got[tracing.AttrLeaderName].AsString() != "orders" ||
						got[tracing.AttrLeaderPath].AsString() != e.path || got[tracing.AttrLeaderToken].AsInt64() != lease.Token() {
						t.Errorf("%s has %v", span.Name(), got)
					}
					if d := span.EndTime().Sub(span.StartTime()); d > 100*time.Millisecond {
						t.Errorf("%s lasts for %v", span.Name(), d)
					}
				}
				got := attributes(end)
				how := strings.TrimSpace(got[tracing.AttrLeaderEnd].AsString() + " " + got[tracing.AttrLossReason].AsString())
				if how != tt.end || got[tracing.AttrLeaderTerm].AsFloat64() < 0 {
					t.Errorf("the end is %q with %v, want %q", how, got, tt.end)
				}
				if links := end.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != elected.SpanContext().SpanID() {
					t.Errorf("the links of the end are %v", links)
				}
			})
		})
	}
}

func attributes(span sdktrace.ReadOnlySpan) map[string]attribute.Value {
	all := map[string]attribute.Value{}
	for _, kv := range span.Attributes() {
		all[string(kv.Key)] = kv.Value
	}
	return all
}

// A log handler that blocks holds neither the latch nor Close up.
func TestLatchTelemetryBlocks(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e, release := newEnv(t, b), make(chan struct{})
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(blocking{sdktrace.NewSimpleSpanProcessor(noExporter{}), release}))
		m := e.joined("m", framework.WithTracing(tracing.WithTracerProvider(provider)))
		lease := m.leads()
		m.network.Cut()
		lost(t, lease, locks.LossSuspended)
		m.leads()
		m.close()
		close(release)
	})
}

// blocking is a span processor that blocks at the first election.
type blocking struct {
	sdktrace.SpanProcessor
	release chan struct{}
}

func (p blocking) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	if p.SpanProcessor.OnStart(ctx, s); s.Name() == tracing.SpanLeaderElected {
		<-p.release
	}
}
