package queue_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/queue"
)

// onOldServer returns a client of a server before ZooKeeper 3.6, which has no persistent watches.
func (f *fixture) onOldServer() (*framework.Client, *suite.Network) {
	client, network := f.b.Client(f.t)
	network.Old()
	network.Cut()
	return client, network
}

// faultsOfWatches are what one-shot watches must survive.
var faultsOfWatches = map[string]func(f *fixture, n *suite.Network){
	"nothing":        func(*fixture, *suite.Network) {},
	"queue deleted":  func(f *fixture, _ *suite.Network) { f.delete(f.path) },
	"suspended":      func(_ *fixture, n *suite.Network) { n.Cut() },
	"cut twice":      func(_ *fixture, n *suite.Network) { n.Cut(); n.Cut() },
	"session lost":   func(f *fixture, n *suite.Network) { n.Expire(f.t) },
	"lagging server": func(_ *fixture, n *suite.Network) { n.Lag(); n.Cut() },
}

// Consumers hear of every item also where the servers have no persistent watches.
func TestConsumeOnOldServer(t *testing.T) {
	for name, fault := range faultsOfWatches {
		t.Run(name, func(t *testing.T) {
			both(t, suite.InVirtualTime, func(f *fixture) {
				client, network := f.onOldServer()
				f.put("a")
				c := f.consume(f.queue(client).Consume, nil)
				want := []string{"a"}
				c.want(want...)
				f.drained()
				for i := range 3 {
					fault(f, network)
					item := fmt.Sprint(i)
					f.put(item)
					want = append(want, item)
					c.want(want...)
					f.drained()
				}
				c.stop()
				suite.Answered(f.t, client) // the watches are given back without a wait
				f.nothingLeft()
			})
		})
	}
}

// An item whose consumer dies goes to another one at once: the watch on the locks tells.
func TestConsumerDiesOnOldServer(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		f.put("a")
		first, network := f.onOldServer()
		f.consume(f.queue(first).Consume, func(ctx context.Context, _ message) error {
			<-ctx.Done()
			return nil
		}).want("a")
		other, _ := f.onOldServer()
		second := f.consume(f.queue(other).Consume, nil)
		heal := network.Isolate()
		second.want("a")
		heal()
		f.drained()
	})
}

// A Take waits, and a Put into a full queue, too.
func TestWaitsOnOldServer(t *testing.T) {
	for name, fault := range faultsOfWatches {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b, false)
				suite.Got(f.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), f.path)).OK(t)
				client, network := f.onOldServer()
				taken := make(chan string)
				go func() {
					data, err := f.simple(client).Take(t.Context())
					taken <- fmt.Sprint(string(data), err)
				}()
				suite.AwaitWatches(t, client, 2) // on the node, and on its children
				fault(f, network)
				suite.OK(t, f.simple(f.observer).Offer(t.Context(), []byte("x")))
				if got := <-taken; got != "x<nil>" {
					t.Errorf("took %s", got)
				}
				suite.Answered(t, client) // the watches are given back without a wait
				f.nothingLeft()

				bounded := f.queue(client, queue.WithMaxItems(1))
				suite.OK(t, bounded.Put(t.Context(), "first"))
				put := make(chan error)
				go func() { put <- bounded.Put(t.Context(), "second") }()
				suite.AwaitWatches(t, client, 2)
				if name != "queue deleted" {
					fault(f, network)
				}
				f.delete(f.path + "/" + f.items()[0])
				suite.OK(t, <-put)
				if left := f.items(); len(left) != 1 {
					t.Errorf("left: %q", left)
				}
				suite.Answered(t, client) // the watches are given back without a wait
				f.nothingLeft()
			})
		})
	}
}

// When the client is closed, Consume ends.
func TestCloseOnOldServer(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		for _, path := range []string{f.path, f.locks} {
			suite.Got(f.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), path)).OK(t)
		}
		client, _ := f.onOldServer()
		ended := make(chan error)
		go func() {
			ended <- f.queue(client).Consume(t.Context(), func(context.Context, message) error { return nil })
		}()
		suite.AwaitWatches(t, client, 4)
		suite.OK(t, client.Close(t.Context()))
		suite.WantErr(t, <-ended, framework.ErrClosed)
	})
}

// An item that may not be read is tried every 30 s, and not again after every change of the queue.
func TestUnreadableItemOnOldServer(t *testing.T) {
	both(t, suite.InVirtualTime, func(f *fixture) {
		f.put("x")
		f.permit(f.path+"/"+f.items()[0], framework.PermAll&^framework.PermRead)
		client, network := f.onOldServer()
		c := f.consume(f.queue(client).Consume, nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		before := network.Requests(reading)
		const items = 100
		for i := range items {
			f.put(fmt.Sprint(i))
			time.Sleep(6 * time.Second)
		}
		c.await(items)
		if n := network.Requests(reading) - before - items; n < 18 || n > 22 {
			f.t.Errorf("%d reads of the item in ten minutes, want one every 30 s", n)
		}
	})
}
