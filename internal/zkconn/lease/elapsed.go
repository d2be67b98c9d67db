package lease

import (
	"sync/atomic"
	"time"
)

// elapsed is the clock of a Session: the time since Start, and one second. Unlike the monotonic clock of Linux
// and macOS it goes on while the machine sleeps, as those of the servers do.
type elapsed struct {
	base   time.Time
	asleep func() time.Duration // how long the machine has slept, from any beginning
	before time.Duration        // what asleep was at base
	slept  atomic.Int64         // since base
}

// shortestSleep is more than two readings of clocks differ for other reasons.
const shortestSleep = 10 * time.Millisecond

// start begins the time. asleep is how long the machine has slept, from any beginning; nil asks the system.
func (e *elapsed) start(asleep func() time.Duration) {
	if asleep == nil {
		asleep = systemAsleep
	}
	// One second is over already: no time that is shown is zero, which stands for none.
	e.base, e.asleep, e.before = time.Now().Add(-time.Second), asleep, asleep()
}

// now is never later than the moment at which it returns: a request that is sent then is
// not believed to have been sent later.
func (e *elapsed) now() time.Duration {
	awake := e.awake()
	if slept := e.asleep() - e.before; slept >= time.Duration(e.slept.Load())+shortestSleep {
		storeMax(&e.slept, int64(slept))
	}
	return awake + time.Duration(e.slept.Load())
}

// awake is now without the time that the machine has slept, and cheaper to ask for.
func (e *elapsed) awake() time.Duration { return time.Since(e.base) }

// time returns when the clock will show t, or when it did, if the machine stays awake.
func (e *elapsed) time(t time.Duration) time.Time {
	e.now() // sees whether there was a sleep
	return e.base.Add(t - time.Duration(e.slept.Load()))
}

// storeMax sets a to v unless it is higher already.
func storeMax(a *atomic.Int64, v int64) {
	for {
		old := a.Load()
		if v <= old || a.CompareAndSwap(old, v) {
			return
		}
	}
}
