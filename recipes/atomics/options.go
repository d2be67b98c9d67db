package atomics

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/options"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// Option is an option of the values and numbers.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type config struct {
	lock   locks.InterProcessLock // nil for none
	policy retry.Policy           // while the lock is held
	name   string
}

// WithPromotedToLock has a change for which the retry policy gave up tried again while lock is
// held, under policy: the processes that have the option queue for it then. How long to wait for
// the lock is the lock's own WithMaxWait; when that passes, the error matches ErrContended and
// locks.ErrNotAcquired. The lock is a queue and not a guard: it does not keep away processes
// without the option, nor changes that meet no conflict. So a lock that is lost meanwhile does
// not matter: the change is still made on the condition that nobody else has changed the value.
//
// Java: PromotedToLock.
func WithPromotedToLock(lock locks.InterProcessLock, policy retry.Policy) Option {
	return option(func(c *config) error {
		if lock == nil {
			return errors.New("WithPromotedToLock: the lock is nil")
		}
		if err := retry.Validate(policy); err != nil {
			return fmt.Errorf("WithPromotedToLock: %w", err)
		}
		c.lock, c.policy = lock, policy
		return nil
	})
}

// WithName sets the name in spans and metrics, curator.atomic.name. Metrics have no paths:
// without a name all values are counted together. The name must be one of a few that are known
// beforehand, such as "orders". Do not make it from user input or ids. Java Curator does not
// have it.
func WithName(name string) Option {
	return option(func(c *config) error {
		if err := telemetry.CheckName("WithName", name); err != nil {
			return err
		}
		c.name = name
		return nil
	})
}

func newConfig(opts []Option) (config, error) {
	var cfg config
	err := options.Apply(&cfg, opts, Option.apply)
	return cfg, err
}
