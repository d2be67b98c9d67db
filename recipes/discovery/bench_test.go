package discovery_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/tools/curatortest"
)

// BenchmarkInstance chooses one of ten instances, in one goroutine and in several.
func BenchmarkInstance(b *testing.B) {
	client := curatortest.Start(b).Client(b)
	registry, err := discovery.NewServiceDiscovery(client, "/services", discovery.JSON[string]())
	if err == nil {
		err = registry.Start(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := registry.Close(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	}()
	for n := range 10 {
		if _, err := registry.Register(b.Context(), of(fmt.Sprint(n), "x")); err != nil {
			b.Fatal(err)
		}
	}
	for name, strategy := range map[string]discovery.Strategy[string]{
		"RoundRobin": discovery.RoundRobin[string](), "Random": discovery.Random[string](), "Sticky": discovery.Sticky[string](nil),
	} {
		p, err := registry.Provider("orders", discovery.ProviderConfig[string]{Strategy: strategy})
		if err == nil {
			err = p.Start(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Instance(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, _ = p.Instance()
				}
			})
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	c := discovery.JSON[string]()
	data, err := c.Encode(of("a", "x"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = c.Encode(of("a", "x"))
		}
	})
	b.Run("Decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
