package telemetry

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

// names are the attributes of spans and metrics, and the events of spans, by the name of what has them. The name of
// a metric has its type and unit after it, and that of any ZooKeeper operation is operation.
type names struct{ spans, events, metrics map[string][]string }

// operationSpan is the span of any operation.
const operationSpan = "operation"

// The tables of docs/observability.md have the spans, events, metrics and attributes that telemetry makes, and no
// others, and these are the constants of package tracing.
func TestPage(t *testing.T) {
	page, made := onPage(t), everything(t)
	same(t, "the page", page.spans, "telemetry", made.spans)
	same(t, "the page", page.events, "telemetry", made.events)
	same(t, "the page", page.metrics, "telemetry", made.metrics)

	has := map[string][]string{} // by the prefix of the constants
	for span, keys := range made.spans {
		has["Span"], has["Attr"] = append(has["Span"], span), append(has["Attr"], keys...)
	}
	for metric, keys := range made.metrics {
		name, _, _ := strings.Cut(metric, " ")
		has["Metric"], has["Attr"] = append(has["Metric"], name), append(has["Attr"], keys...)
	}
	for _, events := range made.events {
		has["Event"] = append(has["Event"], events...)
	}
	constants := map[string][]string{}
	for name, value := range constantsOf(t, "../../tracing") {
		for prefix := range has {
			if strings.HasPrefix(name, prefix) {
				constants[prefix] = append(constants[prefix], value)
			}
		}
	}
	conventions := regexp.MustCompile(`^(db|error|network|server)\.|^operation$`) // are OpenTelemetry's, but one
	for prefix, all := range has {
		all = slices.DeleteFunc(all, func(name string) bool {
			return name != tracing.MetricOperationDuration && conventions.MatchString(name)
		})
		same(t, "package tracing", map[string][]string{prefix: set(constants[prefix])}, "telemetry", map[string][]string{prefix: set(all)})
	}
}

// The page has all types of errors.
func TestPageHasErrorTypes(t *testing.T) {
	sentence := regexp.MustCompile("(?s)`error.type` is one of (.*?)\\.").FindStringSubmatch(readPage(t))
	if sentence == nil {
		t.Fatal("the page has no types of errors")
	}
	want := []string{typeLost, typeOther}
	for _, e := range errorTypes {
		want = append(want, e.name)
	}
	got := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(sentence[1], ",", " "), " and ", " "))
	same(t, "the page", map[string][]string{"error.type": set(got)}, "telemetry", map[string][]string{"error.type": set(want)})
}

// same fails for each name, and for each value of a name, that only one of two has.
func same(t *testing.T, this string, these map[string][]string, that string, those map[string][]string) {
	t.Helper()
	missing := func(who string, from, in map[string][]string) {
		t.Helper()
		for _, name := range slices.Sorted(maps.Keys(from)) {
			values, ok := in[name]
			if !ok {
				t.Errorf("%s does not have %s", who, name)
				continue
			}
			for _, value := range from[name] {
				if !slices.Contains(values, value) {
					t.Errorf("%s does not have %s of %s", who, value, name)
				}
			}
		}
	}
	missing(that, these, those)
	missing(this, those, these)
}

// set returns values without repetitions.
func set(values []string) []string { return slices.Compact(slices.Sorted(slices.Values(values))) }

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	quoted = regexp.MustCompile("`([^`]*)`")
	events = regexp.MustCompile(`events ([^;]*)`)
	values = regexp.MustCompile(`:[^;|]*`) // of an attribute
	full   = regexp.MustCompile(`^(curator|zookeeper|db|error|network|server)\.`)
)

// onPage returns what the page has: rows of tables, and the paragraph about operations.
func onPage(t *testing.T) names {
	t.Helper()
	page := names{map[string][]string{}, map[string][]string{}, map[string][]string{}}
	text := readPage(t)
	var header, last []string
	for line := range strings.Lines(text) {
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			header = nil
		case header == nil:
			header = row
		case strings.HasPrefix(row[0], "---") || len(row) != 3 || row[2] == "see below":
		case header[0] == "metric":
			page.metrics[strings.Trim(row[0], "`")+" "+row[1]] = metricAttributes(row[2])
		case header[0] == "span":
			name := strings.Trim(row[0], "`")
			if found := events.FindStringSubmatch(row[2]); found != nil {
				page.events[name] = slices.DeleteFunc(inQuotes(found[1]), isDotted)
			}
			keys := spanAttributesOf(row[2], page.events[name])
			if strings.HasSuffix(header[2], "in addition to kind, name and path of the lock") {
				keys = append(keys, tracing.AttrLockKind, tracing.AttrLockName, tracing.AttrLockPath)
			}
			if strings.HasPrefix(row[2], "the same; ") {
				keys = append(keys, last...)
			}
			page.spans[name], last = set(keys), keys
		}
	}
	_, about, _ := strings.Cut(text, "\n**Operations** ")
	about, _, _ = strings.Cut(about, "\n\n")
	page.spans[operationSpan] = set(slices.DeleteFunc(inQuotes(about), func(name string) bool { return !isDotted(name) }))
	page.events[operationSpan] = []string{regexp.MustCompile("event `([a-z]*)`").FindStringSubmatch(about)[1]}
	return page
}

func isDotted(name string) bool { return strings.Contains(name, ".") }

// inQuotes returns what a text has between backquotes.
func inQuotes(text string) (found []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// metricAttributes returns the attributes in a cell of a table of metrics: a lock's kind and name are bare words.
func metricAttributes(cell string) []string {
	cell = values.ReplaceAllString(cell, "")
	keys := inQuotes(cell)
	bare := strings.FieldsFunc(quoted.ReplaceAllString(cell, ""), func(r rune) bool { return r == ',' || r == ' ' })
	for _, word := range bare {
		keys = append(keys, "curator.lock."+word)
	}
	return set(keys)
}

// spanAttributesOf returns the attributes in a cell of a table of spans. One that begins with a dot continues the one
// before, and the other short ones are of locks.
func spanAttributesOf(cell string, events []string) (keys []string) {
	parent := "curator.lock"
	for _, name := range inQuotes(values.ReplaceAllString(cell, "")) {
		switch {
		case slices.Contains(events, name):
			continue
		case full.MatchString(name):
			parent = name[:strings.LastIndex(name, ".")]
		case strings.HasPrefix(name, "."):
			name = parent + name
		default:
			name = "curator.lock." + name
		}
		keys = append(keys, name)
	}
	return keys
}

// everything returns what telemetry makes when each hook is called, with success and with failure.
func everything(t *testing.T) names {
	t.Helper()
	recorder, reader := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	tel := New(Config{
		Settings: tracing.NewSettings(
			tracing.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))),
			tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))),
		Label: "label", Chroot: "/root",
	})
	stop := []func(){tel.Follow(connection{})}
	for _, err := range []error{nil, zkconn.ErrNoNode, &zkconn.TransportError{Err: zkconn.ErrConnectionLoss, Detail: errors.New("EOF")}} {
		lockHooks(t, tel, err)
		stop = append(stop, otherHooks(t, tel, err))
	}
	made := names{map[string][]string{}, map[string][]string{}, map[string][]string{}}
	for _, span := range recorder.Ended() {
		name := span.Name()
		if !strings.HasPrefix(name, "curator.") {
			name = operationSpan
		}
		keys := made.spans[name]
		keys = append(keys, keysOf(span.Attributes())...)
		for _, event := range span.Events() {
			made.events[name] = set(append(made.events[name], event.Name))
			keys = append(keys, keysOf(event.Attributes)...)
		}
		for _, link := range span.Links() {
			keys = append(keys, keysOf(link.Attributes)...)
		}
		// The page says of all spans together that an error has a type.
		made.spans[name] = slices.DeleteFunc(set(keys), func(key string) bool { return key == string(semconv.ErrorTypeKey) })
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		kind, keys := shapeOf(m.Data)
		made.metrics[fmt.Sprintf("%s %s, %s", m.Name, kind, m.Unit)] = set(keys)
	}
	for _, stop := range stop {
		stop()
	}
	return made
}

// lockHooks calls the hooks of a lock and its operations.
func lockHooks(t *testing.T, tel *Telemetry, err error) {
	t.Helper()
	ctx, conn, lock := t.Context(), new(zkconn.Conn), tel.Lock(tracing.KindMutex, "orders", "/a")
	ctx, end := tel.Do(ctx, lock)
	acquiring, a := tel.Acquire(ctx, lock, false)
	a.Enqueued(1, 2, 3)
	tel.StateChanged(state.Suspended)
	tel.StateChanged(state.Reconnected)
	a.Waiting(true, []byte("10.1.2.3\nowner=a\ntraceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
	trying, op := tel.Operation(acquiring, conn, Op{Name: "multi", Path: "/a", Batch: 2})
	tel.Retry(trying, "multi", 2, zkconn.ErrConnectionLoss)
	*op.seen.answers = zkconn.ExchangeInfo{Server: "host:1", Peer: "10.1.2.3:1", Session: 1, Zxid: 1}
	op.End(2, err)
	held := tel.Opened(ctx, lock)
	if err == nil {
		a.Granted(1, false)
	} else {
		a.Failed(Failure{Err: err})
	}
	a.Lost(ctx, 1, time.Second, "revoked")
	_, release := a.Release(ctx, 1)
	release.End(tracing.OutcomeReleased, time.Second)
	tel.Closed(ctx, lock, held, time.Second, "revoked")
	tel.Dropped(lock)
	end(err, false)
}

// otherHooks calls the hooks of the other recipes and of the connection.
func otherHooks(t *testing.T, tel *Telemetry, err error) (stop func()) {
	t.Helper()
	ctx := t.Context()
	queue, cache := tel.Queue("queue", "mail", "/b"), tel.Cache("config", "/c", noCache{})
	_, put := tel.Put(ctx, queue, 1)
	put.End(err)
	_, processing := tel.Process(ctx, queue)
	processing.End(tracing.OutcomePutBack, err)
	candidate := tel.Candidate(tracing.RecipeLatch, "jobs", "/d")
	candidate.Standing(ctx)
	candidate.Elected(ctx, 1, time.Now()).End(ctx, time.Now(), "revoked")
	_, loaded := cache.Load(ctx)
	loaded(1, err)
	cache.Changed(1)
	_, update := tel.AtomicUpdate(ctx, "sum", "/e")
	update.End(1, 1, err)
	_, wait := tel.BarrierWait(ctx, tracing.BarrierOpen, "/f")
	wait.End(err)
	tel.Recreated(ctx, "workers")
	tel.Transition(state.Lost, 1)
	tel.Expired(1, true)
	tel.Attempted("host:1", err, time.Second)
	tel.Proved("host:1", err, time.Second)
	tel.Disconnected("host:1", err)
	return cache.Follow()
}

func keysOf(attrs []attribute.KeyValue) (keys []string) {
	for _, kv := range attrs {
		keys = append(keys, string(kv.Key))
	}
	return keys
}

// shapeOf returns the type of a metric, as the page calls it, and the attributes of all its points.
func shapeOf(data metricdata.Aggregation) (kind string, keys []string) {
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		kind = "up-down counter"
		if data.IsMonotonic {
			kind = "counter"
		}
		return kind, keysOfPoints(data.DataPoints)
	case metricdata.Gauge[int64]:
		return "gauge", keysOfPoints(data.DataPoints)
	case metricdata.Gauge[float64]:
		return "gauge", keysOfPoints(data.DataPoints)
	case metricdata.Histogram[int64]:
		return "histogram", keysOfHistogram(data.DataPoints)
	case metricdata.Histogram[float64]:
		return "histogram", keysOfHistogram(data.DataPoints)
	}
	return fmt.Sprintf("%T", data), nil
}

func keysOfPoints[N int64 | float64](points []metricdata.DataPoint[N]) (keys []string) {
	for _, p := range points {
		keys = append(keys, keysOf(p.Attributes.ToSlice())...)
	}
	return keys
}

func keysOfHistogram[N int64 | float64](points []metricdata.HistogramDataPoint[N]) (keys []string) {
	for _, p := range points {
		keys = append(keys, keysOf(p.Attributes.ToSlice())...)
	}
	return keys
}

// parsed returns the files of a package, without its tests.
func parsed(t *testing.T, dir string) (all []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// constantsOf returns the constants of a package that are texts, by name.
func constantsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	constants := map[string]string{}
	for _, f := range parsed(t, dir) {
		for _, decl := range f.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				constant := spec.(*ast.ValueSpec)
				literal, ok := constant.Values[0].(*ast.BasicLit)
				if !ok {
					continue
				}
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				constants[constant.Names[0].Name] = value
			}
		}
	}
	return constants
}
