package suite

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/tracing"
)

// Spans records the spans of clients.
type Spans struct {
	recorder *tracetest.SpanRecorder
	provider *sdktrace.TracerProvider
}

// NewSpans returns a recorder of everything.
func NewSpans() *Spans {
	s := &Spans{recorder: tracetest.NewSpanRecorder()}
	s.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s.recorder))
	return s
}

// Option has a client's spans recorded.
func (s *Spans) Option() tracing.Option { return tracing.WithTracerProvider(s.provider) }

// Tracer is for spans of the test's own.
func (s *Spans) Tracer() trace.Tracer { return s.provider.Tracer("test") }

// Named returns the spans of a name that have ended.
func (s *Spans) Named(name string) []sdktrace.ReadOnlySpan {
	return slices.DeleteFunc(s.recorder.Ended(), func(span sdktrace.ReadOnlySpan) bool { return span.Name() != name })
}

// Count returns how many spans of a name have ended.
func (s *Spans) Count(name string) int { return len(s.Named(name)) }

// AwaitCount waits until n spans of a name have ended.
func (s *Spans) AwaitCount(t *testing.T, name string, n int) {
	t.Helper()
	Eventually(t, fmt.Sprintf("%d spans %s", n, name), func() bool { return s.Count(name) >= n })
}

// Events returns how many events of a name the spans have.
func (s *Spans) Events(name string) (n int) {
	for _, span := range s.recorder.Started() {
		for _, event := range span.Events() {
			if event.Name == name {
				n++
			}
		}
	}
	return n
}

// Await waits until all spans have ended, at least n, and returns them as they began.
func (s *Spans) Await(t *testing.T, n int) []sdktrace.ReadOnlySpan {
	t.Helper()
	Eventually(t, fmt.Sprintf("the end of %d spans or more", n), func() bool {
		ended := len(s.recorder.Ended())
		return ended >= n && ended == len(s.recorder.Started())
	})
	var spans []sdktrace.ReadOnlySpan
	for _, span := range s.recorder.Started() {
		spans = append(spans, span)
	}
	return spans
}

// WantTree compares the spans, which end without anybody doing more, with their tree: a
// line for each, below the one that it is a child of, as Tree has it. Tests that begin
// with a line break and are indented read well. Lines with a text of those to ignore, which
// may be there or not, are left out.
func (s *Spans) WantTree(t *testing.T, want string, ignore ...string) {
	t.Helper()
	want = unindented(want)
	got := Tree(s.Await(t, strings.Count(want, "\n")))
	lines := slices.DeleteFunc(strings.Split(got, "\n"), func(line string) bool {
		return slices.ContainsFunc(ignore, func(text string) bool { return strings.Contains(line, text) })
	})
	if diff := cmp.Diff(strings.Split(want, "\n"), lines); diff != "" {
		t.Errorf("spans (-want +got):\n%s\nall of them:\n%s", diff, got)
	}
}

func unindented(text string) string {
	text = strings.TrimPrefix(text, "\n")
	margin := text[:len(text)-len(strings.TrimLeft(text, "\t"))]
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimPrefix(line, margin); strings.TrimSpace(line) != "" {
			b.WriteString(strings.ReplaceAll(line, "\t", "  "))
		}
	}
	return b.String()
}

// Tree renders spans, in the order of their beginning. What differs from run to run, such as
// ids and times, is shown as "*"; numbered lock spans are what links point to.
func Tree(spans []sdktrace.ReadOnlySpan) string {
	tree := spanTree{numbers: map[trace.SpanID]int{}, children: map[trace.SpanID][]sdktrace.ReadOnlySpan{}}
	known := map[trace.SpanID]bool{}
	for _, span := range spans {
		known[span.SpanContext().SpanID()] = true
		if span.Name() == tracing.SpanLockAcquire {
			tree.numbers[span.SpanContext().SpanID()] = len(tree.numbers) + 1
		}
	}
	for _, span := range spans {
		parent := span.Parent().SpanID()
		if !known[parent] {
			parent = trace.SpanID{}
		}
		tree.children[parent] = append(tree.children[parent], span)
	}
	tree.render(trace.SpanID{}, "")
	return tree.String()
}

type spanTree struct {
	strings.Builder
	numbers  map[trace.SpanID]int
	children map[trace.SpanID][]sdktrace.ReadOnlySpan
}

func (t *spanTree) render(parent trace.SpanID, margin string) {
	for _, span := range t.children[parent] {
		id := span.SpanContext().SpanID()
		fmt.Fprintf(&t.Builder, "%s%s", margin, span.Name())
		if n := t.numbers[id]; n > 0 {
			fmt.Fprintf(&t.Builder, "#%d", n)
		}
		if span.SpanKind() != trace.SpanKindInternal {
			fmt.Fprintf(&t.Builder, " %s", span.SpanKind())
		}
		for _, text := range t.attributes(span) {
			fmt.Fprintf(&t.Builder, " %s", text)
		}
		for _, link := range span.Links() {
			kind := "link"
			for _, kv := range link.Attributes {
				kind = kv.Value.String()
			}
			fmt.Fprintf(&t.Builder, " %s->#%d", kind, t.numbers[link.SpanContext.SpanID()])
		}
		for _, event := range inOrder(span.Events()) {
			fmt.Fprintf(&t.Builder, " @%s", event.Name)
		}
		if span.Status().Code.String() != "Unset" {
			fmt.Fprintf(&t.Builder, " !%s", span.Status().Code)
		}
		t.WriteByte('\n')
		t.render(id, margin+"  ")
	}
}

// inOrder returns events with those of the connection last: they have another source, and no
// order towards the rest.
func inOrder(events []sdktrace.Event) []sdktrace.Event {
	ofConnection := func(e sdktrace.Event) int {
		if e.Name == tracing.EventSuspended || e.Name == tracing.EventReconnected {
			return 1
		}
		return 0
	}
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b sdktrace.Event) int { return ofConnection(a) - ofConnection(b) })
	return events
}

// leftOut are in every span of their kind, changing the attributes is for other tests.
var leftOut = regexp.MustCompile(`^(db\.system\.name|db\.operation\.name|server\..*|network\..*|zookeeper\.zxid|zookeeper\.session\.id)$`)

var unique = regexp.MustCompile(`_c_[0-9a-f-]{36}-|^/test-\d+-\d+|-?\d{10}$`)

func (t *spanTree) attributes(span sdktrace.ReadOnlySpan) []string {
	var texts []string
	for _, kv := range span.Attributes() {
		key, value := string(kv.Key), kv.Value.String()
		if leftOut.MatchString(key) {
			continue
		}
		switch key {
		case tracing.AttrLockToken, tracing.AttrLockHeldTime:
			value = "*"
		case tracing.AttrRetryAttempt:
			if value == "1" {
				continue
			}
		}
		value = unique.ReplaceAllString(value, "")
		key = key[strings.LastIndexByte(key, '.')+1:]
		texts = append(texts, key+"="+value)
	}
	slices.Sort(texts)
	return texts
}

// Metrics collects the metrics of clients.
type Metrics struct {
	reader   *metric.ManualReader
	provider *metric.MeterProvider
}

// NewMetrics returns a collector of everything.
func NewMetrics() *Metrics {
	m := &Metrics{reader: metric.NewManualReader()}
	m.provider = metric.NewMeterProvider(metric.WithReader(m.reader))
	return m
}

// Option has a client's metrics collected.
func (m *Metrics) Option() tracing.Option { return tracing.WithMeterProvider(m.provider) }

// Collect returns what there is.
func (m *Metrics) Collect(t testing.TB) []metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := m.reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	var metrics []metricdata.Metrics
	for _, scope := range all.ScopeMetrics {
		metrics = append(metrics, scope.Metrics...)
	}
	return metrics
}

// Points returns the metrics' points as text, "name{key=value ...} 3": the sum, the last
// value or, for a histogram, the number of its values. Points of 0 are left out.
func (m *Metrics) Points(t testing.TB) []string {
	t.Helper()
	var points []string
	add := func(name string, attrs attribute.Set, value float64) {
		var texts []string
		for _, kv := range attrs.ToSlice() {
			texts = append(texts, string(kv.Key)+"="+kv.Value.String())
		}
		if value != 0 {
			points = append(points, fmt.Sprintf("%s{%s} %v", name, strings.Join(texts, " "), value))
		}
	}
	for _, m := range m.Collect(t) {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				add(m.Name, p.Attributes, float64(p.Value))
			}
		case metricdata.Gauge[int64]:
			for _, p := range data.DataPoints {
				add(m.Name, p.Attributes, float64(p.Value))
			}
		case metricdata.Gauge[float64]:
			for _, p := range data.DataPoints {
				add(m.Name, p.Attributes, p.Value)
			}
		case metricdata.Histogram[int64]:
			for _, p := range data.DataPoints {
				add(m.Name, p.Attributes, float64(p.Count))
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				add(m.Name, p.Attributes, float64(p.Count))
			}
		default:
			t.Fatalf("%s: %T", m.Name, data)
		}
	}
	slices.Sort(points)
	return points
}

// Log keeps what is written to it, by the handler of a logger or by a process. It is safe for concurrent
// use.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write keeps p.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns what was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Warnings returns a logger that writes warnings and errors, as text.
func (l *Log) Warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
