package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// ours returns n sessions of our own peers, and errUnsupported for other peers.
func (l *local) ours(ctx context.Context, n int) ([]*curatorSession, error) {
	sessions, err := l.connect(ctx, n)
	if err != nil {
		return nil, err
	}
	all := make([]*curatorSession, n)
	for i, s := range sessions[:n] {
		c, ok := s.(*curatorSession)
		if !ok || c.v2 {
			return nil, errUnsupported
		}
		all[i] = c
	}
	return all, nil
}

// increments lets clients increment a number repeatedly. The peer for Java has the same retry policy.
func (l *local) increments(ctx context.Context, clients int, path string, t timing) (measure.Run, error) {
	sessions, err := l.ours(ctx, clients)
	if err != nil {
		return measure.Run{}, err
	}
	policy := retry.NTimes(10_000, time.Millisecond)
	locks := make([]lock, clients)
	for i, s := range sessions {
		number, err := atomics.NewDistributedAtomicLong(s.client, path, policy)
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

// rounds lets clients enter and leave a double barrier together repeatedly. An operation is an Enter
// and a Leave of one client. Each round has its own path, because Java's members wait forever in a
// second round at the same path.
func (l *local) rounds(ctx context.Context, clients int, path string, t timing) (measure.Run, error) {
	sessions, err := l.ours(ctx, clients)
	if err != nil {
		return measure.Run{}, err
	}
	play := func(name string, d time.Duration, recorders []*measure.Recorder) (operations int, err error) {
		referee := newReferee(time.Now().Add(d))
		var playing sync.WaitGroup
		errs := make([]error, clients)
		counts := make([]int, clients)
		for i, s := range sessions {
			playing.Go(func() {
				for round := 0; referee.again(round) && errs[i] == nil; round++ {
					begin := time.Now()
					errs[i] = s.round(ctx, fmt.Sprintf("%s/%s-%d", path, name, round), clients)
					recorders[i].Add(time.Since(begin))
					counts[i]++
				}
			})
		}
		playing.Wait()
		for i := range sessions {
			operations += counts[i]
			if errs[i] != nil {
				err = errs[i]
			}
		}
		return operations, err
	}
	if _, err := play("warm-up", t.warmUp, measure.NewRecorders(clients)); err != nil {
		return measure.Run{}, err
	}
	recorders := measure.NewRecorders(clients)
	return l.measured(func() (int, []time.Duration, error) {
		operations, err := play("round", t.duration, recorders)
		return operations, measure.Merge(recorders), err
	})
}

func (s *curatorSession) round(ctx context.Context, path string, members int) error {
	b, err := barriers.NewDistributedDoubleBarrier(s.client, path, members)
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
