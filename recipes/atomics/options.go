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

// WithPromotedToLock makes a change acquire lock after its retry policy gave up, and try again
// under policy. So processes with the option queue for contended changes. The lock's
// WithMaxWait limits the wait for it; after that time the error matches ErrContended and
// locks.ErrNotAcquired. The lock only orders changes: processes without the option, and changes
// without a conflict, do not acquire it. So the loss of the lock does no harm: the change is
// still conditional on the version.
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
// without a name all values are counted together. Use a small fixed set of names, such as
// "orders". Do not make a name from user input or ids. Java Curator has no such option.
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
