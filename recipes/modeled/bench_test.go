package modeled_test

import (
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/modeled"
	"github.com/go-curator/curator/tools/curatortest"
)

// BenchmarkRead compares reads of a model with reads of its data, which are decoded too.
func BenchmarkRead(b *testing.B) {
	server := curatortest.Start(b)
	client := server.Client(b)
	ctx := b.Context()
	m := modeled.Wrap(client, modeled.ModelSpec[Order]{Path: modeled.ParseZPathWithIDs("/orders/{id}"), Codec: codec.JSON[Order]()}).Resolved(1)
	if _, err := m.Set(ctx, Order{"soap", 3}); err != nil {
		b.Fatal(err)
	}
	json := codec.JSON[Order]()
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			var stat framework.Stat
			data, err := client.GetData().StoringStatIn(&stat).ForPath(ctx, "/orders/1")
			if err == nil {
				_, err = json.Decode(data)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("modeled", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Read(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	cached, err := m.Cached()
	if err == nil {
		err = cached.Start(ctx)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer cached.Close(ctx)
	path := m.Spec().Path
	b.Run("cached", func(b *testing.B) {
		for b.Loop() {
			if _, ok := cached.Get(path); !ok {
				b.Fatal("no node")
			}
		}
	})
}
