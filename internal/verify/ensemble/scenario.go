package ensemble

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/tools/curatortest"
)

// scenario is a kind of fault, and the servers that the holders of the locks are connected to.
type scenario struct {
	name    string
	what    string
	holders place
	fault   fault

	ticks     []int // the session timeouts of the holders in ticks; nil for those of -timeouts
	apart     bool  // each timeout has its own rounds
	fullScale bool  // times are not scaled
	passes    bool  // the fault is healed when it returns, and no lease may be lost by it
	moves     bool  // holders know all servers, and may move to another one
}

// place is the server that holders are connected to.
type place int

const (
	onFollower place = iota
	onLeader
	everywhere
)

// manyTicks are timeouts in ticks, from the shortest that a server grants to the longest.
var manyTicks = []int{2, 3, 4, 5, 7, 10, 14, 20}

// scenarios returns all scenarios.
func scenarios() []scenario {
	return []scenario{
		{name: "A", what: "a follower cut off from the others, the holder still on it", holders: onFollower, fault: cutOff},
		{name: "A1", what: "as A, but the follower still hears the others", holders: onFollower, fault: cutOffOneWay},
		{name: "B", what: "a follower cut off from all servers and clients, right after it has answered a ping", holders: onFollower, fault: unplug},
		{name: "C", what: "as A, then cut off from the holder, too", holders: onFollower, fault: thenSilent(cutOff)},
		{name: "D", what: "a leader that is deposed and does not notice, the holder on it", holders: onLeader, fault: depose},
		{name: "D1", what: "a leader cut off from the others, which do not notice at once", holders: onLeader, fault: cutOff},
		{name: "D2", what: "as D, and the holder reconnects to the deposed leader", holders: onLeader, fault: thenReconnect(depose)},
		{name: "E", what: "as D, then cut off from the holder", holders: onLeader, fault: thenSilent(depose)},
		{name: "F", what: "the leader stopped for 0.3 to 2 ticks, then A", holders: onFollower, fault: afterStop(cutOff)},
		{name: "G", what: "a follower that lags by up to a tick, then A", holders: onFollower, fault: whenLagging(cutOff)},
		{name: "HA", what: "A with timeouts from 2 to 20 ticks", holders: onFollower, fault: cutOff, ticks: manyTicks},
		{name: "HC", what: "C with timeouts from 2 to 20 ticks", holders: onFollower, fault: thenSilent(cutOff), ticks: manyTicks},
		{name: "MA", what: "as A, and the holder knows all servers", holders: onFollower, fault: cutOff, moves: true},
		{name: "MC", what: "as C, and the holder knows all servers", holders: onFollower, fault: thenSilent(cutOff), moves: true},
		{name: "MD", what: "as D, and the holder knows all servers", holders: onLeader, fault: depose, moves: true},
		{name: "K", what: "the leader killed and restarted, at full scale", holders: everywhere, fault: restartLeader, fullScale: true, passes: true},
		{name: "L", what: "a fault that heals within 0.26 T", holders: onFollower, fault: passing, apart: true, passes: true},
	}
}

// Describe returns a line for each scenario.
func Describe() string { return describe(scenarios()) }

func describe(list []scenario) string {
	var lines strings.Builder
	for _, s := range list {
		fmt.Fprintf(&lines, "- %s: %s\n", s.name, s.what)
	}
	return lines.String()
}

// chooseScenarios returns the scenarios with the given names, or all.
func chooseScenarios(names []string) ([]scenario, error) {
	all := scenarios()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []scenario
	for _, name := range names {
		i := slices.IndexFunc(all, func(s scenario) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-scenarios: there is no scenario %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// timeouts returns the session timeouts of a scenario's holders, in nominal time.
func (s scenario) timeouts(asked []time.Duration, nominalTick time.Duration) []time.Duration {
	if len(s.ticks) == 0 {
		return asked
	}
	var timeouts []time.Duration
	for _, n := range s.ticks {
		timeouts = append(timeouts, time.Duration(n)*nominalTick)
	}
	return timeouts
}

// fault makes a fault. Parts that it does not heal itself are healed by field.heal.
type fault func(ctx context.Context, f *field) error

// cutOff silences the network between the faulty server and the other servers.
func cutOff(_ context.Context, f *field) error {
	f.until(f.faulty.Peers().Silence())
	return nil
}

// cutOffOneWay silences the network from the faulty server to the others. The other direction works.
func cutOffOneWay(_ context.Context, f *field) error {
	f.until(f.faulty.To().Silence())
	return nil
}

// unplug silences the network between the faulty server and all others, clients included, as soon as
// the server has answered a ping.
func unplug(ctx context.Context, f *field) error {
	if err := f.pinged(ctx); err != nil {
		return err
	}
	f.until(f.faulty.Peers().And(f.faulty.Clients(curatortest.Both)).Silence())
	return nil
}

// depose resets the connections of the other servers to the leader, so that they elect another one at
// once. The leader does not notice, and receives nothing from them.
func depose(_ context.Context, f *field) error {
	f.until(f.faulty.To().Silence())
	f.until(f.faulty.From().Reset())
	return nil
}

// thenSilent returns a fault that makes first, and some time later silences the network between the
// faulty server and its clients: before the server has noticed the first fault, or just after that.
func thenSilent(first fault) fault {
	return func(ctx context.Context, f *field) error {
		if err := first(ctx, f); err != nil {
			return err
		}
		if err := f.pause(ctx, 0, syncLimit+1); err != nil {
			return err
		}
		f.until(f.faulty.Clients(curatortest.Both).Silence())
		return nil
	}
}

// thenReconnect returns a fault that makes first, and some time later closes the connections of the
// faulty server's clients, which then reconnect.
func thenReconnect(first fault) fault {
	return func(ctx context.Context, f *field) error {
		if err := first(ctx, f); err != nil {
			return err
		}
		if err := f.pause(ctx, 0.2, syncLimit); err != nil {
			return err
		}
		f.faulty.Clients(curatortest.Both).Reset()()
		return nil
	}
}

// afterStop returns a fault that first stops the leader's process for a while.
func afterStop(next fault) fault {
	return func(ctx context.Context, f *field) error {
		resume := f.leader.Pause()
		err := f.pause(ctx, 0.3, 2)
		resume()
		if err != nil {
			return err
		}
		if err := f.pause(ctx, 0, 1); err != nil {
			return err
		}
		return next(ctx, f)
	}
}

// whenLagging returns a fault that delays the messages of the leader to the faulty server, before
// another fault and during it.
func whenLagging(next fault) fault {
	return func(ctx context.Context, f *field) error {
		f.until(f.faulty.From(f.leader).Delay(f.ticks(0.1, 1)))
		if err := f.pause(ctx, 1, 4); err != nil {
			return err
		}
		return next(ctx, f)
	}
}

// restartLeader kills the leader's process and starts it again.
func restartLeader(ctx context.Context, f *field) error {
	f.leader.Kill()
	err := f.pause(ctx, 0, 2)
	f.leader.Restart()
	return err
}

// passing makes a random fault. It ends before a session of the round can expire, and before a server
// gives up another one.
func passing(ctx context.Context, f *field) error {
	const most = 0.26 // the longest fault, as a share of the session timeout
	longest := min(time.Duration(most*float64(f.timeout)), syncLimit*f.tick*2/3)
	faults := []func() (heal func()){
		f.faulty.Peers().Silence,
		f.faulty.Clients(curatortest.Both).Silence,
		f.faulty.Clients(curatortest.ToClient).Silence,
		f.faulty.Pause,
		f.leader.Pause,
	}
	heal := faults[f.random.IntN(len(faults))]()
	defer heal()
	return wait.For(ctx, f.between(longest/3, longest))
}

// syncLimit is the syncLimit of ZooKeeper's sample configuration, in ticks.
const syncLimit = 5

// field has the servers that a fault can break, and the means to do so. It is for one goroutine.
type field struct {
	random  *rand.Rand
	tick    time.Duration
	timeout time.Duration // the shortest timeout of a holder's session
	leader  *curatortest.Member
	faulty  *curatortest.Member             // the server that the holders are connected to
	pinged  func(ctx context.Context) error // waits for the answer to a ping of a holder
	heals   []func()
}

// until keeps a function that heals a fault until the end of the round.
func (f *field) until(heal func()) { f.heals = append(f.heals, heal) }

// heal heals all faults.
func (f *field) heal() {
	for _, heal := range f.heals {
		heal()
	}
	f.heals = nil
}

// between returns a random duration, uniformly distributed between least and most.
func (f *field) between(least, most time.Duration) time.Duration {
	return least + time.Duration(f.random.Float64()*float64(most-least))
}

// ticks is between with bounds in ticks.
func (f *field) ticks(least, most float64) time.Duration {
	tick := float64(f.tick)
	return f.between(time.Duration(least*tick), time.Duration(most*tick))
}

// pause waits for a random number of ticks.
func (f *field) pause(ctx context.Context, least, most float64) error {
	return wait.For(ctx, f.ticks(least, most))
}

// places has the servers by their roles in a round.
type places struct {
	leader, faulty   *curatortest.Member
	holders, waiters []*curatortest.Member
	first            *curatortest.Member // the server that the holders connect to first; nil for any
}

// place chooses the roles of the servers.
func (s scenario) place(on *servers, random *rand.Rand) places {
	at := s.placeHolders(on, random)
	if s.moves {
		at.holders, at.first = on.Members(), at.faulty
	}
	return at
}

func (s scenario) placeHolders(on *servers, random *rand.Rand) places {
	leader := on.Leader()
	var followers []*curatortest.Member
	for _, m := range on.Members() {
		if m != leader {
			followers = append(followers, m)
		}
	}
	i := random.IntN(len(followers))
	faulty, other := followers[i], followers[1-i]
	switch s.holders {
	case onLeader:
		return places{leader: leader, faulty: leader, holders: []*curatortest.Member{leader}, waiters: followers}
	case everywhere:
		return places{leader: leader, faulty: leader, holders: on.Members(), waiters: on.Members()}
	default:
		return places{leader: leader, faulty: faulty, holders: []*curatortest.Member{faulty}, waiters: []*curatortest.Member{leader, other}}
	}
}
