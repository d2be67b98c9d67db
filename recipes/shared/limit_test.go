package shared_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/shared"
)

// A listener that blocks keeps a bounded number of values. Behind them it gets the newest, and then later
// ones.
func TestListenerLimit(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		const most, changes = 1 << 10, 3000
		e := newEnv(t, b)
		goOn := make(chan struct{})
		var values, numbers []int
		e.count.Listenable().Add(func(_ context.Context, v shared.VersionedValue[int]) {
			values = append(values, v.Value)
			<-goOn
		})
		e.count.CountListenable().Add(func(_ context.Context, n int) {
			numbers = append(numbers, n)
			<-goOn
		})
		e.start()
		for i := range changes {
			set(e, i)
			if i == 0 {
				synctest.Wait() // the listeners have taken the first, and block
			}
		}
		synctest.Wait()
		close(goOn)
		synctest.Wait()
		set(e, -1)
		synctest.Wait()
		for name, told := range map[string][]int{"values": values, "numbers": numbers} {
			if n := len(told); n != 1+most+2 || told[n-2] != changes-1 || told[n-1] != -1 {
				t.Errorf("told of %d %s, the last of them %v; want %d, %d and %d at the end", n, name, told[max(0, n-3):], 1+most+2, changes-1, -1)
			}
		}
	})
}

func set(e *env, n int) {
	e.t.Helper()
	suite.Got(e.count.Set(e.t.Context(), n)).OK(e.t)
}
