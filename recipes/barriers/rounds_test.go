package barriers_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/barriers"
)

// rounds is a number of members that go through one round after the other, while things happen
// to them, and the referee of that.
type rounds struct {
	t       *testing.T
	path    string
	members int
	plans   []plan

	mu     sync.Mutex
	wants  [][]bool // by round and member: in an Enter that has not failed, or past it
	leaves [][]bool // has called Leave, or was lost
	gates  []chan struct{}
	over   []sync.WaitGroup // the Leaves of a round
}

// plan is what happens in a round to one member.
type plan struct {
	victim int
	fault  fault
}

type fault int

const (
	nothing          fault = iota
	givesUp                // leaves an Enter before the others come, and comes again
	expiresEntering        // its session ends before the others come
	expiresInside          // its session ends between Enter and Leave
	disconnects            // its connection ends again and again
	faultsOfOneRound = iota
)

func newRounds(t *testing.T, path string, members, n int, random *rand.Rand) *rounds {
	r := &rounds{t: t, path: path, members: members, over: make([]sync.WaitGroup, n)}
	for i := range n {
		r.plans = append(r.plans, plan{random.IntN(members), fault(random.IntN(faultsOfOneRound))})
		r.wants = append(r.wants, make([]bool, members))
		r.leaves = append(r.leaves, make([]bool, members))
		r.gates = append(r.gates, make(chan struct{}))
		r.over[i].Add(members)
	}
	return r
}

// note sets a mark of a member.
func (r *rounds) note(marks []bool, id int, mark bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	marks[id] = mark
}

// all fails unless all members have the mark.
func (r *rounds) all(round, id int, marks []bool, what string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, mark := range marks {
		if !mark {
			r.t.Errorf("round %d (%+v): member %d is through, though member %d has not %s", round, r.plans[round], id, other, what)
		}
	}
}

// expire ends the session, which there must be for that.
func (m *roundMember) expire(ctx context.Context) error {
	if _, err := m.client.CheckExists().ForPath(ctx, m.path); err != nil {
		return err
	}
	m.network.Expire(m.t)
	return nil
}

// roundMember is one of them.
type roundMember struct {
	*rounds
	id      int
	random  *rand.Rand
	client  *framework.Client
	network *suite.Network
	barrier *barriers.DistributedDoubleBarrier
}

func (m *roundMember) pause(ctx context.Context) {
	_ = wait.For(ctx, time.Duration(m.random.IntN(20))*time.Millisecond)
}

func (m *roundMember) run(ctx context.Context) error {
	for round := range m.plans {
		m.pause(ctx)
		if err := m.play(ctx, round); err != nil {
			return fmt.Errorf("round %d (%+v), member %d: %w", round, m.plans[round], m.id, err)
		}
	}
	return nil
}

// play plays a round.
func (m *roundMember) play(ctx context.Context, round int) error {
	p := m.plans[round]
	mine := p.victim == m.id
	if mine && p.fault == disconnects {
		ctx, cancel := context.WithCancel(ctx)
		var cutting sync.WaitGroup
		defer cutting.Wait()
		defer cancel()
		cutting.Go(func() {
			random := rand.New(rand.NewPCG(uint64(round), uint64(m.id)))
			for range 3 {
				if wait.For(ctx, time.Duration(random.IntN(20))*time.Millisecond) == nil {
					m.network.Cut()
				}
			}
		})
	}
	if err := m.enter(ctx, round, mine, p.fault); err != nil {
		return err
	}
	m.all(round, m.id, m.wants[round], "called Enter")
	m.pause(ctx)
	if mine && p.fault == expiresInside {
		m.note(m.leaves[round], m.id, true) // counts as having left
		if err := m.expire(ctx); err != nil {
			return err
		}
		m.pause(ctx)
	}
	m.note(m.leaves[round], m.id, true)
	err := m.barrier.Leave(ctx)
	if err == nil {
		m.all(round, m.id, m.leaves[round], "called Leave")
	}
	m.over[round].Done()
	if mine && p.fault == expiresInside {
		if !errors.Is(err, barriers.ErrMemberLost) {
			return fmt.Errorf("lost, and Leave returns: %w", err)
		}
		m.over[round].Wait() // or it would come late to the same round
		return nil
	}
	return err
}

func (m *roundMember) enter(ctx context.Context, round int, mine bool, f fault) error {
	if !mine {
		select {
		case <-m.gates[round]: // see below: the victim has come first
		case <-ctx.Done():
			return ctx.Err()
		}
		m.note(m.wants[round], m.id, true)
		return m.barrier.Enter(ctx)
	}
	m.note(m.wants[round], m.id, true)
	switch f {
	case givesUp:
		short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
		defer cancel()
		if err := m.barrier.Enter(short); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("nobody else has come, and Enter returns %w", err)
		}
		m.note(m.wants[round], m.id, false)
		close(m.gates[round])
		return m.insist(ctx, round)
	case expiresEntering:
		entered := make(chan error, 1)
		go func() { entered <- m.barrier.Enter(ctx) }()
		m.pause(ctx)
		err := m.expire(ctx)
		close(m.gates[round])
		return errors.Join(err, <-entered)
	}
	close(m.gates[round])
	return m.barrier.Enter(ctx)
}

// insist gives up now and then while the others come.
func (m *roundMember) insist(ctx context.Context, round int) error {
	for {
		short, cancel := context.WithTimeout(ctx, time.Duration(m.random.IntN(15))*time.Millisecond)
		m.note(m.wants[round], m.id, true)
		err := m.barrier.Enter(short)
		cancel()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		m.note(m.wants[round], m.id, false)
	}
}

// B2: nobody is through Enter before all have called it, nor through Leave.
func TestRounds(t *testing.T) {
	const n = 200
	for members := 2; members <= 16; members++ {
		t.Run(fmt.Sprint(members), func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				r := newRounds(t, b.Path("barrier"), members, n, rand.New(rand.NewPCG(uint64(members), 0)))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var playing sync.WaitGroup
				for id := range members {
					client, network := b.Client(t)
					barrier, err := barriers.NewDistributedDoubleBarrier(client, r.path, members)
					if err != nil {
						t.Fatal(err)
					}
					m := &roundMember{r, id, rand.New(rand.NewPCG(uint64(members), uint64(id+1))), client, network, barrier}
					playing.Go(func() {
						if err := m.run(ctx); err != nil {
							t.Error(err)
							cancel()
						}
					})
				}
				playing.Wait()
			})
		})
	}
}
