package nodes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/turns"
)

// Option is an option of NewPersistentNode and NewPersistentTTLNode, and WithName also of
// NewGroupMember. A nil Option is refused with framework.ErrInvalidOption.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

const (
	defaultTouch       = "touch"
	defaultTouchFactor = 2
)

// config is what options set.
type config struct {
	protected      bool
	withoutParents bool
	acl            []framework.ACL // nil for the client's
	touch          string          // the name of the child
	factor         int
	touchGiven     bool
	name           string // in metrics; "" for none
	takeover       bool
	turns          *turns.Turns // nil for none
}

func newConfig(opts []Option) (config, error) {
	c := config{touch: defaultTouch, factor: defaultTouchFactor}
	for _, o := range opts {
		if o == nil {
			return c, fmt.Errorf("%w: it is nil", framework.ErrInvalidOption)
		}
		if err := o.apply(&c); err != nil {
			return c, fmt.Errorf("%w: %w", framework.ErrInvalidOption, err)
		}
	}
	return c, nil
}

// WithProtection puts an id into the node's name, so that this node cannot be confused with
// another: "_c_", a UUID, "-" and the name that was given. The id stays the same for the life of
// the PersistentNode. Use it for sequential nodes: without it, a Start whose create gets no
// answer cannot know whether a node was made; see Start. The default is no id. See
// framework.CreateBuilder.WithProtection.
//
// Java: the argument useProtection.
func WithProtection() Option {
	return option(func(c *config) error {
		c.protected = true
		return nil
	})
}

// WithoutParents does not create missing parents. Without the parent, Start fails with
// framework.ErrNoNode, and a node that is lost together with its parent is made again when the
// parent is there. The default creates missing parents as containers.
//
// Java: the argument useParentCreation.
func WithoutParents() Option {
	return option(func(c *config) error {
		c.withoutParents = true
		return nil
	})
}

// WithACL sets the ACL of the node, and of the child of a node with a time to live. Parents that
// are created get the client's. The default is the client's ACL. A node that exists keeps the ACL
// that it has. An empty ACL is refused.
//
// Let this client read the node: a server tells a client that may not read a node nothing of its
// deletion, and the keeper, which then looks every 10 s, notices it late.
//
// Java: none.
func WithACL(acl ...framework.ACL) Option {
	return option(func(c *config) error {
		if len(acl) == 0 {
			return fmt.Errorf("WithACL without an ACL")
		}
		c.acl = slices.Clone(acl)
		return nil
	})
}

// WithTouch sets the name of the child by which a node with a time to live is kept alive, "touch"
// by default, and how many times within the time to live its data is set, 2 by default and at
// least 2. It is refused for other nodes.
//
// Java: the arguments childNodeName and touchScheduleFactor.
func WithTouch(child string, factor int) Option {
	return option(func(c *config) error {
		if child == "" || strings.Contains(child, "/") {
			return fmt.Errorf("WithTouch: %q is no name of a child", child)
		}
		if factor < defaultTouchFactor {
			return fmt.Errorf("WithTouch: a factor of %d does not keep the node alive; it must be at least %d", factor, defaultTouchFactor)
		}
		c.touch, c.factor, c.touchGiven = child, factor, true
		return nil
	})
}

// WithTakeover has Start replace a node that is there already and is not this client's: an
// ephemeral node of another session, or a node of the other kind, persistent in place of ephemeral
// or the reverse. That is one transaction, so that nobody sees the node missing. Start fails with
// framework.ErrNotEmpty if that node has children. Later on a node that another client has put in
// place of this one is left as it is, with its data, and is made anew when it goes: of two
// programs that keep one node the one that started last has it. The default adopts such nodes.
//
// Java: ServiceDiscovery does so with the nodes of instances, in two steps.
func WithTakeover() Option {
	return option(func(c *config) error {
		c.takeover = true
		return nil
	})
}

// WithTurns has the node wait for its turn when it is looked at, or made again, after a reconnect
// or the end of a session. It is for recipes of this module that keep many nodes; other modules
// cannot make such turns.
func WithTurns(t *turns.Turns) Option {
	return option(func(c *config) error {
		c.turns = t
		return nil
	})
}

// WithName gives the node a name for metrics, curator.node.name. Without a name nothing is
// counted: metrics have no paths. The name must be one of a few that are known beforehand, such
// as "workers", of at most 128 bytes. Do not make it from user input or ids.
//
// Java: none.
func WithName(name string) Option {
	return option(func(c *config) error {
		c.name = name
		return telemetry.CheckName("WithName", name)
	})
}
