package discovery

import (
	"fmt"
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
