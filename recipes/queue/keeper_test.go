package queue_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/internal/suite"
)

// On ClickHouse Keeper, which knows no persistent watches and grants another session on a reconnect, consumers get every
// item, and those of an item at most once that nobody has.
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

// An item is given to another consumer when the session of the first one has ended, which is told so.
func TestKeeperEndsClaims(t *testing.T) {
	suite.Keeper(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, true)
		f.put("a")
		client, _ := b.Client(t)
		told := make(chan struct{})
		first := f.consume(f.queue(client).Consume, func(ctx context.Context, _ message) error {
			<-ctx.Done()
			close(told)
			return ctx.Err()
		})
		first.want("a")
		second := f.consume(f.queue(f.observer).Consume, nil)
		b.Server().DisconnectSession(client.SessionID())
		<-told
		first.stop()
		second.want("a")
		f.drained()
	})
}

// Take hears of an item that comes after its client got another session.
func TestKeeperTake(t *testing.T) {
	suite.Keeper(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, false)
		client, _ := b.Client(t)
		taken := make(chan string)
		go func() {
			data, err := f.simple(client).Take(t.Context())
			taken <- fmt.Sprint(string(data), err)
		}()
		for range 3 {
			synctest.Wait()
			b.Server().DisconnectSession(client.SessionID())
		}
		suite.OK(t, f.simple(f.observer).Offer(t.Context(), []byte("x")))
		if got := <-taken; got != "x<nil>" {
			t.Errorf("took %s", got)
		}
	})
}
