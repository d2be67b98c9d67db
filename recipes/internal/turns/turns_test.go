package turns_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/recipes/internal/turns"
)

// So many have a turn at a time, in the time that is given, and one that leaves takes none.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const spread, work = 10 * time.Second, time.Millisecond
		all := turns.New(2, func() time.Duration { return spread })
		var now, most atomic.Int32
		var first, last atomic.Int64
		first.Store(int64(spread))
		begin := time.Now()
		var tasks sync.WaitGroup
		for range 100 {
			tasks.Go(func() {
				end, err := all.Take(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				defer end()
				most.Store(max(most.Load(), now.Add(1)))
				after := int64(time.Since(begin))
				first.Store(min(first.Load(), after))
				last.Store(max(last.Load(), after))
				<-time.After(work)
				now.Add(-1)
			})
		}
		tasks.Wait()
		if most.Load() > 2 || time.Duration(last.Load()) > spread+100*work || time.Duration(first.Load()) > spread/2 || time.Duration(last.Load()) < spread/2 {
			t.Errorf("%d at a time, from %v to %v", most.Load(), time.Duration(first.Load()), time.Duration(last.Load()))
		}
	})
}

func TestTakeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var spread time.Duration
		all := turns.New(1, func() time.Duration { return spread })
		end, err := all.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, spread = range []time.Duration{0, time.Hour} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if _, err := all.Take(ctx); err == nil {
				t.Error("a turn although ctx has ended")
			}
			cancel()
		}
		end()
		spread = 0
		if end, err = all.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		end()
	})
}
