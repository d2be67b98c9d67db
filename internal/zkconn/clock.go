package zkconn

import (
	"sync/atomic"
	"time"
)

// A clock tells the time since a connection was made. Unlike the monotonic clock of Linux
// and macOS it goes on while the machine sleeps, as that of the servers does.
type clock struct {
	base   time.Time
	asleep func() time.Duration // how long the machine has slept, from any beginning
	before time.Duration        // what asleep was at base
	slept  atomic.Int64         // since base
}

// shortestSleep is more than two readings of clocks differ for other reasons.
const shortestSleep = 10 * time.Millisecond

func (c *clock) start(asleep func() time.Duration) {
	if asleep == nil {
		asleep = systemAsleep
	}
	// One second is over already: no time that is shown is zero, which stands for none.
	c.base, c.asleep, c.before = time.Now().Add(-time.Second), asleep, asleep()
}

// now is never later than the moment at which it returns: a request that is sent then is
// not believed to have been sent later.
func (c *clock) now() time.Duration {
	awake := c.awake()
	if slept := c.asleep() - c.before; slept >= time.Duration(c.slept.Load())+shortestSleep {
		storeMax(&c.slept, int64(slept))
	}
	return awake + time.Duration(c.slept.Load())
}

// awake is now without the time that the machine has slept, and cheaper to ask for.
func (c *clock) awake() time.Duration { return time.Since(c.base) }

// time returns when the clock will show t, or when it did, if the machine stays awake.
func (c *clock) time(t time.Duration) time.Time {
	c.now() // sees whether there was a sleep
	return c.base.Add(t - time.Duration(c.slept.Load()))
}
