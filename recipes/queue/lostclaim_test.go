package queue_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// The reply to a claim is lost, and the server of the next connection is behind. It refuses the sync that
// the session layer sends first, once or again and again.
func TestClaimLostAndSyncRefused(t *testing.T) {
	for name, times := range map[string]int{"once": 1, "three times": 3} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b, true)
				f.put("first")
				client, network := b.Client(t)
				c := f.consume(f.queue(client).Consume, nil)
				time.Sleep(time.Minute)
				network.Lag()
				hit := network.On(jute.OpCreate2, suite.CutAfter, nil)
				b.Server().Inject(curatortest.Rule{Op: "sync", SessionID: client.SessionID(), Times: times, Do: curatortest.Fail(zkconn.ErrThrottled)})
				f.put("item")
				<-hit
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				if got := c.items(); !slices.Equal(got, []string{"first", "item"}) {
					t.Errorf("ten minutes later: got %q, locks %v", got, f.lockNodes())
				}
			})
		})
	}
}

// A consumer ends while it does not know whether it has made a lock node. The node is that of another consumer, which
// works on the item, and stays.
func TestClaimInDoubtOfAnothersLock(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		f.put("first") // with it the lock path is created
		client, network := b.Client(t, framework.WithSessionTimeout(suite.LongSession))
		c := f.consume(f.queue(client).Consume, nil)
		c.want("first")
		f.drained()
		var heal func()
		hit := network.On(jute.OpCreate2, suite.CutBefore, func() {
			create := f.observer.Create().WithMode(framework.Ephemeral)
			suite.Got(create.ForPath(t.Context(), f.locks+"/"+f.items()[0])).OK(t)
			heal = network.Isolate()
		})
		f.put("item")
		<-hit
		c.cancel()
		<-c.ended
		heal()
		time.Sleep(suite.LongSession / 4)
		synctest.Wait()
		if locks := f.lockNodes(); len(locks) != 1 {
			t.Errorf("the locks are %q", locks)
		}
		if got := c.items(); !slices.Equal(got, []string{"first"}) {
			t.Errorf("got %q", got)
		}
	})
}

// The reply to a claim is lost, and the server of the next connection has no quorum and is behind: it does
// not show the lock node. Later there is a quorum again, in time or too late for the session.
func TestClaimLostAndReadOnly(t *testing.T) {
	for name, after := range map[string]time.Duration{"session lives": suite.LongSession / 8, "session over": 10 * suite.LongSession} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b, true)
				f.put("first") // with it the lock path is created
				client, network := b.Client(t, framework.WithReadOnly(), framework.WithSessionTimeout(suite.LongSession))
				c := f.consume(f.queue(client).Consume, nil)
				time.Sleep(time.Minute)
				var restore func()
				hit := network.On(jute.OpCreate2, suite.CutAfter, func() { restore = network.WithoutQuorum() })
				f.put("item")
				<-hit
				time.Sleep(after)
				if now := client.ConnectionState(); now != state.ReadOnly {
					t.Errorf("the connection is %v", now)
				}
				restore()
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				if got := c.items(); !slices.Equal(got, []string{"first", "item"}) {
					t.Errorf("ten minutes later: got %q, locks %v", got, f.lockNodes())
				}
				c.stop()
				f.nothingLeft()
			})
		})
	}
}
