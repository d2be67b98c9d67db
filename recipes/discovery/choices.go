package discovery

import (
	"fmt"
	"strings"
	"time"
)

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
