package queue_test

import (
	"context"
	"testing"

	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/tools/curatortest"
)

// BenchmarkConsume puts an item and consumes it, at most once and at least once.
func BenchmarkConsume(b *testing.B) {
	for name, opts := range map[string][]queue.Option{
		"at most once":  nil,
		"at least once": {queue.WithLockPath("/locks")},
	} {
		b.Run(name, func(b *testing.B) {
			q, err := queue.NewDistributedQueue(curatortest.Start(b).Client(b), "/queue", codec.String(), opts...)
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			consumed, done := make(chan string), make(chan error)
			go func() {
				done <- q.Consume(ctx, func(_ context.Context, m queue.Message[string]) error {
					consumed <- m.Item
					return nil
				})
			}()
			b.ReportAllocs()
			for b.Loop() {
				if err := q.Put(b.Context(), "item"); err != nil {
					b.Fatal(err)
				}
				<-consumed
			}
			cancel()
			if err := <-done; err != nil {
				b.Error(err)
			}
		})
	}
}
