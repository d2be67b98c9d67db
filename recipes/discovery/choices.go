package discovery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
)

// ProviderConfig says how a provider chooses. The zero value is the default.
//
// Java: ServiceProviderBuilder, DownInstancePolicy.
type ProviderConfig[T any] struct {
	// Strategy chooses; nil is RoundRobin.
	Strategy Strategy[T]
	// Filter says which instances may be chosen; nil means all. Disabled instances, and those
	// without an Address, are never chosen. It must be a pure function of the instance, and is
	// called by the goroutines that call the provider, once for each instance after each change.
	Filter func(ServiceInstance[T]) bool
	// After ErrorThreshold errors within DownTime an instance is not chosen until the oldest of
	// them is older than DownTime. The defaults are 2 and 30 s. Neither may be negative.
	ErrorThreshold int
	DownTime       time.Duration
	// EmptyProtection offers instances for this time after they have left the list, while no
	// instance of the list may be chosen for another reason than errors. So servers that are
	// well, and are only cut off from ZooKeeper for longer than their sessions last, are still
	// called. Sessions end one by one: use more than the time between the first end and the
	// return of the servers, for example a minute. It does not offer an instance that was Disabled
	// or not accepted by Filter when it left. Servers that have ended in order are offered, too,
	// if they were the last of the service. 0 is off; it may not be negative.
	//
	// Java: none.
	EmptyProtection time.Duration
}

const (
	defaultErrorThreshold = 2
	defaultDownTime       = 30 * time.Second
)

// check fills in the defaults, and returns what is wrong.
func (c *ProviderConfig[T]) check() error {
	switch {
	case c.ErrorThreshold < 0:
		return fmt.Errorf("%w: the ErrorThreshold is %d", framework.ErrInvalidOption, c.ErrorThreshold)
	case c.DownTime < 0:
		return fmt.Errorf("%w: the DownTime is %v", framework.ErrInvalidOption, c.DownTime)
	case c.EmptyProtection < 0:
		return fmt.Errorf("%w: the EmptyProtection is %v", framework.ErrInvalidOption, c.EmptyProtection)
	}
	if c.Strategy == nil {
		c.Strategy = RoundRobin[T]()
	}
	if c.Filter == nil {
		c.Filter = func(ServiceInstance[T]) bool { return true }
	}
	if c.ErrorThreshold == 0 {
		c.ErrorThreshold = defaultErrorThreshold
	}
	if c.DownTime == 0 {
		c.DownTime = defaultDownTime
	}
	return nil
}

// Strategy chooses one of the instances. There is at least one, and they are in the order of
// the names of their nodes. It is called by several goroutines, and must neither change the
// instances nor keep the slice. Strategies of this package have a state, so use a new one for
// each provider.
//
// Java: ProviderStrategy.
type Strategy[T any] interface {
	Pick(instances []ServiceInstance[T]) ServiceInstance[T]
}

// RoundRobin returns a strategy that chooses instances in turn. When instances come or go, some
// may be chosen twice, or not at all, in that round.
//
// Java: RoundRobinStrategy.
func RoundRobin[T any]() Strategy[T] { return new(roundRobin[T]) }

type roundRobin[T any] struct{ next atomic.Uint64 }

// Pick takes the next one.
func (s *roundRobin[T]) Pick(instances []ServiceInstance[T]) ServiceInstance[T] {
	return instances[(s.next.Add(1)-1)%uint64(len(instances))]
}

// Random returns a strategy that chooses at random, each instance with the same probability.
//
// Java: RandomStrategy.
func Random[T any]() Strategy[T] { return random[T]{} }

type random[T any] struct{}

// Pick takes any.
func (random[T]) Pick(instances []ServiceInstance[T]) ServiceInstance[T] {
	return instances[rand.IntN(len(instances))]
}

// Sticky returns a strategy that chooses the same instance while it is in the list, by its id,
// address and ports, and then an instance that inner chooses. A nil inner is RoundRobin.
//
// Java: StickyStrategy.
func Sticky[T any](inner Strategy[T]) Strategy[T] {
	if inner == nil {
		inner = RoundRobin[T]()
	}
	return &sticky[T]{inner: inner}
}

type sticky[T any] struct {
	inner Strategy[T]
	last  atomic.Pointer[stuck]
}

// stuck is the instance that was taken, and where it was in the list.
type stuck struct {
	endpoint endpoint
	index    int
}

// Pick takes the same again. Of several goroutines that find it gone at the same time the first
// one decides.
func (s *sticky[T]) Pick(instances []ServiceInstance[T]) ServiceInstance[T] {
	for {
		last := s.last.Load()
		if last != nil {
			if i := last.index; i < len(instances) && instances[i].endpoint() == last.endpoint {
				return instances[i]
			}
			for i := range instances {
				if instances[i].endpoint() == last.endpoint {
					s.last.CompareAndSwap(last, &stuck{last.endpoint, i})
					return instances[i]
				}
			}
		}
		picked := s.inner.Pick(instances)
		if s.last.CompareAndSwap(last, &stuck{endpoint: picked.endpoint()}) {
			return picked
		}
	}
}

// choices are the instances that may be chosen. They are not changed.
type choices[T any] struct {
	of        *list[T]
	downs     int64     // how often down had changed
	until     time.Time // when there are others, because time passes; zero for never
	instances []ServiceInstance[T]
	down      []ServiceInstance[T] // what may be chosen but for its errors

	disabled, homeless, filtered int // how many may not be chosen, and why
}

// choose selects the instances that may be chosen.
func choose[T any](config *ProviderConfig[T], down *downList, of *list[T], downs int64) *choices[T] {
	c := &choices[T]{of: of, downs: downs}
	now := time.Now()
	for _, instance := range of.instances {
		switch {
		case instance.Disabled:
			c.disabled++
		case instance.Address == "":
			c.homeless++
		case !config.Filter(instance):
			c.filtered++
		default:
			c.add(instance, down, now)
		}
	}
	if len(c.instances) > 0 || len(c.down) > 0 {
		return c
	}
	for _, g := range of.gone {
		end := g.at.Add(config.EmptyProtection)
		if now.Before(end) && g.instance.Address != "" && config.Filter(g.instance) {
			c.add(g.instance, down, now)
			c.endAt(end)
		}
	}
	return c
}

// add adds an instance to those that are down or to the others.
func (c *choices[T]) add(instance ServiceInstance[T], down *downList, now time.Time) {
	back := down.until(instance.endpoint(), now)
	if back.IsZero() {
		c.instances = append(c.instances, instance)
		return
	}
	c.down = append(c.down, instance)
	c.endAt(back)
}

// endAt takes note of a time after which there are other choices.
func (c *choices[T]) endAt(at time.Time) {
	if c.until.IsZero() || at.Before(c.until) {
		c.until = at
	}
}

// none says why no instance may be chosen.
func (c *choices[T]) none(service string) error {
	var why []string
	for _, reason := range [...]struct {
		n    int
		text string
	}{
		{c.disabled, "disabled"}, {c.homeless, "without an address"}, {c.filtered, "left out by the filter"}, {len(c.down), "down"},
	} {
		if reason.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", reason.n, reason.text))
		}
	}
	if why == nil {
		return fmt.Errorf("%w %s", ErrNoInstance, service)
	}
	return fmt.Errorf("%w %s: %s", ErrNoInstance, service, strings.Join(why, ", "))
}

// downList knows which endpoints had too many errors lately.
type downList struct {
	threshold int
	span      time.Duration
	version   atomic.Int64

	mu     sync.Mutex
	next   chan struct{}            // closed when version has changed
	errors map[endpoint][]time.Time // the last ones, at most threshold of them
}

func newDownList(threshold int, span time.Duration) *downList {
	return &downList{threshold: threshold, span: span, next: make(chan struct{}), errors: map[endpoint][]time.Time{}}
}

// changes counts the endpoints that went down. It does not count those that came back.
func (d *downList) changes() int64 { return d.version.Load() }

// changed returns a channel that is closed at the next change.
func (d *downList) changed() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next
}

// note counts an error.
func (d *downList) note(e endpoint, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for other, times := range d.errors { // those that have gone are not to stay for ever
		if now.Sub(times[len(times)-1]) >= d.span {
			delete(d.errors, other)
		}
	}
	times := d.errors[e]
	times = append(times, now)
	times = slices.Delete(times, 0, max(len(times)-d.threshold, 0))
	d.errors[e] = times
	if len(times) == d.threshold {
		d.version.Add(1)
		close(d.next)
		d.next = make(chan struct{})
	}
}

// until returns when an endpoint that is down comes back, zero for one that is not down.
func (d *downList) until(e endpoint, now time.Time) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	times := d.errors[e]
	if len(times) < d.threshold {
		return time.Time{}
	}
	if back := times[0].Add(d.span); now.Before(back) {
		return back
	}
	return time.Time{}
}
