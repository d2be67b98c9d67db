package queue_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/codes"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/tracing"
)

// observed consumes "good", and "bad" twice, with a lock path, and "lost" without one.
func observed(t *testing.T, look func(spans *suite.Spans, metrics *suite.Metrics)) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		spans, metrics := suite.NewSpans(), suite.NewMetrics()
		client, network := b.Client(t, framework.WithTracing(spans.Option(), metrics.Option()))
		f := newFixture(t, b, true)
		name := queue.WithName("orders")
		for _, item := range []string{"good", "bad"} {
			suite.OK(t, f.queue(client, name).Put(t.Context(), item))
		}
		failed := false
		c := f.consume(f.queue(client, name).Consume, func(_ context.Context, m message) error {
			if m.Item != "bad" || failed {
				return nil
			}
			failed = true
			return errors.New("secret")
		})
		c.want("good", "bad", "bad")
		f.drained()
		c.stop()

		f.locks = ""
		suite.OK(t, f.queue(client).Put(t.Context(), "lost", "more"))
		hit := network.On(jute.OpMulti, suite.CutAfter, nil)
		c = f.consume(f.queue(client).Consume, nil)
		<-hit
		f.drained()
		synctest.Wait()
		c.stop()
		look(spans, metrics)
	})
}

// The metrics of queues have the name that WithName gives and an outcome, and nothing else.
func TestMetrics(t *testing.T) {
	observed(t, func(_ *suite.Spans, metrics *suite.Metrics) {
		got := slices.DeleteFunc(metrics.Points(t), func(point string) bool { return !strings.HasPrefix(point, "curator.queue") })
		want := []string{
			"curator.queue.process.duration{curator.queue.name=orders curator.queue.outcome=consumed} 2",
			"curator.queue.process.duration{curator.queue.name=orders curator.queue.outcome=put_back} 1",
			"curator.queue.process.duration{curator.queue.outcome=in_doubt} 1",
			"curator.queue.redelivered{curator.queue.name=orders} 1",
		}
		if !slices.Equal(got, want) {
			t.Errorf("metrics %q, want %q", got, want)
		}
	})
}

// Puts and the work on items are spans.
func TestSpans(t *testing.T) {
	observed(t, func(spans *suite.Spans, _ *suite.Metrics) {
		var got []string
		for _, span := range append(spans.Named(tracing.SpanQueuePut), spans.Named(tracing.SpanQueueProcess)...) {
			line := span.Name()
			for _, kv := range span.Attributes() {
				if kv.Key != tracing.AttrQueuePath {
					line += " " + string(kv.Key) + "=" + kv.Value.String()
				}
			}
			if span.Status().Code == codes.Error {
				line += " failed"
			}
			got = append(got, strings.ReplaceAll(line, "curator.queue.", ""))
		}
		want := []string{
			"put kind=queue name=orders items=1", "put kind=queue name=orders items=1", "put kind=queue items=2",
			"process kind=queue name=orders outcome=consumed",
			"process kind=queue name=orders outcome=put_back error.type=_OTHER failed",
			"process kind=queue name=orders outcome=consumed",
			"process kind=queue outcome=in_doubt error.type=connection_loss failed",
		}
		if !slices.Equal(got, want) {
			t.Errorf("spans\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// The requests of an item, counted from the wire: the queue is listed once, whatever happens.
func TestRequests(t *testing.T) {
	for name, c := range map[string]struct {
		locked             bool
		creates, transacts int
	}{
		"at most once":  {locked: false, transacts: 1},
		"at least once": {locked: true, creates: 1, transacts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
				const items = 50
				f := newFixture(t, b, c.locked)
				b.NeedPersistentWatches(t, f.observer)
				f.put("warm-up")
				putter, puts := b.Client(t)
				client, network := b.Client(t)
				consumer := f.consume(f.queue(client).Consume, nil)
				f.drained()
				before := requests(network)
				for _, item := range numbered(items) {
					suite.OK(t, f.queue(putter).Put(t.Context(), item))
				}
				f.drained()
				consumer.await(items + 1)
				got := requests(network)
				for op := range got {
					got[op] -= before[op]
				}
				want := map[jute.Op]int{
					jute.OpCreate2: items * c.creates, jute.OpGetData: items, jute.OpMulti: items * c.transacts,
					jute.OpDelete: 0, jute.OpGetChildren2: 0, jute.OpExists: 0, jute.OpAddWatch: 0,
				}
				for op, n := range want {
					// Where time is real a lock may last so long that its node is watched, which reads it.
					if got[op] != n && (b.Virtual || op != jute.OpGetData || got[op] < n) {
						t.Errorf("%d requests %s for %d items, want %d", got[op], jute.OpName(op), items, n)
					}
				}
				if n := network.Requests(jute.OpGetChildren2); n > 2 {
					t.Errorf("%d lists", n)
				}
				if n := puts.Requests(jute.OpCreate2); n != items {
					t.Errorf("%d creates for %d puts", n, items)
				}
			})
		})
	}
}

// requests returns how many requests there were of those that queues use.
func requests(n *suite.Network) map[jute.Op]int {
	all := map[jute.Op]int{}
	for _, op := range []jute.Op{
		jute.OpCreate2, jute.OpGetData, jute.OpMulti, jute.OpDelete, jute.OpGetChildren2, jute.OpExists, jute.OpAddWatch,
	} {
		all[op] = n.Requests(op)
	}
	return all
}
