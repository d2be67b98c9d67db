package cache_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/tracing"
)

// Caches with a name are counted, those of one name together; others are not. A load is a span.
func TestTelemetry(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		metrics, spans := suite.NewMetrics(), suite.NewSpans()
		f := newFixture(t, b, framework.WithTracing(metrics.Option(), spans.Option()))
		f.write("a=1 a/b=2")
		for _, opts := range [][]cache.Option{{cache.WithName("config")}, {cache.WithName("config")}, {cache.WithName("other")}, nil} {
			kind := cache.NewCuratorCache
			if len(opts) == 0 {
				kind = cache.NewNodeCache
			}
			f.make(kind, opts...)
			f.start()
		}
		f.write("a=3 -a/b")
		settle()
		want := func(want ...string) {
			t.Helper()
			var got []string
			for _, point := range metrics.Points(t) {
				if strings.HasPrefix(point, "curator.cache") {
					got = append(got, point)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("metrics %q, want %q", got, want)
			}
		}
		const config, other = "{curator.cache.name=config} ", "{curator.cache.name=other} "
		want("curator.cache.events"+config+"10", "curator.cache.events"+other+"5",
			"curator.cache.nodes"+config+"4", "curator.cache.nodes"+other+"2")
		heal := f.network.Isolate()
		time.Sleep(suite.SessionTimeout) // until it is noticed
		since, _ := f.cache.Stale()
		time.Sleep(time.Until(since.Add(3 * time.Second)))
		want("curator.cache.events"+config+"10", "curator.cache.events"+other+"5",
			"curator.cache.nodes"+config+"4", "curator.cache.nodes"+other+"2",
			"curator.cache.stale"+config+"3", "curator.cache.stale"+other+"3")
		heal()
		time.Sleep(time.Second)
		want("curator.cache.events"+config+"10", "curator.cache.events"+other+"5",
			"curator.cache.nodes"+config+"4", "curator.cache.nodes"+other+"2")
		if loads := spans.Count(tracing.SpanCacheLoad); loads != 4 {
			t.Errorf("%d spans of loads, want 4", loads)
		}
	})
}
