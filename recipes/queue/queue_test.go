package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/queue"
)

// Q1: one consumer gets the items in the order of their puts, those that were there before and
// those that come later.
func TestQ1Order(t *testing.T) {
	both(t, suite.InVirtualTime|suite.OnRealServer, func(f *fixture) {
		f.put("a", "b")
		client, _ := f.b.Client(f.t)
		c := f.consume(f.queue(client).Consume, nil)
		c.want("a", "b")
		f.put("c")
		suite.OK(f.t, f.queue(f.observer).Put(f.t.Context(), "d", "", "e"))
		f.put("f")
		c.want("a", "b", "c", "d", "", "e", "f")
		f.drained()
		c.stop()
		f.nothingLeft()
	})
}

// Q2: several consumers, of several clients and of one, get every item, and no item twice.
func TestQ2NothingTwice(t *testing.T) {
	both(t, suite.InVirtualTime|suite.OnRealServer, func(f *fixture) {
		want := numbered(60)
		first, _ := f.b.Client(f.t)
		second, _ := f.b.Client(f.t)
		f.put(want[:20]...)
		var consumers []*consumer
		for _, client := range []*framework.Client{first, second, second} {
			consumers = append(consumers, f.consume(f.queue(client, queue.WithConcurrency(2)).Consume, nil))
		}
		f.put(want[20:]...)
		f.drained()
		var got []string
		for _, c := range consumers {
			c.stop()
			got = append(got, c.items()...)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			f.t.Errorf("handed over %q, want %q", got, want)
		}
		f.nothingLeft()
	})
}

// Q3: an item whose consumer's session ends goes to another at once, not with the next put. The function learns of it.
func TestQ3ConsumerDies(t *testing.T) {
	t.Parallel()
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		f.put("a")
		dying, network := b.Client(t)
		told := make(chan error, 1)
		c := f.consume(f.queue(dying).Consume, func(ctx context.Context, m message) error {
			<-ctx.Done()
			told <- context.Cause(ctx)
			return nil // the work is done, but the item is not ours any more
		})
		c.want("a")
		other, _ := b.Client(t)
		heir := f.consume(f.queue(other).Consume, nil)
		heal := network.Isolate()
		heir.want("a")
		suite.WantErr(t, <-told, locks.ErrLockLost)
		heal()
		f.drained()
		if got := c.items(); len(got) != 1 {
			t.Errorf("the first consumer got %q", got)
		}
	})
}

// Q4: an item whose function fails is put back to the end of its line, under a name that does not
// grow. Without a lock path it is gone.
func TestQ4PutBack(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		f.put("a", "b")
		var paths []string
		tries := 0
		c := f.consume(f.queue(f.observer).Consume, func(ctx context.Context, m message) error {
			paths = append(paths, strings.TrimPrefix(m.Path, f.path))
			if m.Item == "b" {
				return nil
			}
			if tries++; tries == 3 {
				return nil
			}
			return errors.New("try later")
		})
		c.want("a", "b", "a", "a")
		f.drained()
		c.stop()
		want := []string{"/queue-0000000000", "/queue-0000000001", "/queue-0000000002", "/queue-0000000003"}
		if !slices.Equal(paths, want) {
			t.Errorf("nodes %q, want %q", paths, want)
		}
		if left := f.items(); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, false)
		f.put("a", "b")
		c := f.consume(f.queue(f.observer).Consume, func(context.Context, message) error { return errors.New("no") })
		c.want("a", "b")
		f.drained()
	})
}

// Several items of one node are put back together; without a lock path each is consumed by itself.
func TestPutBackTogether(t *testing.T) {
	both(t, suite.InVirtualTime, func(f *fixture) {
		suite.OK(f.t, f.queue(f.observer).Put(f.t.Context(), "a", "b", "c"))
		failed := false
		c := f.consume(f.queue(f.observer).Consume, func(_ context.Context, m message) error {
			if m.Item == "b" && !failed {
				failed = true
				return errors.New("once")
			}
			return nil
		})
		if f.locks == "" {
			c.want("a", "b", "c")
		} else {
			c.want("a", "b", "a", "b", "c")
		}
		f.drained()
	})
}

// Q5: the lowest number goes first, negative ones too, also when it is put late.
func TestQ5Priorities(t *testing.T) {
	both(t, suite.InVirtualTime|suite.OnRealServer, func(f *fixture) {
		q := suite.Got(queue.NewDistributedPriorityQueue(f.observer, f.path, codec.String(), f.opts()...)).OK(f.t)
		put := func(priority int32, item string) {
			if err := q.Put(f.t.Context(), priority, item); err != nil {
				f.t.Error(err)
			}
		}
		for _, p := range []int32{5, -1, 0, 2147483647, 5, -2147483648} {
			put(p, fmt.Sprint(p))
		}
		var once sync.Once
		c := f.consume(q.Consume, func(ctx context.Context, m message) error {
			once.Do(func() {
				put(-7, "late")
				f.awaitItems(func(names []string) bool { return len(names) >= 6 })
			})
			return nil
		})
		c.want("-2147483648", "late", "-1", "0", "5", "5", "2147483647")
		f.drained()
	})
}

// awaitItems waits until the queue's nodes are as they should be.
func (f *fixture) awaitItems(ok func(names []string) bool) {
	f.t.Helper()
	suite.Eventually(f.t, "the nodes of the queue", func() bool { return ok(f.items()) })
}

// An item that is due in more milliseconds than a number has room for waits for ever.
func TestFarFuture(t *testing.T) {
	both(t, suite.InVirtualTime, func(f *fixture) {
		q := suite.Got(queue.NewDistributedDelayQueue(f.observer, f.path, codec.String(), f.opts()...)).OK(f.t)
		for item, due := range map[string]time.Time{"never": time.Unix(1<<61, 0), "soon": time.Now().Add(time.Minute), "now": time.Unix(-1<<61, 0)} {
			suite.OK(f.t, q.Put(f.t.Context(), due, item))
		}
		c := f.consume(q.Consume, nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		c.want("now", "soon")
	})
}

// Q6: no item comes before its time, and a late item that is due earlier goes first.
func TestQ6Delays(t *testing.T) {
	both(t, suite.InVirtualTime, func(f *fixture) {
		q := suite.Got(queue.NewDistributedDelayQueue(f.observer, f.path, codec.String(), f.opts()...)).OK(f.t)
		start := time.Now()
		put := func(after time.Duration) {
			suite.OK(f.t, q.Put(f.t.Context(), start.Add(after), after.String()))
		}
		put(3 * time.Minute)
		put(time.Minute)
		var early atomic.Bool
		c := f.consume(q.Consume, func(_ context.Context, m message) error {
			after, err := time.ParseDuration(m.Item)
			if since := time.Since(start); err != nil || since < after || since > max(after, time.Minute/2)+time.Second {
				early.Store(true)
			}
			return nil
		})
		time.Sleep(time.Minute / 2)
		synctest.Wait()
		if got := c.items(); len(got) > 0 {
			f.t.Errorf("handed over before their time: %q", got)
		}
		put(45 * time.Second)
		put(-time.Hour)
		put(3*time.Minute + 100*time.Microsecond)
		time.Sleep(3 * time.Minute)
		c.want("-1h0m0s", "45s", "1m0s", "3m0s", "3m0.0001s")
		if early.Load() {
			f.t.Error("an item came at another time than its own")
		}
		f.drained()
	})
}

// Q7: items are removed by their id, but for those that a consumer has.
func TestQ7Remove(t *testing.T) {
	both(t, suite.InVirtualTime|suite.OnRealServer, func(f *fixture) {
		q := suite.Got(queue.NewDistributedIDQueue(f.observer, f.path, codec.String(), f.opts()...)).OK(f.t)
		remove := func(id string, want int) {
			f.t.Helper()
			if n, err := q.Remove(f.t.Context(), id); n != want || err != nil {
				f.t.Errorf("%d removed of %q, want %d; %v", n, id, want, err)
			}
		}
		remove("none", 0)
		for i, id := range []string{"x/1", "y", "x|1", "x_1", "z"} {
			suite.OK(f.t, q.Put(f.t.Context(), id, fmt.Sprint(i)))
		}
		remove("x_1", 3)
		remove("x_1", 0)
		running, goOn := make(chan struct{}), make(chan struct{})
		var once sync.Once
		c := f.consume(q.Consume, func(context.Context, message) error {
			once.Do(func() { close(running) })
			<-goOn
			return nil
		})
		<-running
		remove("y", 0) // it is being consumed
		remove("z", 1)
		close(goOn)
		c.want("1")
		f.drained()
	})
}

// An item with an id that is put back keeps it.
func TestPutBackKeepsID(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		q := suite.Got(queue.NewDistributedIDQueue(f.observer, f.path, codec.String(), f.opts()...)).OK(t)
		suite.OK(t, q.Put(t.Context(), "id", "a"))
		var paths []string
		c := f.consume(q.Consume, func(_ context.Context, m message) error {
			if paths = append(paths, m.Path); len(paths) == 1 {
				return errors.New("once")
			}
			return nil
		})
		c.want("a", "a")
		f.drained()
		if want := []string{f.path + "/queue-|id|0000000000", f.path + "/queue-|id|0000000001"}; !slices.Equal(paths, want) {
			t.Errorf("nodes %q, want %q", paths, want)
		}
	})
}

// Q8: Put waits while the queue is full.
func TestQ8Bound(t *testing.T) {
	both(t, suite.InVirtualTime|suite.OnRealServer, func(f *fixture) {
		q := f.queue(f.observer, queue.WithMaxItems(2))
		f.put("a", "b")
		ctx, cancel := context.WithCancel(f.t.Context())
		defer cancel()
		none := make(chan error)
		go func() { none <- q.Put(ctx, "none") }()
		f.awaitWatches()
		cancel()
		err := <-none
		suite.WantErr(f.t, err, queue.ErrFull)
		suite.WantErr(f.t, err, context.Canceled)
		if framework.MaybeApplied(err) {
			f.t.Error("a put that never was may have been applied")
		}
		put := make(chan error)
		go func() { put <- q.Put(f.t.Context(), "c") }()
		client, _ := f.b.Client(f.t)
		c := f.consume(f.queue(client).Consume, nil)
		if err := <-put; err != nil {
			f.t.Error(err)
		}
		c.want("a", "b", "c")
		f.drained()
		c.stop()
		f.nothingLeft()
	})
}

// Q9: an item is stored when Put returns. There is nothing to flush.
func TestQ9Flush(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, false)
		for i := range 5 {
			f.put("item")
			if names := f.items(); len(names) != i+1 {
				t.Fatalf("%d nodes after %d puts", len(names), i+1)
			}
		}
	})
}

// Q10: data that cannot be decoded is removed and logged, whether its frame or its items are bad.
func TestQ10Corrupt(t *testing.T) {
	for name, locked := range map[string]bool{"at most once": false, "at least once": true} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b, locked)
				logs := new(suite.Log)
				client, _ := b.Client(t, framework.WithLogger(slog.New(slog.NewTextHandler(logs, nil))))
				numbers := suite.Got(queue.NewDistributedQueue(client, f.path, codec.JSON[int](), f.opts()...)).OK(t)
				f.put("1", "no number", "3")
				f.create("queue-9999999999", "no frame")
				f.create("other-0000000001", "foreign")
				ctx, cancel := context.WithCancel(t.Context())
				var got []int
				ended := make(chan error)
				go func() {
					ended <- numbers.Consume(ctx, func(_ context.Context, m queue.Message[int]) error {
						got = append(got, m.Item)
						return nil
					})
				}()
				f.awaitItems(func(names []string) bool { return len(names) == 1 })
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if !slices.Equal(got, []int{1, 3}) {
					t.Errorf("handed over %v", got)
				}
				synctest.Wait()
				if n := strings.Count(logs.String(), "and is removed"); n != 2 {
					t.Errorf("%d nodes are logged, want 2", n)
				}
				// Q11: a node that is no item is skipped, and logged once.
				if n := strings.Count(logs.String(), "is no item"); n != 1 {
					t.Errorf("%d foreign nodes are logged, want 1", n)
				}
			})
		})
	}
}

// create has the observer create a node of the queue.
func (f *fixture) create(name, data string) {
	f.t.Helper()
	suite.Got(f.observer.Create().WithData([]byte(data)).ForPath(f.t.Context(), f.path+"/"+name)).OK(f.t)
}

// Q12: a consumer goes on after it was cut off for longer than its session.
func TestQ12LongPartition(t *testing.T) {
	both(t, suite.InVirtualTime|suite.OnRealServer, func(f *fixture) {
		client, network := f.b.Client(f.t)
		c := f.consume(f.queue(client).Consume, nil)
		f.put("a")
		c.want("a")
		f.drained() // or "a" is handed over again
		heal := network.Isolate()
		f.put("b")
		if f.b.Virtual {
			time.Sleep(time.Minute)
			synctest.Wait()
		} else {
			network.Expire(f.t)
		}
		f.put("c")
		heal()
		c.want("a", "b", "c")
		f.put("d")
		c.want("a", "b", "c", "d")
		f.drained()
	})
}
