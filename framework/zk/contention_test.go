package zk_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	driver "github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/internal/suite"
)

var contend = flag.Duration("contend", 0, "for how long TestContention runs on a real server; 0 for an hour of virtual time alone")

// holding is a time for which somebody believed in the lock.
type holding struct {
	who        string
	ours       bool
	begin, end time.Time
}

// contention is a lock for which Conns of ours and of the driver contend.
type contention struct {
	path  string
	until time.Time

	mu   sync.Mutex
	held []holding
}

// contender takes the lock, again and again, and believes in it until it gives it back, or is told that the session is
// over.
type contender struct {
	*contention
	name   string
	ours   bool
	c      api
	lock   locker
	rng    *rand.Rand
	mu     sync.Mutex
	begin  time.Time // of the belief; zero for none
	events <-chan zk.Event
}

// follow ends the belief when the session does.
func (c *contender) follow() {
	for e := range c.events {
		if e.Type == zk.EventSession && e.State == zk.StateExpired {
			c.believe(false)
		}
	}
}

// believe notes the beginning or the end of the belief.
func (c *contender) believe(yes bool) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begin.IsZero() {
		c.contention.mu.Lock()
		c.held = append(c.held, holding{c.name, c.ours, c.begin, now})
		c.contention.mu.Unlock()
	}
	c.begin = time.Time{}
	if yes {
		c.begin = now
	}
}

func (c *contender) run() {
	for time.Now().Before(c.until) {
		session := c.c.SessionID()
		if err := c.lock.Lock(); err != nil {
			if err == zk.ErrDeadlock {
				c.renew()
			}
			continue
		}
		c.believe(true)
		if c.c.SessionID() != session { // it has ended between the two: the event may have come before the belief
			c.believe(false)
		}
		<-time.After(time.Duration(c.rng.Int64N(int64(2 * sessionTimeout))))
		c.believe(false)
		for range 3 {
			if err := c.lock.Unlock(); err == nil || err == zk.ErrNotLocked {
				break
			}
		}
	}
}

// renew makes another Lock: the driver's believes for ever that it has a lock whose node is gone.
func (c *contender) renew() {
	if ours, ok := c.c.(*zk.Conn); ok {
		c.lock = zk.NewLock(ours, c.path, world)
		return
	}
	c.lock = driver.NewLock(c.c.(*driver.Conn), c.path, world)
}

// disturb has a network fail, again and again. Sessions end by their timeouts: nobody can know ahead that somebody
// will close his session.
func (c *contention) disturb(n *suite.Network, rng *rand.Rand) {
	for time.Now().Before(c.until) {
		<-time.After(time.Duration(rng.Int64N(int64(4 * sessionTimeout))))
		if rng.IntN(3) == 0 {
			n.Cut()
			continue
		}
		heal := n.Isolate()
		<-time.After(time.Duration(rng.Int64N(int64(3 * sessionTimeout))))
		heal()
	}
}

// overlaps returns the grants to others while one of a kind believed.
func (c *contention) overlaps(ours bool) (all []string) {
	for _, h := range c.held {
		for _, other := range c.held {
			if h.ours == ours && other.who != h.who && !other.begin.Before(h.begin) && other.begin.Before(h.end) {
				all = append(all, fmt.Sprintf("%s from %v to %v, and %s from %v", h.who, h.begin, h.end, other.who, other.begin))
			}
		}
	}
	return all
}

// Locks of ours and of the driver contend while connections are cut, sessions end and networks are silent. None of ours
// believes in the lock when another has it. Those of the driver may.
func TestContention(t *testing.T) {
	run := func(t *testing.T, b *suite.Backend, long time.Duration) {
		c := &contention{path: b.Path("contended") + "/lock", until: time.Now().Add(long)}
		var all, events sync.WaitGroup
		for i := range 4 {
			who := &contender{contention: c, ours: i%2 == 0, name: fmt.Sprint(i), rng: rand.New(rand.NewPCG(38, uint64(i)))}
			var n *suite.Network
			if who.ours {
				ours, ch, network := connect(t, b)
				who.c, who.events, n = ours, ch, network
			} else {
				theirs, ch, network := connectDriver(t, b)
				who.c, who.events, n = theirs, ch, network
			}
			who.renew()
			all.Go(who.run)
			events.Go(who.follow)
			all.Go(func() { c.disturb(n, rand.New(rand.NewPCG(83, uint64(i)))) })
			events.Go(func() {
				all.Wait()
				who.c.Close()
			})
		}
		all.Wait()
		events.Wait()
		for _, overlap := range c.overlaps(true) {
			t.Errorf("two holders: %s", overlap)
		}
		if len(c.held) < 20 {
			t.Errorf("held %d times", len(c.held))
		}
		t.Logf("held %d times, in %v; the driver believed %d times in what another had", len(c.held), long, len(c.overlaps(false)))
	}
	t.Run("virtual", func(t *testing.T) {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			run(t, b, time.Hour)
			synctest.Wait()
		})
	})
	if *contend > 0 {
		t.Run("real", func(t *testing.T) { run(t, suite.Real(t), *contend) })
	}
}
