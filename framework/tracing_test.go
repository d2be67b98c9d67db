package framework_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

func TestOperationSpans(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		spans := suite.NewSpans()
		client, network := b.Client(t, framework.WithTracing(spans.Option()))
		ctx, span := spans.Tracer().Start(t.Context(), "test")
		dir := b.Path("dir")
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		wants := func(err, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		_, err := client.Create().CreatingParentsIfNeeded().ForPath(ctx, dir)
		do(err)
		_, err = client.Create().ForPath(ctx, dir)
		wants(err, framework.ErrNodeExists)
		_, err = client.GetData().ForPath(ctx, dir+"/none")
		wants(err, framework.ErrNoNode)
		_, err = client.CheckExists().ForPath(ctx, dir+"/none")
		do(err)
		do(client.Delete().Quietly().ForPath(ctx, dir+"/none"))
		_, err = client.SetData().WithVersion(7).ForPath(ctx, dir, nil)
		wants(err, framework.ErrBadVersion)
		_, err = client.GetChildren().ForPath(ctx, dir)
		do(err)
		_, err = client.UsingNamespace("below").CheckExists().ForPath(ctx, "/")
		do(err)
		op := client.TransactionOp()
		_, err = client.Transaction().ForOperations(ctx, op.Check().ForPath(dir), op.SetData().ForPath(dir, nil))
		do(err)
		_, err = client.Transaction().ForOperations(ctx, op.Check().ForPath(dir), op.SetData().ForPath(dir+"/none", nil))
		wants(err, framework.ErrNoNode)
		_, err = client.Batch().ForOperations(ctx, op.Create().ForPath(dir+"/a"), op.Delete().ForPath(dir+"/a"))
		do(err)
		network.On(jute.OpGetData, suite.CutBefore, nil)
		network.On(jute.OpGetData, suite.CutAfter, nil)
		_, err = client.GetData().ForPath(ctx, dir)
		do(err)
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		_, err = client.GetData().ForPath(canceled, dir)
		wants(err, context.Canceled)
		done := make(chan error, 1)
		do(client.Sync().InBackground(ctx, dir, func(_ context.Context, err error) { done <- err }))
		do(<-done)
		span.End()
		spans.WantTree(t, `
			test
				create client path=/dir
				create client path=/dir status_code=-110 type=exists !Error
				getData client path=/dir/none status_code=-101 type=not_found !Error
				exists client path=/dir/none status_code=-101
				delete client path=/dir/none
				setData client path=/dir status_code=-103 type=bad_version !Error
				getChildren2 client path=/dir
				exists client path=/below status_code=-101
				multi client size=2
				multi client size=2 status_code=-101 type=not_found !Error
				batch client size=2
				getData client attempt=3 path=/dir @retry @retry
				getData client path=/dir type=canceled !Error
				sync client path=/dir
			`)
	})
}

// TestOperationAttributes has every attribute that is left out above.
func TestOperationAttributes(t *testing.T) {
	server := curatortest.Start(t)
	host, port, err := net.SplitHostPort(server.ConnectString())
	if err != nil {
		t.Fatal(err)
	}
	root := server.Client(t)
	if _, err := root.Create().ForPath(t.Context(), "/app"); err != nil {
		t.Fatal(err)
	}
	spans, m := suite.NewSpans(), suite.NewMetrics()
	client := curatortest.NewClient(t, server.ConnectString()+"/app", framework.WithNamespace("ns"),
		framework.WithDialer(new(net.Dialer).DialContext), framework.WithTracing(spans.Option(), m.Option()))
	var stat framework.Stat
	if _, err := client.Create().StoringStatIn(&stat).ForPath(t.Context(), "/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.GetData().ForPath(t.Context(), "/b"); !errors.Is(err, framework.ErrNoNode) {
		t.Fatal(err)
	}
	want := map[string]string{
		"db.system.name": "zookeeper", "db.operation.name": "create", "db.namespace": "/app",
		"server.address": host, "server.port": port, "network.peer.address": host, "network.peer.port": port,
		"zookeeper.path": "/ns/a", "zookeeper.session.id": fmt.Sprintf("0x%x", client.SessionID()),
		"zookeeper.zxid": fmt.Sprint(stat.Czxid), "curator.retry.attempt": "1",
	}
	if diff := cmp.Diff(want, attributesOf(spans.Named("create /app")[0])); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	failed := attributesOf(spans.Named("getData /app")[0])
	if failed["db.response.status_code"] != "-101" || failed["error.type"] != "not_found" {
		t.Errorf("of what failed: %v", failed)
	}
	point := "db.client.operation.duration{db.operation.name=getData db.system.name=zookeeper error.type=not_found server.address=" + host + "} 1"
	if points := m.Points(t); !slices.Contains(points, point) {
		t.Errorf("%q, want %s among them", points, point)
	}
}

func attributesOf(span sdktrace.ReadOnlySpan) map[string]string {
	attrs := map[string]string{}
	for _, kv := range span.Attributes() {
		attrs[string(kv.Key)] = kv.Value.String()
	}
	return attrs
}

// TestTracingOptions turns off what can be, and keeps paths out.
func TestTracingOptions(t *testing.T) {
	server := curatortest.Start(t)
	spans := suite.NewSpans()
	read := func(opts ...tracing.Option) {
		t.Helper()
		client := server.Client(t, framework.WithTracing(append(opts, spans.Option())...))
		if _, err := client.GetData().ForPath(t.Context(), "/secret"); !errors.Is(err, framework.ErrNoNode) {
			t.Fatal(err)
		}
	}
	read(tracing.WithoutOperationSpans())
	spans.WantTree(t, "")
	read(tracing.WithPathFormatter(func(path string) string { return strings.ReplaceAll(path, "secret", "*") }))
	read(tracing.WithPathFormatter(func(string) string { return "" }))
	spans.WantTree(t, `
		getData client path=/* status_code=-101 type=not_found !Error
		getData client status_code=-101 type=not_found !Error
		`)
	for _, span := range spans.Named("getData") {
		if text := span.Status().Description; strings.Contains(text, "secret") {
			t.Errorf("the status says %q", text)
		}
	}
	server.Client(t, framework.WithoutTracing())
	for _, label := range []string{"two\nlines", strings.Repeat("x", 129), "\xff"} {
		if _, err := framework.NewClient("a", retry.None(), framework.WithOwnerLabel(label)); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("label %q: %v", label, err)
		}
	}
}

// Below a span that was dropped no operation is one, though a sampler would take it; below
// a remote one it is asked.
func TestOperationsOfDroppedSpans(t *testing.T) {
	sampler := &countingSampler{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler))
	client := curatortest.Start(t).Client(t, framework.WithTracing(tracing.WithTracerProvider(provider)))
	for _, remote := range []bool{false, true} {
		parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, Remote: remote})
		ctx := trace.ContextWithSpanContext(t.Context(), parent)
		if _, err := client.CheckExists().ForPath(ctx, "/"); err != nil {
			t.Fatal(err)
		}
		if n := sampler.asked.Load(); (n > 0) != remote {
			t.Errorf("the sampler was asked %d times, the parent is remote: %v", n, remote)
		}
	}
}

// countingSampler takes everything.
type countingSampler struct{ asked atomic.Int64 }

func (s *countingSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	s.asked.Add(1)
	return sdktrace.AlwaysSample().ShouldSample(p)
}

func (s *countingSampler) Description() string { return "counting" }
