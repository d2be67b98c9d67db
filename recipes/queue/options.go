package queue

import (
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/options"
)

// Option is an option of the queues that have consumers.
type Option interface{ apply(*config) error }

// SimpleOption is an option of SimpleDistributedQueue.
type SimpleOption interface{ applySimple(*struct{}) error }

// ACLOption is an option of every queue of this package.
type ACLOption interface {
	Option
	SimpleOption
}

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type aclOption struct{ *options.ACL }

func (o aclOption) apply(*config) error         { return o.Check() }
func (o aclOption) applySimple(*struct{}) error { return o.Check() }

type config struct {
	lockPath    string // "" for at most once
	maxItems    int    // 0 for no bound
	concurrency int
	name        string
}

// newConfig applies options, and returns the client that the queue is to use.
func newConfig(client *framework.Client, opts []Option) (*framework.Client, config, error) {
	cfg := config{concurrency: 1}
	client, err := options.Configure(client, &cfg, opts, Option.apply)
	return client, cfg, err
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
// Put, for which the client must be permitted to read the queue's node: see CheckExists. n must be positive; the
// default is no limit.
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

// WithACL sets the ACL of every node that the queue creates: those of items, the queue's own, that of WithLockPath
// with the nodes below it, and the parents that are missing. The nodes of a namespace get the client's ACL, because
// others use them, too. A node that exists keeps its ACL.
//
// The list must permit the users of the queue, this client included, what they do: to read, to create and to
// delete.
// An empty list, an entry that no server accepts, and one that permits nothing are refused with
// framework.ErrInvalidACL. No server is asked for that: if one refuses the list, what creates a node fails with
// framework.ErrInvalidACL. Without the option nodes get the client's ACL: see framework.WithDefaultACL.
//
// Java: none; there the client's ACLProvider chooses.
func WithACL(acl ...framework.ACL) ACLOption { return aclOption{options.NewACL(acl)} }

// WithName sets the queue's name in spans and metrics, curator.queue.name. Metrics have no
// paths: without a name all queues are counted together. Use a small fixed set of names, such
// as "orders". Do not make a name from user input or ids. Java Curator has no such option.
func WithName(name string) Option {
	return option(func(c *config) error {
		c.name = name
		return telemetry.CheckName("WithName", name)
	})
}
