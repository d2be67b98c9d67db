package nemesis

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/tools/curatortest"
)

// member returns a random server, and its number.
func (a *attack) member() (*curatortest.Member, string) {
	i := a.random.IntN(len(a.Servers.Members()))
	return a.Servers.Member(i), fmt.Sprintf("server %d", i)
}

// leader returns the leader, if there is one now, else a random server.
func (a *attack) leader() (*curatortest.Member, string) {
	for i, m := range a.Servers.Members() {
		if m.Mode() == "leader" {
			return m, fmt.Sprintf("server %d, the leader", i)
		}
	}
	return a.member()
}

// victim returns the leader or another server, by turns.
func (a *attack) victim() (*curatortest.Member, string) {
	if a.random.IntN(2) == 0 {
		return a.leader()
	}
	return a.member()
}

// ticks returns a number of ticks.
func (a *attack) ticks(n float64) time.Duration { return time.Duration(n * float64(a.Tick)) }

// serverKilled ends a server's process at once, and starts it again some time later.
func serverKilled(ctx context.Context, a *attack) bool {
	m, name := a.victim()
	a.begin("%s", name)
	m.Kill()
	a.last(ctx, 0, a.ticks(6))
	m.Start()
	return true
}

// serverRestarted asks a server to end, and starts it again.
func serverRestarted(_ context.Context, a *attack) bool {
	m, name := a.victim()
	a.begin("%s", name)
	m.Restart()
	a.note(history.Healed, "")
	return true
}

// serverPaused has a server stand still, shortly or for longer than the others wait for it.
func serverPaused(ctx context.Context, a *attack) bool {
	m, name := a.victim()
	a.begin("%s", name)
	defer m.Pause()()
	a.last(ctx, a.ticks(0.5), a.ticks(10))
	return true
}

// serverDiskFull has a follower unable to write, which ends it, and starts it again with room.
func serverDiskFull(ctx context.Context, a *attack) bool {
	for i, m := range a.Servers.Members() {
		if m.Mode() == "follower" && (i == len(a.Servers.Members())-1 || a.random.IntN(2) == 0) {
			return a.fillDisk(ctx, m, fmt.Sprintf("server %d", i))
		}
	}
	return false
}

// leaderDiskFull is serverDiskFull for the leader.
func leaderDiskFull(ctx context.Context, a *attack) bool {
	m, name := a.leader()
	return a.fillDisk(ctx, m, name)
}

func (a *attack) fillDisk(ctx context.Context, m *curatortest.Member, name string) bool {
	a.begin("%s", name)
	free := m.FillDisk()
	a.last(ctx, a.ticks(2), a.ticks(8))
	free()
	m.Restart()
	return true
}

// leaderDeposed has the others lose their connections to the leader at once, and elect another
// one. The leader hears nothing of it for a while.
func leaderDeposed(ctx context.Context, a *attack) bool {
	m, name := a.leader()
	a.begin("%s", name)
	defer m.To().Silence()()
	defer m.From().Reset()()
	a.last(ctx, a.ticks(3), a.ticks(10))
	return true
}

// peersSilent has nothing pass between a server and the others, sometimes for longer than a session.
func peersSilent(ctx context.Context, a *attack) bool {
	m, name := a.victim()
	a.begin("%s", name)
	defer m.Peers().Silence()()
	a.last(ctx, a.ticks(1), a.ticks(18))
	return true
}

// peersSilentOneWay has others not hear a server, or a server not hear others.
func peersSilentOneWay(ctx context.Context, a *attack) bool {
	m, name := a.victim()
	others := slices.DeleteFunc(a.Servers.Members(), func(other *curatortest.Member) bool { return other == m })
	if a.random.IntN(2) == 0 {
		others = others[:1]
	}
	link, way := m.To(others...), "to"
	if a.random.IntN(2) == 0 {
		link, way = m.From(others...), "from"
	}
	a.begin("%s %s %d others", way, name, len(others))
	defer link.Silence()()
	a.last(ctx, a.ticks(1), a.ticks(12))
	return true
}

// peersLate has a server hear the others late.
func peersLate(ctx context.Context, a *attack) bool {
	m, name := a.victim()
	late := a.ticks(0.1 + 0.9*a.random.Float64())
	a.begin("%s by %v", name, late)
	defer m.From().Delay(late)()
	a.last(ctx, a.ticks(2), a.ticks(12))
	return true
}
