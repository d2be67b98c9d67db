package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// logged returns a client whose warnings are kept.
func (f *fixture) logged(opts ...framework.Option) (*framework.Client, *suite.Network, *suite.Log) {
	f.t.Helper()
	log := &suite.Log{}
	client, network := f.b.Client(f.t, append([]framework.Option{framework.WithLogger(log.Warnings())}, opts...)...)
	return client, network, log
}

// permit sets who may do what with a node.
func (f *fixture) permit(path string, perms framework.Perm) {
	f.t.Helper()
	acl := framework.OpenACLUnsafe()
	acl[0].Perms = perms
	suite.Got(f.observer.SetACL().ForPath(f.t.Context(), path, acl)).OK(f.t)
}

// An item that the client may not read is skipped, and the others are consumed. It is logged once, under
// its path, and is tried again at a new connection and every 30 s.
func TestUnreadableItem(t *testing.T) {
	both(t, suite.InVirtualTime|suite.OnRealServer, func(f *fixture) {
		f.put("x", "y")
		first := f.path + "/" + f.items()[0]
		f.permit(first, framework.PermAll&^framework.PermRead)
		client, network, log := f.logged()
		c := f.consume(f.queue(client).Consume, nil)
		c.want("y")
		f.put("z")
		c.want("y", "z")
		if f.b.Virtual {
			time.Sleep(10 * time.Minute)
			synctest.Wait()
		}
		network.Cut()
		if n := strings.Count(log.String(), "item="+first); n != 1 {
			f.t.Errorf("the item is logged %d times:\n%s", n, log)
		}
		f.permit(first, framework.PermAll)
		if !f.b.Virtual {
			network.Cut()
		}
		c.want("y", "z", "x")
		f.drained()
		c.stop()
		f.nothingLeft()
	})
}

// Consumers with an unreadable item leave each other, and the server, in peace.
func TestUnreadableItemIsQuiet(t *testing.T) {
	both(t, suite.InVirtualTime, func(f *fixture) {
		f.put("x")
		f.permit(f.path+"/"+f.items()[0], framework.PermAll&^framework.PermRead)
		client, network, _ := f.logged()
		other, _, _ := f.logged()
		f.consume(f.queue(client).Consume, nil)
		f.consume(f.queue(other).Consume, nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		before := network.Requests(reading)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := network.Requests(reading) - before; n < 18 || n > 22 {
			f.t.Errorf("%d reads in ten minutes, want one every 30 s", n)
		}
	})
}

// An item whose data cannot be decompressed holds nobody up either.
func TestItemThatIsNotCompressed(t *testing.T) {
	both(t, suite.InVirtualTime, func(f *fixture) {
		f.put("x")
		first := f.path + "/" + f.items()[0]
		client, _, log := f.logged(framework.WithCompression())
		suite.OK(f.t, f.queue(client).Put(f.t.Context(), "y"))
		c := f.consume(f.queue(client).Consume, nil)
		c.want("y")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := strings.Count(log.String(), "item="+first); n != 1 {
			f.t.Errorf("the item is logged %d times:\n%s", n, log)
		}
	})
}

// What else is refused ends Consume, with an error that names it.
func TestRefusalsEndConsume(t *testing.T) {
	for _, c := range []struct {
		name   string
		locked bool
		path   func(f *fixture) string // what is not permitted
		not    framework.Perm
		want   func(f *fixture, item string) string // the path in the error
	}{
		{"list", true, func(f *fixture) string { return f.path }, framework.PermRead, func(f *fixture, _ string) string { return f.path }},
		{"list of the locks", true, func(f *fixture) string { return f.locks }, framework.PermRead, func(f *fixture, _ string) string { return f.locks }},
		{"lock node", true, func(f *fixture) string { return f.locks }, framework.PermCreate, func(f *fixture, item string) string { return f.locks + "/" + item }},
		{"delete", false, func(f *fixture) string { return f.path }, framework.PermDelete, func(f *fixture, item string) string { return f.path + "/" + item }},
	} {
		t.Run(c.name, func(t *testing.T) {
			suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b, c.locked)
				f.put("x")
				item := f.items()[0]
				if c.locked {
					suite.Got(f.observer.Create().ForPath(t.Context(), f.locks)).OK(t)
				}
				f.permit(c.path(f), framework.PermAll&^c.not)
				err := f.queue(f.observer).Consume(t.Context(), func(context.Context, message) error { return nil })
				f.permit(c.path(f), framework.PermAll)
				var failed *framework.OpError
				if !errors.Is(err, framework.ErrNoAuth) || !errors.As(err, &failed) || failed.Path != c.want(f, item) {
					t.Errorf("error %v, want one of %s", err, c.want(f, item))
				}
			})
		})
	}
}

// A watch that is refused ends Consume, too: ZooKeeper never refuses one, a server of another make may.
func TestRefusedWatchEndsConsume(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		f.put("x")
		b.Server().Inject(curatortest.Rule{Op: "addWatch", Path: f.locks, Do: curatortest.Fail(zkconn.ErrNoAuth)})
		err := f.queue(f.observer).Consume(t.Context(), func(context.Context, message) error { return nil })
		var failed *framework.OpError
		if !errors.Is(err, framework.ErrNoAuth) || !errors.As(err, &failed) || failed.Path != f.locks {
			t.Errorf("error %v, want one of %s", err, f.locks)
		}
	})
}

// After a function that failed, and after a settlement that is refused, a consumer pauses: 10 ms at first,
// and at most a second.
func TestPauseAfterFailure(t *testing.T) {
	for name, refuse := range map[string]bool{"function": false, "settlement": true} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b, true)
				f.put("x")
				if refuse {
					f.permit(f.path, framework.PermAll&^framework.PermDelete)
				}
				var calls []time.Time
				broken := true
				c := f.consume(f.queue(f.observer).Consume, func(context.Context, message) error {
					calls = append(calls, time.Now())
					if !refuse && broken {
						return errors.New("the function fails")
					}
					return nil
				})
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				c.stop()
				if len(calls) < 600 || len(calls) > 610 {
					t.Errorf("%d calls in ten minutes", len(calls))
				}
				want := 10 * time.Millisecond
				for i := 1; i < min(12, len(calls)); i++ {
					if pause := calls[i].Sub(calls[i-1]); pause != want {
						t.Errorf("a pause of %v behind call %d, want %v", pause, i, want)
					}
					want = min(2*want, time.Second)
				}
			})
		})
	}
}

// A success begins the pauses again, and another consumer does not wait for them.
func TestPauseEndsWithSuccess(t *testing.T) {
	both(t, suite.InVirtualTime, func(f *fixture) {
		var calls []time.Time
		fails := map[string]int{"bad": 8, "again": 1}
		c := f.consume(f.queue(f.observer).Consume, func(_ context.Context, m message) error {
			calls = append(calls, time.Now())
			if fails[m.Item]--; fails[m.Item] >= 0 {
				return errors.New("the function fails")
			}
			return nil
		})
		f.put("bad")
		if f.locks == "" { // each failure takes an item
			for range 8 {
				f.put("bad")
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		f.put("again", "good")
		time.Sleep(time.Minute)
		synctest.Wait()
		c.stop()
		if n := len(calls); n < 11 || calls[8].Sub(calls[7]) != time.Second {
			f.t.Fatalf("calls at %v", calls)
		}
		if pause := calls[10].Sub(calls[9]); pause != 10*time.Millisecond {
			f.t.Errorf("a pause of %v behind the first failure after a success", pause)
		}
	})
}

// locked puts the item "x", and has a rival lock it while the consumer tries to, which loses its connection, and does not
// know whether it has created the lock node. Nobody else may read that: newer servers do not say whose it is.
func (f *fixture) locked(network *suite.Network, rival *framework.Client) (lock string) {
	var name string
	hit := network.On(jute.OpCreate2, suite.CutBefore, func() {
		name = f.items()[0]
		suite.Got(rival.Create().WithMode(framework.Ephemeral).WithACL(framework.CreatorAllACL()...).
			ForPath(f.t.Context(), f.locks+"/"+name)).OK(f.t)
	})
	f.put("x")
	<-hit
	return f.locks + "/" + name
}

// A lock node that may not be read is another consumer's: it is left alone, and Consume goes on.
func TestUnreadableLock(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		rival, _ := b.Client(t, framework.WithAuthorization("digest", []byte("rival:password")))
		client, network := b.Client(t)
		c := f.consume(f.queue(client).Consume, nil)
		f.put("warm-up")
		c.want("warm-up")
		f.drained()
		lock := f.locked(network, rival)
		f.put("y")
		c.want("warm-up", "y")
		suite.OK(t, rival.Delete().ForPath(t.Context(), lock))
		network.Cut() // the server tells nothing of the lock node to a client that may not read it
		c.want("warm-up", "y", "x")
		f.drained()
		c.stop()
		f.nothingLeft()
	})
}

// An item that may not be read any more is there: it was not consumed by a transaction whose reply was lost.
func TestUnreadableItemIsThere(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		f.put("x")
		client, network, log := f.logged()
		name := f.items()[0]
		hit := network.On(jute.OpMulti, suite.Late, func() {
			f.permit(f.path+"/"+name, framework.PermAll&^framework.PermRead)
			f.delete(f.locks + "/" + name)
		})
		c := f.consume(f.queue(client).Consume, nil)
		<-hit
		suite.Eventually(t, "the end of the delivery", func() bool {
			return strings.Contains(log.String(), "the lock of an item was lost")
		})
		f.permit(f.path+"/"+name, framework.PermAll)
		c.want("x", "x")
		f.drained()
		c.stop()
		f.nothingLeft()
	})
}
