package barriers_test

import (
	"context"
	"errors"
	"flag"
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
	wants  [][]bool        // by round and member: in an Enter that has not failed, or past it
	leaves [][]bool        // has called Leave, or was lost
	guests map[[2]int]bool // by round and member: was in after it had given up
	early  []departed
	gates  []chan struct{}
	over   []sync.WaitGroup // the Leaves of a round
}

// departed is a Leave that was through before a member had called Leave.
type departed struct{ round, id, other int }

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
	r := &rounds{t: t, path: path, members: members, over: make([]sync.WaitGroup, n), guests: map[[2]int]bool{}}
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

// entered fails unless all members want to be in.
func (r *rounds) entered(round, id int) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, wants := range r.wants[round] {
		if !wants {
			r.t.Errorf("round %d (%+v): member %d is in, though member %d is not there", round, r.plans[round], id, other)
		}
	}
}

// left notes which members have not called Leave.
func (r *rounds) left(round, id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, leaves := range r.leaves[round] {
		if !leaves {
			r.early = append(r.early, departed{round, id, other})
		}
	}
}

// check fails if a Leave was through too early. Nobody waits for a member that was counted while
// it gave up: it is in as a guest.
func (r *rounds) check() {
	r.t.Helper()
	for _, d := range r.early {
		if !r.guests[[2]int{d.round, d.other}] {
			r.t.Errorf("round %d (%+v): member %d has left, though member %d has not called Leave", d.round, r.plans[d.round], d.id, d.other)
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
			if wait.For(ctx, time.Duration(random.IntN(40))*time.Millisecond) == nil {
				m.network.Cut()
			}
		})
	}
	if err := m.enter(ctx, round, mine, p.fault); err != nil {
		return err
	}
	m.entered(round, m.id)
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
		m.left(round, m.id)
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
		if short.Err() != nil && err == nil {
			m.mu.Lock()
			m.guests[[2]int{round, m.id}] = true
			m.mu.Unlock()
		}
		cancel()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		m.note(m.wants[round], m.id, false)
	}
}

var roundsFlag = flag.Int("rounds", 0, "rounds of each number of members in TestRounds; 0 is 80 for two and three members, and 15 for more")

// Nobody is through Enter before all have called it, nor through Leave.
func TestRounds(t *testing.T) {
	for _, members := range []int{2, 3, 4, 5, 8, 16} {
		n := *roundsFlag
		if n == 0 {
			n = 15
			if members <= 3 {
				n = 80
			}
		}
		t.Run(fmt.Sprint(members), func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				r := newRounds(t, b.Path("barrier"), members, n, rand.New(rand.NewPCG(uint64(members), 0)))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var playing sync.WaitGroup
				for id := range members {
					client, network := b.Client(t, framework.WithSessionTimeout(suite.LongSession))
					barrier := suite.Got(barriers.NewDistributedDoubleBarrier(client, r.path, members)).OK(t)
					m := &roundMember{r, id, rand.New(rand.NewPCG(uint64(members), uint64(id+1))), client, network, barrier}
					playing.Go(func() {
						if err := m.run(ctx); err != nil {
							t.Error(err)
							cancel()
						}
					})
				}
				playing.Wait()
				r.check()
			})
		})
	}
}
