package barriers_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/barriers"
)

// The transaction that opens a double barrier names every member. More members than it has room for are
// refused at once, and not when the last of them has come; as many as it has room for can enter.
func TestMemberLimit(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		client, _ := b.Client(t, framework.WithMaxData(4096))
		most := 0
		var refused error
		for n := 1; n < 4096; n++ {
			if _, refused = barriers.NewDistributedDoubleBarrier(client, e.path, n); refused != nil {
				break
			}
			most = n
		}
		if !errors.Is(refused, framework.ErrInvalidOption) || !strings.Contains(refused.Error(), "WithMaxData") {
			t.Errorf("%d members are refused with %v", most+1, refused)
		}
		if refused == nil {
			most = 100 // what a transaction of 4,096 bytes has no room for
		}
		// A "ready" of a round whose members have died takes more room: it is deleted in the same transaction.
		suite.Got(e.operator.Create().CreatingParentsIfNeeded().ForPath(t.Context(), e.path+"/ready")).OK(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var calls []*call
		for range most {
			barrier := suite.Got(barriers.NewDistributedDoubleBarrier(client, e.path, most)).OK(e.t)
			calls = append(calls, e.start(ctx, barrier.Enter))
		}
		for _, c := range calls {
			if err := <-c.done; err != nil {
				t.Fatalf("%d members: %v", most, err)
			}
		}
		if most < 40 {
			t.Errorf("only %d members find room in 4,096 bytes", most)
		}
	})
}

// With the default limits there is room for many thousands of members.
func TestMemberLimitByDefault(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		for n, want := range map[int]error{10_000: nil, 20_000: framework.ErrInvalidOption} {
			if _, err := barriers.NewDistributedDoubleBarrier(client, "/services/orders/barrier", n); !errors.Is(err, want) {
				t.Errorf("%d members: %v, want %v", n, err, want)
			}
		}
	})
}
