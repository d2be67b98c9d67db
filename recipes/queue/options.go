package queue

import (
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/options"
)

// Option is an option of the queues that have consumers.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type config struct {
	lockPath    string // "" for at most once
	maxItems    int    // 0 for no bound
	concurrency int
	name        string
}

func newConfig(opts []Option) (config, error) {
	cfg := config{concurrency: 1}
	err := options.Apply(&cfg, opts, Option.apply)
	return cfg, err
}

// WithLockPath makes consumers consume items at least once. The node at path, which is created
// when it is missing, has a child for every item that is being consumed. The path must not be
// the queue's own. Every consumer of the queue must have the same option.
//
// Java: QueueBuilder.lockPath.
func WithLockPath(path string) Option {
	return option(func(c *config) error {
		if path == "" {
			return fmt.Errorf("WithLockPath: %w: it is empty", framework.ErrInvalidPath)
		}
		c.lockPath = path
		return nil
	})
}

// WithMaxItems makes Put wait while the queue has n nodes or more; several items that were put
// together are one node. Several producers together may exceed n. It costs a request for every
// Put. n must be positive; the default is no limit.
//
// Java: QueueBuilder.maxItems.
func WithMaxItems(n int) Option {
	return option(func(c *config) error {
		if n <= 0 {
			return fmt.Errorf("WithMaxItems(%d) is not positive", n)
		}
		c.maxItems = n
		return nil
	})
}

// WithConcurrency lets each Consume run n functions at the same time. n must be positive; the
// default is 1, which keeps the order of items.
//
// Java: QueueBuilder.executor.
func WithConcurrency(n int) Option {
	return option(func(c *config) error {
		if n <= 0 {
			return fmt.Errorf("WithConcurrency(%d) is not positive", n)
		}
		c.concurrency = n
		return nil
	})
}

// WithName sets the queue's name in spans and metrics, curator.queue.name. Metrics have no
// paths: without a name all queues are counted together. Use a small fixed set of names, such
// as "orders". Do not make a name from user input or ids. Java Curator has no such option.
func WithName(name string) Option {
	return option(func(c *config) error {
		c.name = name
		return telemetry.CheckName("WithName", name)
	})
}
