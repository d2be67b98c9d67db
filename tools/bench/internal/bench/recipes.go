package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/recipes/nodes"
	recipe "github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// increments lets clients increment a number repeatedly. The peer for Java has the same retry policy.
func increments(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error) {
	clients, err := l.ours(ctx, w.clients)
	if err != nil {
		return measure.Run{}, err
	}
	policy := retry.NTimes(10_000, time.Millisecond)
	locks := make([]lock, len(clients))
	for i, client := range clients {
		number, err := atomics.NewDistributedAtomicLong(client, path, policy)
		if err != nil {
			return measure.Run{}, err
		}
		locks[i] = reads(func(ctx context.Context) error {
			_, err := number.Increment(ctx)
			return err
		})
	}
	return l.cycles(ctx, locks, t)
}

// barrierRounds lets clients enter and leave a double barrier together repeatedly. An operation is an Enter
// and a Leave of one client. Each round has its own path, because Java's members wait forever in a
// second round at the same path.
func barrierRounds(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error) {
	clients, err := l.ours(ctx, w.clients)
	if err != nil {
		return measure.Run{}, err
	}
	play := func(name string, d time.Duration, recorders []*measure.Recorder) (operations int, err error) {
		referee := newReferee(time.Now().Add(d))
		var playing sync.WaitGroup
		errs := make([]error, len(clients))
		counts := make([]int, len(clients))
		for i, client := range clients {
			playing.Go(func() {
				for round := 0; referee.again(round) && errs[i] == nil; round++ {
					begin := time.Now()
					errs[i] = playRound(ctx, client, fmt.Sprintf("%s/%s-%d", path, name, round), len(clients))
					recorders[i].Add(time.Since(begin))
					counts[i]++
				}
			})
		}
		playing.Wait()
		for i := range clients {
			operations += counts[i]
			if errs[i] != nil {
				err = errs[i]
			}
		}
		return operations, err
	}
	if _, err := play("warm-up", t.warmUp, measure.NewRecorders(len(clients))); err != nil {
		return measure.Run{}, err
	}
	recorders := measure.NewRecorders(len(clients))
	return l.measured(func() (int, []time.Duration, error) {
		operations, err := play("round", t.duration, recorders)
		return operations, measure.Merge(recorders), err
	})
}

func playRound(ctx context.Context, client *framework.Client, path string, members int) error {
	b, err := barriers.NewDistributedDoubleBarrier(client, path, members)
	if err != nil {
		return err
	}
	if err := b.Enter(ctx); err != nil {
		return err
	}
	return b.Leave(ctx)
}

// referee decides for all members whether there is another round.
type referee struct {
	mu     sync.Mutex
	end    time.Time
	rounds []bool
}

func newReferee(end time.Time) *referee { return &referee{end: end} }

func (r *referee) again(round int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if round == len(r.rounds) {
		r.rounds = append(r.rounds, time.Now().Before(r.end))
	}
	return r.rounds[round]
}

// backlog is the number of items of a queue when its consumer starts.
const backlog = 500

// queuePut lets one client put items, one after the other.
func queuePut(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	q, err := l.itemQueue(ctx, path, false)
	if err != nil {
		return measure.Run{}, err
	}
	put := reads(func(ctx context.Context) error { return q.Put(ctx, "item") })
	return l.cycles(ctx, []lock{put}, t)
}

// queueConsume lets one client consume a backlog, one item at a time. With leases the queue has a lock
// path. An operation is an item, and its latency the time since the previous item.
func queueConsume(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	q, err := l.itemQueue(ctx, path, w.leases > 0)
	if err != nil {
		return measure.Run{}, err
	}
	putters, putting := errgroup.WithContext(ctx)
	putters.SetLimit(32)
	for range w.waiters {
		putters.Go(func() error { return q.Put(putting, "item") })
	}
	if err := putters.Wait(); err != nil {
		return measure.Run{}, err
	}
	return l.measured(func() (int, []time.Duration, error) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		gaps := make([]time.Duration, 0, w.waiters)
		last := time.Now()
		err := q.Consume(ctx, func(context.Context, recipe.Message[string]) error {
			now := time.Now()
			gaps, last = append(gaps, now.Sub(last)), now
			if len(gaps) == w.waiters {
				stop()
			}
			return nil
		})
		if err == nil && len(gaps) < w.waiters {
			err = errors.New("the queue was not drained")
		}
		return len(gaps), gaps, err
	})
}

// itemQueue returns a queue of the first client. It is for our own peer only.
func (l *local) itemQueue(ctx context.Context, path string, locked bool) (*recipe.DistributedQueue[string], error) {
	clients, err := l.ours(ctx, 1)
	if err != nil {
		return nil, err
	}
	var opts []recipe.Option
	if locked {
		opts = append(opts, recipe.WithLockPath(path+"-locks"))
	}
	return recipe.NewDistributedQueue(clients[0], path, codec.String(), opts...)
}

// groupJoin lets w.waiters members, which share the clients, join a group at the same time. An operation is a
// member, and its latency the time until it knows all members.
func groupJoin(ctx context.Context, l *local, w workload, path string, _ timing) (_ measure.Run, err error) {
	members, err := l.members(ctx, w.clients, w.waiters, path)
	if err != nil {
		return measure.Run{}, err
	}
	defer func() {
		for _, m := range members {
			err = errors.Join(err, m.Close(ctx))
		}
	}()
	return l.measured(func() (int, []time.Duration, error) {
		took := make([]time.Duration, len(members))
		begin := time.Now()
		joining, ctx := errgroup.WithContext(ctx)
		for i, m := range members {
			joining.Go(func() error {
				if err := m.Start(ctx); err != nil {
					return err
				}
				for all := range m.Updates(ctx) {
					if len(all) == len(members) {
						took[i] = time.Since(begin)
						return nil
					}
				}
				return ctx.Err()
			})
		}
		err := joining.Wait()
		return len(members), took, err
	})
}

// members returns n members of a group, which share the clients. It is for our own peer only.
func (l *local) members(ctx context.Context, clients, n int, path string) ([]*nodes.GroupMember, error) {
	ours, err := l.ours(ctx, clients)
	if err != nil {
		return nil, err
	}
	members := make([]*nodes.GroupMember, n)
	for i := range members {
		if members[i], err = nodes.NewGroupMember(ours[i%len(ours)], path, fmt.Sprintf("member-%d", i), []byte("payload")); err != nil {
			return nil, err
		}
	}
	return members, nil
}
