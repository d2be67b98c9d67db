// Package nemesis attacks a run: its servers, its network, its workers, their sessions and their
// nodes, by chance from a seed. Several lanes attack at the same time, each one fault after the
// other, so that faults meet each other. The servers are one lane: most of them run at any time.
//
// The seed decides which faults are made, in which order, on whom and for how long. It does not
// decide what the system makes of them: two runs with one seed are two different runs.
package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/wait"
)

// Nemesis makes faults.
type Nemesis struct {
	Target
	kinds []string
	seed  uint64
	pace  float64

	mu     sync.Mutex
	made   map[string]int
	missed map[string]int
}

// New returns a nemesis that makes faults of some kinds; if there are none, all kinds that ZooKeeper
// survives. Its pauses are
// multiplied by pace. A kind that there is not is an error.
func New(t Target, kinds []string, seed uint64, pace float64) (*Nemesis, error) {
	for _, kind := range kinds {
		if !slices.Contains(Kinds(), kind) {
			return nil, fmt.Errorf("there is no fault %q; there are %v", kind, Kinds())
		}
	}
	if len(kinds) == 0 {
		kinds = slices.DeleteFunc(Kinds(), func(kind string) bool { return slices.Contains(asked(), kind) })
	}
	return &Nemesis{Target: t, kinds: kinds, seed: seed, pace: pace, made: map[string]int{}, missed: map[string]int{}}, nil
}

// Kinds returns the kinds of faults.
func Kinds() (names []string) {
	for _, l := range lanes() {
		for _, f := range l.faults {
			names = append(names, f.kind)
		}
	}
	return names
}

// Made returns how many faults of each kind were made, and how many could not be: a session, for
// example, cannot be ended while no server answers.
func (n *Nemesis) Made() (made, missed map[string]int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.made, n.missed
}

// Run attacks until ctx ends, and then heals everything but killed servers.
func (n *Nemesis) Run(ctx context.Context) {
	var running sync.WaitGroup
	for i, l := range lanes() {
		faults := slices.DeleteFunc(l.faults, func(f fault) bool { return !slices.Contains(n.kinds, f.kind) })
		if len(faults) == 0 {
			continue
		}
		random := rand.New(rand.NewPCG(n.seed, uint64(i)))
		running.Go(func() {
			for n.pause(ctx, random, l.pause) {
				n.make(ctx, pick(random, faults), random)
			}
		})
	}
	running.Wait()
	n.rightClocks()
}

// pause waits for a random time. It is false when ctx has ended.
func (n *Nemesis) pause(ctx context.Context, random *rand.Rand, mean time.Duration) bool {
	return wait.For(ctx, time.Duration(random.Float64()*2*float64(mean)*n.pace)) == nil
}

// pick returns one of the faults by its weight.
func pick(random *rand.Rand, faults []fault) fault {
	sum := 0
	for _, f := range faults {
		sum += f.weight
	}
	at := random.IntN(sum)
	for _, f := range faults {
		if at -= f.weight; at < 0 {
			return f
		}
	}
	return faults[len(faults)-1]
}

// make makes one fault.
func (n *Nemesis) make(ctx context.Context, f fault, random *rand.Rand) {
	a := &attack{Target: n.Target, kind: f.kind, random: random}
	begun := func() (begun bool) {
		defer func() {
			switch broken := recover().(type) {
			case nil:
			case Broken:
				a.note(history.Healed, "not made: "+broken.Text)
				begun = false
			default:
				panic(broken)
			}
		}()
		return f.do(ctx, a)
	}()
	n.mu.Lock()
	defer n.mu.Unlock()
	if begun {
		n.made[f.kind]++
	} else {
		n.missed[f.kind]++
	}
}

// fault is a kind of fault. It tells whether it was made.
type fault struct {
	kind   string
	weight int
	do     func(ctx context.Context, a *attack) bool
}

// asked are the kinds that are made only if they are asked for by name: what ZooKeeper itself does
// not survive. A leader whose disk is full can lose writes that were acknowledged, in 3.8.0.
func asked() []string { return []string{leaderDisk} }

const leaderDisk = "leader-disk-full"

// WallClock is the kind of the steps of wall clocks.
const WallClock = "wall-clock"

// lane makes its faults one after the other.
type lane struct {
	pause  time.Duration // between them, on average
	faults []fault
}

// lanes are all that there are.
func lanes() []lane {
	return []lane{
		{3 * time.Second, []fault{
			{"server-killed", 3, serverKilled},
			{"server-paused", 3, serverPaused},
			{"server-restarted", 2, serverRestarted},
			{"server-disk-full", 2, serverDiskFull},
			{leaderDisk, 2, leaderDiskFull},
			{"leader-deposed", 3, leaderDeposed},
			{"peers-silent", 3, peersSilent},
			{"peers-silent-one-way", 3, peersSilentOneWay},
			{"peers-late", 2, peersLate},
		}},
		{700 * time.Millisecond, []fault{
			{"clients-silent", 3, clientsSilent},
			{"clients-silent-one-way", 3, clientsSilentOneWay},
			{"clients-late", 2, clientsLate},
			{"clients-jitter", 2, clientsJitter},
			{"clients-reset", 3, clientsReset},
		}},
		{400 * time.Millisecond, []fault{
			{"node-deleted", 10, nodeDeleted},
			{"node-deleted-unheard", 2, nodeDeletedUnheard},
			{"lock-deleted", 2, lockDeleted},
			{"session-ended", 3, sessionEnded},
			{"disconnected", 5, disconnected},
		}},
		{2500 * time.Millisecond, []fault{
			{"worker-stopped", 4, workerStopped},
			{"foreign-stopped", 1, foreignStopped},
		}},
		{4 * time.Second, []fault{
			{"worker-killed", 8, workerKilled},
			{"foreign-killed", 1, foreignKilled},
		}},
		{1500 * time.Millisecond, []fault{
			{WallClock, 1, wallClock},
		}},
	}
}
