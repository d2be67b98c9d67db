package framework_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

// plainDriver is a driver of Java's old shape.
type plainDriver struct {
	mu    sync.Mutex
	calls []string
}

func (d *plainDriver) add(call string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, call)
}

func (d *plainDriver) AddTrace(name string, _ time.Duration) { d.add("trace " + name) }

func (d *plainDriver) AddCount(name string, _ int) { d.add("count " + name) }

func (d *plainDriver) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// advancedDriver is one of the newer shape.
type advancedDriver struct {
	plainDriver
	last tracing.OperationTrace
}

func (d *advancedDriver) AddOperationTrace(t tracing.OperationTrace) {
	d.add("operation " + t.Name)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = t
}

func (d *advancedDriver) AddEventTrace(t tracing.EventTrace) { d.add("event " + t.Name) }

// TestTracerDriver tells both shapes of the same, under Java's names.
func TestTracerDriver(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		run := func(driver tracing.TracerDriver, calls func() []string) []string {
			client, network := b.Client(t, framework.WithTracing(tracing.WithDriver(driver)))
			if _, err := client.CheckExists().ForPath(t.Context(), "/"); err != nil {
				t.Fatal(err)
			}
			network.On(jute.OpGetData, suite.CutBefore, nil)
			if _, err := client.GetData().ForPath(t.Context(), "/none"); !errors.Is(err, framework.ErrNoNode) {
				t.Fatal(err)
			}
			network.Expire(t)
			suite.Eventually(t, "the next session", func() bool {
				return slices.ContainsFunc(calls(), func(call string) bool { return call == "count session-expired" || call == "event session-expired" }) &&
					client.ConnectionState() == state.Reconnected
			})
			done := make(chan error, 1)
			if err := client.GetChildren().InBackground(t.Context(), "/", func(_ context.Context, _ []string, err error) { done <- err }); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			return calls()
		}
		plain := &plainDriver{}
		want := []string{
			"trace ExistsBuilderImpl-Foreground", "count Disconnected", "count retries-allowed", "trace GetDataBuilderImpl-Foreground",
			"count Disconnected", "count Expired", "count session-expired", "trace GetChildrenBuilderImpl-Background",
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(run(plain, plain.all)))); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		advanced := &advancedDriver{}
		for i, call := range want {
			want[i] = map[string]string{"tra": "operation", "cou": "event"}[call[:3]] + call[5:]
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(run(advanced, advanced.all)))); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		last := advanced.last
		if last.Path != "/" || last.ReturnCode != 0 || last.RequestBytes == 0 || last.ResponseBytes == 0 || last.SessionID == 0 {
			t.Errorf("the last operation is %+v", last)
		}
	})
}
