package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/tools/curatortest"
)

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
