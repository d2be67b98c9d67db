package telemetry

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/go-curator/curator/tracing"
)

// TestDashboard has the dashboard show every metric, under the names that OpenTelemetry's
// exporter for Prometheus gives them, and no other. The alerts use no other, either.
func TestDashboard(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var conditions []string
	for _, r := range rules(t) {
		conditions = append(conditions, r.Expr)
		if !strings.Contains(string(page), r.Alert) {
			t.Errorf("docs/operations.md does not say what to do about %s", r.Alert)
		}
	}
	metricsIn(t, conditions)
	valuesIn(t, conditions)

	data, err := os.ReadFile("../../docs/dashboards/curator.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	var drawn []string
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			drawn = append(drawn, target.Expr)
		}
	}
	shown := metricsIn(t, drawn)
	valuesIn(t, drawn)
	for line := range strings.Lines(strings.TrimSpace(instrumentsGolden)) {
		if name := strings.Fields(line)[0]; !shown[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
	if !shown[tracing.MetricWatches] {
		t.Error("the watches are not shown")
	}
}

// metricsIn returns the metrics in expressions, under their own names. There must be nothing else but
// labels.
func metricsIn(t *testing.T, exprs []string) map[string]bool {
	t.Helper()
	shown := map[string]bool{}
	known := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(instrumentsGolden)) {
		name := strings.Fields(line)[0]
		known[prometheusName(strings.Fields(line))] = name
	}
	label := map[string]bool{"job": true, "instance": true, "le": true}
	for _, key := range []attribute.Key{
		tracing.AttrLockKind, tracing.AttrLockName, tracing.AttrLockOutcome, tracing.AttrLockEnd, tracing.AttrLossReason,
		semconv.DBSystemNameKey, semconv.DBOperationNameKey, semconv.ServerAddressKey, semconv.ErrorTypeKey,
		tracing.AttrState, tracing.AttrExpirationCause, tracing.AttrWatchType, semconv.NetworkIODirectionKey,
		tracing.AttrQueueName, tracing.AttrQueueOutcome, tracing.AttrLeaderName, tracing.AttrCacheName, tracing.AttrNodeName,
	} {
		label[strings.ReplaceAll(string(key), ".", "_")] = true
	}
	text := regexp.MustCompile(`"[^"]*"`)
	function := regexp.MustCompile(`\b(histogram_quantile|label_replace|last_over_time)\(`)
	word := regexp.MustCompile(`[a-z]+(?:_[a-z]+)+`)
	for _, expr := range exprs {
		bare := text.ReplaceAllString(function.ReplaceAllString(expr, ""), "")
		for _, name := range word.FindAllString(bare, -1) {
			metric := strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
			if known[name] != "" {
				metric = name // ends in count itself
			}
			switch {
			case known[metric] != "":
				shown[known[metric]] = true
			case !label[name] && name != "rate_interval":
				t.Errorf("%s in %s is nothing that there is", name, expr)
			}
		}
	}
	return shown
}

// valuesIn fails unless the values of labels in expressions are those that metrics have.
func valuesIn(t *testing.T, exprs []string) {
	t.Helper()
	values := map[string][]string{
		"zookeeper_connection_state": slices.Collect(maps.Values(states)),
		"curator_lock_outcome":       {tracing.OutcomeAcquired},
		"curator_queue_outcome":      {tracing.OutcomeInDoubt},
		"db_system_name":             {system},
		"error_type":                 {""},
	}
	matcher := regexp.MustCompile(`(\w+)!?="([^"]*)"`)
	for _, expr := range exprs {
		for _, m := range matcher.FindAllStringSubmatch(expr, -1) {
			if !slices.Contains(values[m[1]], m[2]) {
				t.Errorf("%s in %s is no value of the label", m[0], expr)
			}
		}
	}
}

// prometheusName is the name of an instrument of the golden list there.
func prometheusName(fields []string) string {
	name := strings.ReplaceAll(fields[0], ".", "_")
	switch fields[2] {
	case "s":
		name += "_seconds"
	case "By":
		name += "_bytes"
	}
	if len(fields) > 3 { // monotonic
		name += "_total"
	}
	return name
}
