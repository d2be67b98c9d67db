package leader_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
)

// A listener that blocks keeps a bounded number of changes. Behind them it gets no term that has begun and
// ended meanwhile, but the end of the one that it was told of, and the beginning of the present one.
func TestListenerLimit(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		const most, terms = 1 << 10, 600
		e := newEnv(t, b)
		m := e.member("m")
		goOn := make(chan struct{})
		var told []leader.Change
		m.LeadershipListenable().Add(func(_ context.Context, c leader.Change) {
			told = append(told, c)
			<-goOn
		})
		m.start()
		for range terms {
			suite.OK(t, m.leads().Release(t.Context()))
			synctest.Wait()
		}
		lease := m.leads()
		time.Sleep(time.Second)
		synctest.Wait()
		close(goOn)
		synctest.Wait()
		n := len(told)
		if n < most || n > 1+most+2 {
			t.Fatalf("told of %d changes, want %d and at most two", n, 1+most)
		}
		for i, c := range told {
			if c.Leading != (i%2 == 0) || !c.Leading && c.Lease != told[i-1].Lease {
				t.Fatalf("change %d of %d does not fit to the one before", i, n)
			}
		}
		if last := told[n-1]; !last.Leading || last.Lease != lease {
			t.Error("the last change is not the beginning of the present term")
		}
		m.close()
		if last := told[len(told)-1]; last.Leading || last.Lease != lease {
			t.Error("the listener was not told of the end of the last term")
		}
	})
}
