package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/queue"
)

func (f *fixture) simple(client *framework.Client) *queue.SimpleDistributedQueue {
	f.t.Helper()
	q := suite.Got(queue.NewSimpleDistributedQueue(client, f.path)).OK(f.t)
	return q
}

func wantData(t *testing.T, want string) func(data []byte, err error) {
	return func(data []byte, err error) {
		t.Helper()
		if err != nil || string(data) != want {
			t.Errorf("got %q, %v; want %q", data, err, want)
		}
	}
}

// The simple queue, from end to end; foreign nodes are passed over.
func TestSimple(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, false)
		ctx, q := t.Context(), f.simple(f.observer)
		for _, take := range []func(context.Context) ([]byte, error){q.Peek, q.Poll} {
			suite.Got(take(ctx)).Fails(t, queue.ErrEmpty)
		}
		for _, data := range []string{"a", "", "c", "d"} {
			suite.OK(t, q.Offer(ctx, []byte(data)))
		}
		f.create("a-foreign-node", "")
		wantData(t, "a")(q.Peek(ctx))
		wantData(t, "a")(q.Poll(ctx))
		wantData(t, "")(q.Take(ctx))
		f.delete(f.path + "/qn-0000000002")
		wantData(t, "d")(q.Peek(ctx))
		wantData(t, "d")(q.Take(ctx))
		suite.Got(q.Poll(ctx)).Fails(t, queue.ErrEmpty)

		waits, cancel := context.WithCancel(ctx)
		defer cancel()
		taken := make(chan error)
		go func() {
			_, err := q.Take(waits)
			taken <- err
		}()
		f.awaitWatches()
		cancel()
		suite.WantErr(t, <-taken, queue.ErrEmpty, context.Canceled)
		f.nothingLeft()
	})
}

// Q14: Take goes on when the queue's node goes and comes again, and after faults.
func TestQ14TakeWaits(t *testing.T) {
	for name, fault := range map[string]func(f *fixture, n *suite.Network){
		"nothing":        func(*fixture, *suite.Network) {},
		"queue deleted":  func(f *fixture, _ *suite.Network) { f.delete(f.path) },
		"suspended":      func(_ *fixture, n *suite.Network) { n.Cut() },
		"session lost":   func(f *fixture, n *suite.Network) { n.Expire(f.t) },
		"lagging server": func(_ *fixture, n *suite.Network) { n.Lag(); n.Cut() },
		"deleted while cut off": func(f *fixture, n *suite.Network) {
			heal := n.Isolate()
			f.delete(f.path)
			heal()
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b, false)
				suite.Got(f.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), f.path)).OK(t)
				client, network := b.Client(t)
				watched := network.On(jute.OpAddWatch, suite.Late, nil)
				taken := make(chan string)
				go func() {
					data, err := f.simple(client).Take(t.Context())
					taken <- fmt.Sprint(string(data), err)
				}()
				<-watched
				suite.Eventually(t, "the watch and a look behind it", func() bool { return network.Requests(jute.OpGetChildren2) >= 2 })
				fault(f, network)
				suite.OK(t, f.simple(f.observer).Offer(t.Context(), []byte("x")))
				if got := <-taken; got != "x<nil>" {
					t.Errorf("took %s", got)
				}
				f.nothingLeft()
			})
		})
	}
}

// A poll whose deletion is in doubt says so, and nobody gets the item.
func TestPollInDoubt(t *testing.T) {
	for fate, applied := range map[suite.Fate]bool{suite.CutBefore: false, suite.CutAfter: true} {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			f := newFixture(t, b, false)
			client, network := b.Client(t)
			q := f.simple(client)
			suite.OK(t, q.Offer(t.Context(), []byte("x")))
			network.On(jute.OpMulti, fate, nil)
			data, err := q.Poll(t.Context())
			if data != nil || !framework.MaybeApplied(err) {
				t.Errorf("got %q, %v; want an error that says that it is in doubt", data, err)
			}
			data, err = q.Poll(t.Context())
			if applied {
				suite.WantErr(t, err, queue.ErrEmpty)
			} else {
				wantData(t, "x")(data, err)
			}
			// An offer is not repeated either.
			network.On(jute.OpCreate2, fate, nil)
			err = q.Offer(t.Context(), []byte("y"))
			if left := len(f.items()); !framework.MaybeApplied(err) || (left == 1) != applied {
				t.Errorf("offer: %v, with %d nodes", err, left)
			}
		})
	}
}

// Histories of several producers and consumers, with lost replies among them, are those of a queue.
func TestHistories(t *testing.T) {
	for range 20 {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			f := newFixture(t, b, false)
			h := new(history)
			var all sync.WaitGroup
			for worker := range 4 {
				client, network := b.Client(t)
				q := f.simple(client)
				all.Go(func() {
					for n := range 6 {
						if n == 2+worker%3 {
							network.On([]jute.Op{jute.OpMulti, jute.OpCreate2}[worker%2], suite.CutAfter, nil)
						}
						if (n+worker)%2 == 0 {
							h.put(t.Context(), q, worker*100+n)
						} else {
							h.poll(t.Context(), q)
						}
					}
				})
			}
			all.Wait()
			if !h.linearizable() {
				t.Errorf("no queue behaves so:\n%s", h)
			}
		})
	}
}

// put records a put. One in doubt may take effect at any time from now on, or never.
func (h *history) put(ctx context.Context, q *queue.SimpleDistributedQueue, value int) {
	o := h.begin(opPut, value)
	err := q.Offer(ctx, fmt.Append(nil, value))
	h.end(o, value, err != nil)
}

// poll records a poll.
func (h *history) poll(ctx context.Context, q *queue.SimpleDistributedQueue) {
	o := h.begin(opPoll, 0)
	data, err := q.Poll(ctx)
	value := 0
	if err == nil {
		_, err = fmt.Sscan(string(data), &value)
	}
	h.end(o, value, err != nil && !errors.Is(err, queue.ErrEmpty))
}

// When ctx ends while an item is being taken, Poll and Take wait for the answer, and lose no item that was
// taken. If the answer does not come in the session timeout, the error is ctx's, and says that the item may
// be gone.
func TestEndsWhileTaking(t *testing.T) {
	for name, take := range map[string]func(*queue.SimpleDistributedQueue, context.Context) ([]byte, error){
		"Poll": (*queue.SimpleDistributedQueue).Poll, "Take": (*queue.SimpleDistributedQueue).Take,
		"Take, after a wait": func(q *queue.SimpleDistributedQueue, ctx context.Context) ([]byte, error) {
			time.AfterFunc(time.Second, func() { _ = q.Offer(context.Background(), []byte("x")) })
			return q.Take(ctx)
		},
	} {
		for _, answered := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, answered %t", name, answered), func(t *testing.T) {
				suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
					f := newFixture(t, b, false)
					client, network := b.Client(t)
					q := f.simple(client)
					if !strings.Contains(name, "wait") {
						suite.OK(t, q.Offer(t.Context(), []byte("x")))
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					var ended time.Time
					network.On(jute.OpMulti, suite.Late, func() {
						ended = time.Now()
						cancel()
						if answered {
							<-time.After(100 * time.Millisecond)
						} else {
							network.Isolate()
						}
					})
					data, err := take(q, ctx)
					took := time.Since(ended)
					if answered {
						wantData(t, "x")(data, err)
					} else if data != nil || !errors.Is(err, context.Canceled) || !framework.MaybeApplied(err) {
						t.Errorf("got %q, %v; want an error that is ctx's, and in doubt", data, err)
					}
					if took > suite.SessionTimeout {
						t.Errorf("it took %v behind the end of ctx", took)
					}
				})
			})
		}
	}
}

// Short waits on a healthy server lose nothing.
func TestShortTakes(t *testing.T) {
	t.Parallel()
	const takers, each = 4, 250
	suite.EachOf(t, suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, false)
		var taking sync.WaitGroup
		taken := make(chan string, takers*each)
		done := make(chan struct{})
		for taker := range takers {
			client, _ := b.Client(t)
			q := f.simple(client)
			taking.Go(func() {
				for i := range each {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+(i+taker)%10)*time.Millisecond)
					data, err := q.Take(ctx)
					cancel()
					switch {
					case err == nil:
						taken <- string(data)
					case framework.MaybeApplied(err) || !errors.Is(err, context.DeadlineExceeded):
						t.Errorf("take %d of taker %d: %v", i, taker, err)
					}
				}
			})
		}
		go func() {
			taking.Wait()
			close(done)
		}()
		offering, _ := b.Client(t)
		q, offered := f.simple(offering), map[string]bool{}
		for taking := true; taking; {
			select {
			case <-done:
				taking = false
			default:
				data := fmt.Sprint(len(offered))
				suite.OK(t, q.Offer(t.Context(), []byte(data)))
				offered[data] = true
			}
		}
		close(taken)
		all := len(offered)
		for data := range taken {
			delete(offered, data)
		}
		for {
			data, err := q.Poll(t.Context())
			if errors.Is(err, queue.ErrEmpty) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			delete(offered, string(data))
		}
		if len(offered) > 0 {
			t.Errorf("%d of %d items are lost: %v", len(offered), all, offered)
		}
	})
}
