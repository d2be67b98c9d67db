package cache_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/tools/curatortest"
)

// benchTree returns a client whose server has a node with that many children.
func benchTree(b *testing.B, children int) *framework.Client {
	client := curatortest.Start(b).Client(b)
	if _, err := client.Create().ForPath(b.Context(), "/tree"); err != nil {
		b.Fatal(err)
	}
	for i := range children {
		if _, err := client.Create().WithData([]byte("data")).ForPath(b.Context(), fmt.Sprintf("/tree/%04d", i)); err != nil {
			b.Fatal(err)
		}
	}
	return client
}

// BenchmarkLoad loads a node with 500 children.
func BenchmarkLoad(b *testing.B) {
	client := benchTree(b, 500)
	b.ReportAllocs()
	for b.Loop() {
		c, err := cache.NewCuratorCache(client, "/tree")
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		if n := c.Snapshot().Len(); n != 501 {
			b.Fatalf("%d nodes", n)
		}
		if err := c.Close(context.WithoutCancel(b.Context())); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChange waits for the change of one of 500 children, which a listener gets.
func BenchmarkChange(b *testing.B) {
	client := benchTree(b, 500)
	c, err := cache.NewCuratorCache(client, "/tree")
	if err != nil {
		b.Fatal(err)
	}
	changed := make(chan struct{}, 1)
	c.Listenable().Add(cache.NewListener().ForChanges(func(context.Context, cache.ChildData, cache.ChildData) { changed <- struct{}{} }).Build())
	if err := c.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.SetData().ForPath(b.Context(), "/tree/0250", []byte("other")); err != nil {
			b.Fatal(err)
		}
		<-changed
	}
	if err := c.Close(context.WithoutCancel(b.Context())); err != nil {
		b.Error(err)
	}
}
