package framework_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// many is more than travels in one write, or in two, of 512 operations each.
const many = 2000

// middle is an operation in the second write, with others before and behind it.
const middle = 700

// creates returns n sequential creates below a node, which is made.
func creates(t *testing.T, c *framework.Client, path string, n int) []framework.Op {
	t.Helper()
	if _, err := c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	ops := make([]framework.Op, n)
	create := c.TransactionOp().Create().WithMode(framework.PersistentSequential).WithData(nil)
	for i := range ops {
		ops[i] = create.ForPath(path + "/n")
	}
	return ops
}

// A batch of any length is applied in order, and one that fails does not concern the others.
func TestLongBatch(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		path := b.Path("many")
		ops := creates(t, c, path, many)
		ops[many/2] = c.TransactionOp().Delete().ForPath(path + "/none")
		results, err := c.Batch().ForOperations(t.Context(), ops...)
		if err != nil || len(results) != many {
			t.Fatalf("%d results, %v", len(results), err)
		}
		number := 0
		for i, r := range results {
			if i == many/2 {
				if !errors.Is(r.Err, framework.ErrNoNode) {
					t.Errorf("the one that fails: %+v", r)
				}
				continue
			}
			if want := fmt.Sprintf("%s/n%010d", path, number); r.Err != nil || r.Path != want {
				t.Fatalf("result %d: %+v, want %s", i, r, want)
			}
			number++
		}
		var stat framework.Stat
		if _, err := c.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), path); err != nil || stat.NumChildren != many-1 {
			t.Fatalf("%+v, %v", stat, err)
		}
		// One that is too large is found before any is sent.
		ops = ops[:many/2]
		ops = append(ops, c.TransactionOp().SetData().ForPath(path, make([]byte, 1<<20)))
		results, err = c.Batch().ForOperations(t.Context(), ops...)
		if !errors.Is(err, framework.ErrTooLarge) || framework.MaybeApplied(err) || results != nil {
			t.Fatalf("%d results, %v", len(results), err)
		}
		if _, err := c.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), path); err != nil || stat.NumChildren != many-1 {
			t.Fatalf("%+v, %v", stat, err)
		}
	})
}

// Large operations are not all held, and sent, at once.
func TestBatchOfLargeOperations(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		path := b.Path("large")
		ops := creates(t, c, path, 4)
		for i := range ops {
			ops[i] = c.TransactionOp().Create().WithData(make([]byte, 1e6)).ForPath(fmt.Sprint(path, "/", i))
		}
		results, err := c.Batch().ForOperations(t.Context(), ops...)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Err != nil || r.Stat.DataLength != 1e6 {
				t.Fatalf("%+v", r)
			}
		}
	})
}

// When the connection is lost in the middle, the results tell what became of which: what was
// answered, what may have been applied, and what was not sent.
func TestBatchCutInTheMiddle(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		path := b.Path("cut")
		ops := creates(t, c, path, many)
		ops[middle] = c.TransactionOp().SetData().ForPath(path, []byte("x"))
		hit := network.On(jute.OpSetData, suite.CutAfter, nil)
		results, err := c.Batch().ForOperations(t.Context(), ops...)
		if !errors.Is(err, framework.ErrConnectionLoss) || !framework.MaybeApplied(err) || len(results) != many {
			t.Fatalf("%d results, %v", len(results), err)
		}
		<-hit
		answered, doubtful, unsent := 0, 0, 0
		for i, r := range results {
			switch {
			case r.Err == nil:
				if answered++; answered != i+1 {
					t.Fatalf("result %d is known, an earlier one is not", i)
				}
			case !errors.Is(r.Err, framework.ErrConnectionLoss):
				t.Fatalf("result %d: %v", i, r.Err)
			case framework.MaybeApplied(r.Err):
				doubtful++
			default:
				unsent++
			}
		}
		if answered != middle || doubtful == 0 || unsent == 0 || answered+doubtful+unsent != many {
			t.Fatalf("%d answered, %d doubtful, %d not sent", answered, doubtful, unsent)
		}
		// And so it is, once this client's new connection has ended what was on the old one.
		var stat framework.Stat
		if err := c.Sync().ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if n := int(stat.NumChildren); n < answered || n > answered+doubtful {
			t.Fatalf("%d were applied of %d and %d", n, answered, doubtful)
		}
	})
}

// When the context ends in the middle it is the same.
func TestBatchContextEnds(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		path := b.Path("ended")
		ops := creates(t, c, path, many)
		ops[middle] = c.TransactionOp().SetData().ForPath(path, []byte("x"))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var heal func()
		network.On(jute.OpSetData, suite.Late, func() {
			heal = network.Isolate()
			cancel()
		})
		results, err := c.Batch().ForOperations(ctx, ops...)
		heal()
		if !errors.Is(err, context.Canceled) || !framework.MaybeApplied(err) || len(results) != many {
			t.Fatalf("%d results, %v", len(results), err)
		}
		for i, r := range results {
			write, cut := i/512, middle/512
			known, doubtful, unsent := write < cut, write == cut, write > cut
			if known != (r.Err == nil) || doubtful != framework.MaybeApplied(r.Err) || unsent && !errors.Is(r.Err, context.Canceled) {
				t.Fatalf("result %d: %v", i, r.Err)
			}
		}
	})
}

// A batch that could not be sent at all is sent again; one that was is not.
func TestBatchIsNotRepeated(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		path := b.Path("once")
		ops := creates(t, c, path, 3)
		sent := network.Requests(jute.OpCreate2)
		network.On(jute.OpCreate2, suite.CutBefore, nil)
		results, err := c.Batch().ForOperations(t.Context(), ops...)
		if !errors.Is(err, framework.ErrConnectionLoss) || !framework.MaybeApplied(err) {
			t.Fatalf("%v, %v", results, err)
		}
		if n := network.Requests(jute.OpCreate2) - sent; n != 1 {
			t.Fatalf("%d requests", n)
		}
		names, err := c.GetChildren().ForPath(t.Context(), path)
		if err != nil || len(names) != 0 {
			t.Fatalf("%q, %v", names, err)
		}
	})
}
