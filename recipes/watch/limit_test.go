package watch_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// most is how many events wait for a listener or a loop.
const most = 1 << 16

// change sets the data of the watched node n times.
func (e *env) change(n int) {
	e.t.Helper()
	const atOnce = 5000
	for ; n > 0; n -= atOnce {
		op := e.operator.TransactionOp().SetData().ForPath(e.path, nil)
		suite.Got(e.operator.Transaction().ForOperations(e.t.Context(), slices.Repeat([]framework.Op{op}, min(n, atOnce))...)).OK(e.t)
	}
	synctest.Wait()
}

// A listener and a loop that block keep a bounded number of events. Behind them each gets one WatchReset,
// and later events come. Others are not affected.
func TestLimit(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, framework.PersistentRecursive)
		e.create(e.path)
		goOn := make(chan struct{})
		var listener, loop []framework.WatchedEvent
		plain := func(event framework.WatchedEvent) framework.WatchedEvent {
			return framework.WatchedEvent{Type: event.Type, Path: event.Path}
		}
		e.watcher.Listenable().Add(func(_ context.Context, event framework.WatchedEvent) {
			listener = append(listener, plain(event))
			<-goOn
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		over := make(chan struct{})
		go func() {
			defer close(over)
			for event := range e.watcher.Events(ctx) {
				loop = append(loop, plain(event))
				<-goOn
			}
		}()
		synctest.Wait() // the loop has begun
		e.start()
		e.change(1)
		e.change(100_000)
		close(goOn)
		synctest.Wait()
		e.change(1)
		cancel()
		<-over

		changed := framework.WatchedEvent{Type: framework.NodeDataChanged, Path: e.path}
		want := append(slices.Repeat([]framework.WatchedEvent{changed}, 1+most), framework.WatchedEvent{Type: framework.WatchReset, Path: e.path}, changed)
		for name, told := range map[string][]framework.WatchedEvent{"the listener": listener, "the loop": loop} {
			if !slices.Equal(told, want) {
				t.Errorf("%s was told of %d events, the last of them %v; want %d with a WatchReset before the last", name, len(told), told[max(0, len(told)-3):], len(want))
			}
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.told) != 100_002 {
			t.Errorf("the listener that does not block was told of %d events", len(e.told))
		}
	})
}
