package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// TestConsumePanics has the retry policy panic while a function runs: Consume waits for that before it
// passes the panic on, and leaves nothing.
func TestConsumePanics(t *testing.T) {
	both(t, suite.InVirtualTime, func(f *fixture) {
		_, network := f.b.Client(f.t)
		client := f.b.PanickingClient(f.t, network)
		q := f.queue(client)
		f.put("x")
		begun, ended := make(chan struct{}), false
		go func() {
			<-begun
			network.On(jute.OpGetChildren2, suite.CutAfter, nil)
			network.Cut() // the list is read again
		}()
		suite.WantPanic(f.t, func() {
			err := q.Consume(f.t.Context(), func(ctx context.Context, m message) error {
				close(begun)
				<-ctx.Done()
				<-time.After(time.Second)
				ended = true
				return nil
			})
			f.t.Errorf("Consume returned %v", err)
		})
		if !ended {
			f.t.Error("the function still runs")
		}
		f.drained()
		suite.Eventually(f.t, "no watch", func() bool { return f.b.WatchesLeft() == 0 })
	})
}
