package nemesis

import (
	"context"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/tools/curatortest"
)

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
