package locks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// TestNodeData checks what a lock's node says of its owner, byte by byte.
func TestNodeData(t *testing.T) {
	host := suite.Got(os.Hostname()).OK(t)
	owner := func(label string) string {
		return fmt.Sprintf("test\nowner=%s\nhost=%s\npid=%d", label, host, os.Getpid())
	}
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		for _, c := range []struct {
			name  string
			spans tracing.Option
			opts  []framework.Option
			lock  []locks.MutexOption
			want  string
		}{
			{name: "not traced", want: owner(filepath.Base(os.Args[0]))},
			{name: "labelled", opts: []framework.Option{framework.WithOwnerLabel("orders api")}, want: owner("orders api")},
			{name: "no label", opts: []framework.Option{framework.WithOwnerLabel("")}, want: strings.ReplaceAll(owner(""), "owner=\n", "")},
			{name: "traced", opts: []framework.Option{framework.WithOwnerLabel("a")}, want: owner("a") + "\ntraceparent=%s"},
			{name: "no links", spans: tracing.WithoutHolderLinks(), want: "test"},
			{name: "no tracing", opts: []framework.Option{framework.WithoutTracing()}, want: "test"},
			{name: "own data", lock: []locks.MutexOption{locks.WithNodeData([]byte("mine"))}, want: "mine"},
			{name: "no data", lock: []locks.MutexOption{locks.WithNodeData(nil)}, want: ""},
		} {
			spans := suite.NewSpans()
			if c.name != "not traced" && c.name != "labelled" && c.name != "no label" {
				c.opts = append([]framework.Option{framework.WithTracing(spans.Option(), c.spans)}, c.opts...)
			}
			e := newEnv(t, b, c.opts...)
			lease := e.acquire(e.lock(e.client, c.lock...))
			data := suite.Got(e.observer.GetData().ForPath(t.Context(), lease.Path())).OK(t)
			if strings.Contains(c.want, "%s") {
				acquire := spans.Named(tracing.SpanLockAcquire)[0].SpanContext()
				c.want = fmt.Sprintf(c.want, fmt.Sprintf("00-%s-%s-01", acquire.TraceID(), acquire.SpanID()))
			}
			if string(data) != c.want {
				t.Errorf("%s: data %q, want %q", c.name, data, c.want)
			}
			e.release(lease)
		}
	})
}

// TestInspectOwner looks at who holds a lock, for each of those who may.
func TestInspectOwner(t *testing.T) {
	host := suite.Got(os.Hostname()).OK(t)
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		spans := suite.NewSpans()
		e := newEnv(t, b, framework.WithOwnerLabel("orders"), framework.WithTracing(spans.Option()))
		look := func() locks.Contender {
			t.Helper()
			i, err := locks.Inspect(t.Context(), e.observer, e.path)
			if err != nil || len(i.Holders) != 1 {
				t.Fatalf("%+v, %v", i, err)
			}
			return i.Holders[0]
		}
		lease := e.acquire(e.mutex)
		traced := spans.Named(tracing.SpanLockAcquire)[0].SpanContext()
		want := fmt.Sprintf("orders on %s, pid %d", host, os.Getpid())
		if got := look(); got.Owner != want || !strings.Contains(got.TraceParent, traced.TraceID().String()) {
			t.Errorf("owner %q, trace %q; want %q", got.Owner, got.TraceParent, want)
		}
		suite.OK(t, locks.AttemptRevoke(t.Context(), e.observer, lease.Path()))
		if got := look(); got.Owner != "" || got.TraceParent != "" || got.Data != "__REVOKE__" {
			t.Errorf("asked to let go: %+v", got)
		}
		e.release(lease)
		for data, want := range map[string]string{
			"10.1.2.3":                             "10.1.2.3", // Java's
			"10.1.2.3\nowner=\x1b[31mred\npid=1\n": "[31mred, pid 1",
			"10.1.2.3\nhost=h\nnonsense\n=\npid=x": "on h",
			"\xff\xfe":                             "",
			"":                                     "",
		} {
			lease := e.acquire(e.lock(e.client, locks.WithNodeData([]byte(data))))
			if got := look().Owner; got != want {
				t.Errorf("of %q the owner is %q, want %q", data, got, want)
			}
			e.release(lease)
		}
	})
}

// TestLinks has waiters whose predecessors say nothing that can be linked to.
func TestLinks(t *testing.T) {
	for name, holder := range map[string]func(e *tracedEnv) *locks.Lease{
		"Java's data": func(e *tracedEnv) *locks.Lease {
			return e.acquire(e.lock(e.client, locks.WithNodeData([]byte("10.1.2.3"))))
		},
		"revoked": func(e *tracedEnv) *locks.Lease {
			lease := e.acquire(e.mutex)
			suite.OK(e.t, locks.AttemptRevoke(e.t.Context(), e.observer, lease.Path()))
			return lease
		},
		"a traceparent that is none": func(e *tracedEnv) *locks.Lease {
			return e.acquire(e.lock(e.client, locks.WithNodeData([]byte("ip\ntraceparent=00-xyz"))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := &tracedEnv{spans: suite.NewSpans()}
				e.env = newEnv(t, b, framework.WithTracing(e.spans.Option()))
				ctx, span := e.spans.Tracer().Start(t.Context(), "the waiter's own, which is no holder's")
				lease := holder(e)
				waiter := e.start(ctx, e.another())
				e.waiting(1)
				e.release(lease)
				e.release(e.granted(waiter))
				span.End()
				for _, span := range e.spans.Named(tracing.SpanLockAcquire) {
					if links := span.Links(); len(links) != 0 {
						t.Errorf("links %+v", links)
					}
				}
			})
		})
	}
}

// TestBaggage has a propagator that writes more than a trace.
func TestBaggage(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		spans := suite.NewSpans()
		propagator := propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
		e := newEnv(t, b, framework.WithTracing(spans.Option(), tracing.WithPropagator(propagator)))
		member := suite.Got(baggage.NewMember("user", "secret")).OK(t)
		bag := suite.Got(baggage.New(member)).OK(t)
		lease := suite.Got(e.mutex.Acquire(baggage.ContextWithBaggage(t.Context(), bag))).OK(t)
		data, err := e.observer.GetData().ForPath(t.Context(), lease.Path())
		if err != nil || strings.Contains(string(data), "secret") || !strings.Contains(string(data), "traceparent=") {
			t.Errorf("data %q, %v", data, err)
		}
		e.release(lease)
	})
}
