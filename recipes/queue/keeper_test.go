package queue_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/internal/suite"
)

// ClickHouse Keeper knows no persistent watches, and grants another session on a reconnect. A consumer gets every item all
// the same, once.
func TestKeeper(t *testing.T) {
	for name, locked := range map[string]bool{"at least once": true, "at most once": false} {
		t.Run(name, func(t *testing.T) {
			suite.Keeper(t, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b, locked)
				f.put("a")
				client, _ := b.Client(t)
				c := f.consume(f.queue(client).Consume, nil)
				want := []string{"a"}
				c.want(want...)
				f.drained()
				for i := range 3 {
					b.Server().DisconnectSession(client.SessionID())
					item := fmt.Sprint(i)
					f.put(item)
					want = append(want, item)
					c.want(want...)
					f.drained()
				}
				session := client.SessionID()
				f.put("last")
				c.want(append(want, "last")...)
				synctest.Wait()
				if client.SessionID() != session {
					t.Error("the queue goes on ending sessions")
				}
			})
		})
	}
}

// When a consumer's session ends, the context of its function ends, and another consumer gets the item.
func TestKeeperEndsClaims(t *testing.T) {
	suite.Keeper(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		f.put("a")
		client, _ := b.Client(t)
		told := make(chan error, 1)
		first := f.consume(f.queue(client).Consume, func(ctx context.Context, _ message) error {
			<-ctx.Done()
			told <- ctx.Err()
			return ctx.Err()
		})
		first.want("a")
		second := f.consume(f.queue(f.observer).Consume, nil)
		b.Server().DisconnectSession(client.SessionID())
		suite.Eventually(t, "the end of the context", func() bool { return len(told) > 0 })
		first.stop()
		second.want("a")
		f.drained()
	})
}

// Take hears of an item that comes after its client got another session.
func TestKeeperTake(t *testing.T) {
	suite.Keeper(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, false)
		suite.Got(f.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), f.path)).OK(t)
		client, _ := b.Client(t)
		taken := make(chan string, 1)
		go func() {
			data, err := f.simple(client).Take(t.Context())
			taken <- fmt.Sprint(string(data), err)
		}()
		for range 3 {
			suite.AwaitWatches(t, client, 2) // on the node, and on its children
			session := client.SessionID()
			b.Server().DisconnectSession(session)
			suite.Eventually(t, "another session", func() bool { return client.SessionID() != session && client.SessionID() != 0 })
		}
		suite.AwaitWatches(t, client, 2)
		suite.OK(t, f.simple(f.observer).Offer(t.Context(), []byte("x")))
		suite.Eventually(t, "the item", func() bool { return len(taken) > 0 })
		if got := <-taken; got != "x<nil>" {
			t.Errorf("took %s", got)
		}
	})
}
