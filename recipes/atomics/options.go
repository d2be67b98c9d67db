package atomics

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/options"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// Option is an option of the values and numbers.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type aclOption struct{ *options.ACL }

func (o aclOption) apply(*config) error { return o.Check() }

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

// WithACL sets the ACL of the value's node, and of the parents that are missing, when a change creates them. The
// nodes of a namespace get the client's ACL, because others use them, too. A node that exists keeps its ACL. The
// lock of WithPromotedToLock has an option of its own.
//
// The list must permit the users of the value, this client included, what they do: to read and to write it, and
// to create below its parents.
// An empty list, an entry that no server accepts, and one that permits nothing are refused with
// framework.ErrInvalidACL. No server is asked for that: if one refuses the list, what creates a node fails with
// framework.ErrInvalidACL. Without the option nodes get the client's ACL: see framework.WithDefaultACL.
//
// Java: none; there the client's ACLProvider chooses.
func WithACL(acl ...framework.ACL) Option { return aclOption{options.NewACL(acl)} }

// newConfig applies options, and returns the client that the value is to use.
func newConfig(client *framework.Client, opts []Option) (*framework.Client, config, error) {
	var cfg config
	client, err := options.Configure(client, &cfg, opts, Option.apply)
	return client, cfg, err
}
