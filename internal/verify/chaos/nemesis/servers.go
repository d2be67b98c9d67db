package nemesis

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/wait"
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

// link returns the link between clients and a random server, sometimes all servers.
func (a *attack) link(d curatortest.Direction) (curatortest.Link, string) {
	if a.random.IntN(6) == 0 {
		all := curatortest.Link{}
		for _, m := range a.Servers.Members() {
			all = all.And(m.Clients(d))
		}
		return all, "all servers"
	}
	m, name := a.member()
	return m.Clients(d), name
}

// outage waits for as long as an outage lasts: mostly less than a session, sometimes more.
func (a *attack) outage(ctx context.Context) {
	if a.random.IntN(4) == 0 {
		a.last(ctx, a.Session, 2*a.Session)
		return
	}
	a.last(ctx, 0, a.Session/2)
}

// clientsSilent has nothing pass between clients and a server.
func clientsSilent(ctx context.Context, a *attack) bool {
	link, name := a.link(curatortest.Both)
	a.begin("%s", name)
	defer link.Silence()()
	a.outage(ctx)
	return true
}

// clientsSilentOneWay has nothing pass in one direction.
func clientsSilentOneWay(ctx context.Context, a *attack) bool {
	d := some(a.random, []curatortest.Direction{curatortest.ToServer, curatortest.ToClient})
	link, name := a.link(d)
	a.begin("%s %v", name, d)
	defer link.Silence()()
	a.outage(ctx)
	return true
}

// clientsLate has everything take longer in one direction or in both.
func clientsLate(ctx context.Context, a *attack) bool {
	d := some(a.random, []curatortest.Direction{curatortest.ToServer, curatortest.ToClient, curatortest.Both})
	link, name := a.link(d)
	late := time.Duration(a.random.Float64() * float64(a.Session) / 8)
	a.begin("%s %v by %v", name, d, late)
	defer link.Delay(late)()
	a.last(ctx, a.Session/8, a.Session/2)
	return true
}

// clientsJitter has delays that change all the time.
func clientsJitter(ctx context.Context, a *attack) bool {
	link, name := a.link(curatortest.Both)
	a.begin("%s", name)
	for range 3 + a.random.IntN(10) {
		heal := link.Delay(time.Duration(a.random.Float64() * float64(a.Session) / 20))
		err := wait.For(ctx, time.Duration(a.random.Float64()*float64(a.Session)/20))
		heal()
		if err != nil {
			break
		}
	}
	a.last(ctx, 0, 0)
	return true
}

// clientsReset ends connections to a server, and refuses new ones for a while.
func clientsReset(ctx context.Context, a *attack) bool {
	link, name := a.link(some(a.random, []curatortest.Direction{curatortest.ToServer, curatortest.ToClient, curatortest.Both}))
	a.begin("%s", name)
	defer link.Reset()()
	a.last(ctx, 0, a.Session/4)
	return true
}

// disconnected ends every connection at once.
func disconnected(_ context.Context, a *attack) bool {
	a.begin("all clients")
	a.Servers.Disconnect()
	return true
}
