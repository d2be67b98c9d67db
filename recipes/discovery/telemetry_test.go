package discovery_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

// With a name, instances count as kept nodes and as nodes of caches.
func TestMetrics(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		metrics := suite.NewMetrics()
		f := newFixture(t, b)
		f.client, f.network = b.Client(t, framework.WithTracing(metrics.Option()))
		f.registry = f.newRegistry(f.client, discovery.WithName("services"))
		f.start()
		f.register(of("a", "x"))
		f.register(of("b", "x"))
		f.cached()
		f.delete("a")
		f.until("a=x", "b=x")
		f.settled()
		var points []string
		for _, p := range metrics.Points(t) {
			if strings.Contains(p, "services") && !strings.Contains(p, "events") {
				points = append(points, p)
			}
		}
		want := []string{"curator.cache.nodes{curator.cache.name=services} 2", "curator.node.recreations{curator.node.name=services} 1"}
		if !slices.Equal(points, want) {
			t.Errorf("%q", points)
		}
		f.ended()
	})
}
