package nodes

import (
	"fmt"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/options"
	"github.com/go-curator/curator/recipes/internal/turns"
)

// Option is an option of NewPersistentNode and NewPersistentTTLNode; see NewGroupMember for those that
// it takes. A nil Option is refused with framework.ErrInvalidOption.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type aclOption struct{ *options.ACL }

func (o aclOption) apply(*config) error { return o.Check() }

const (
	defaultTouchFactor = 2
)

// config is what options set.
type config struct {
	protected      bool
	withoutParents bool
	touchGiven     bool
	takeover       bool
	background     bool   // Start does not wait
	touch          string // the name of the child
	factor         int
	name           string       // in metrics; "" for none
	turns          *turns.Turns // nil for none
}

// newConfig applies options, and returns the client that the node is to use.
func newConfig(client *framework.Client, opts []Option) (*framework.Client, config, error) {
	c := config{touch: layout.TouchName, factor: defaultTouchFactor}
	client, err := options.Configure(client, &c, opts, Option.apply)
	return client, c, err
}

// WithProtection puts an id into the node's name, so that this node cannot be confused with
// another: "_c_", a UUID, "-" and the given name. The id does not change during the life of the
// PersistentNode. Use it for sequential nodes, because without it a Start whose create gets no
// answer cannot know whether the node was created; see Start. The default is no id. See
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
// framework.ErrNoNode, and a node that is lost together with its parent is created again when
// the parent exists. The default creates missing parents as containers.
//
// Java: the argument useParentCreation.
func WithoutParents() Option {
	return option(func(c *config) error {
		c.withoutParents = true
		return nil
	})
}

// WithACL sets the ACL of every node that the keeper creates: the node, the child of a node with a time to live,
// and the parents that are missing. The nodes of a namespace get the client's ACL, because others use them, too. A
// node that exists keeps its ACL. For a node with an ACL that is unfit for its parents create these first.
//
// The list must permit the users of the node, this client included, what they do: this client to read it, to
// write it for SetData, and to create and delete below the parents. A server sends no deletion to a client that
// may not read the node: the keeper then checks every 10 s, and notices the deletion late. Servers of ZooKeeper 3.8.4,
// 3.9.2 and later do not even show such a client the node's Stat. The keeper then knows the node by the answers to what
// it writes, and an ephemeral node of the client's session by the server's list of them. Any other node may have been
// deleted and created again by somebody else, persistent ones included: Close returns framework.ErrNoAuth, and the node
// stays. With WithTakeover Start returns framework.ErrNoAuth if there is such a node. Later on it counts as taken over,
// until it is gone.
//
// An empty list, an entry that no server accepts, and one that permits nothing are refused with
// framework.ErrInvalidACL. No server is asked for that: if one refuses the list, what creates a node fails with
// framework.ErrInvalidACL. Without the option nodes get the client's ACL: see framework.WithDefaultACL.
//
// Java: none; there the client's ACLProvider chooses.
func WithACL(acl ...framework.ACL) Option { return aclOption{options.NewACL(acl)} }

// WithTouch sets the name of the child that keeps a node with a time to live alive, "touch" by
// default, and how often its data is set within the time to live: 2 by default, which is the
// minimum. It is refused for other nodes.
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

// WithTakeover makes Start replace an existing node of another client: an ephemeral node of
// another session, or a node of the other kind, persistent instead of ephemeral or the reverse.
// It uses one transaction, so nobody sees the node missing. Start fails with
// framework.ErrNotEmpty if that node has children. If another client replaces the node later,
// that node and its data are left alone, and this node is created again when that one is
// deleted. So of two programs that keep one node, the one that started last has it. The default
// adopts such nodes.
//
// Java: ServiceDiscovery replaces the nodes of instances, in two steps: it deletes the node and
// then creates its own. So a deleted node with this option is created again only after 50 ms or
// more.
func WithTakeover() Option {
	return option(func(c *config) error {
		c.takeover = true
		return nil
	})
}

// WithTurns makes the node wait for its turn before it is checked, or created again, after a
// reconnect or the end of a session. It is for recipes of this module that keep many nodes;
// other modules cannot make such turns.
func WithTurns(t *turns.Turns) Option {
	return option(func(c *config) error {
		c.turns = t
		return nil
	})
}

// WithStartInBackground has Start return nil when it has checked what it can check without a server,
// so a program may start before its servers. Start then refuses a context that has ended, a client
// that is not started (framework.ErrNotStarted) or is closed (framework.ErrClosed), and a second
// Start. Its context does not matter any more when it has returned: the node, or the member, is
// started in the background until that succeeds or Close is called.
//
// After the loss of the connection the next try follows the next connection. After an error that
// another try may not change, such as framework.ErrNoAuth, it follows a pause, which grows from a
// second to 30 s, or the next connection. The logger gets the first failure, the first such error,
// and the end of the failures; UnhandledErrorListenable of the client gets the first such error.
//
// Until then ActualPath is "", unless a name is known, and Members is empty. SetData waits, as it
// does while the client is cut off. CreatedListenable is told of the creation of the node, and
// GroupMember.Updates begins when the member has joined. A sequential node should have
// WithProtection: without it, each try whose answer is lost may leave a node. Close returns as
// always, and deletes what a try may have created.
//
// By default Start waits, and fails when the client's retry policy gives up.
//
// Java: start of PersistentNode and GroupMember, which does not wait.
func WithStartInBackground() Option {
	return option(func(c *config) error {
		c.background = true
		return nil
	})
}

// WithName gives the node a name for metrics, curator.node.name. Without a name the node is not
// counted, because metrics have no paths. Use a small fixed set of names, such as "workers", of
// at most 128 bytes. Do not make a name from user input or ids.
//
// Java: none.
func WithName(name string) Option {
	return option(func(c *config) error {
		c.name = name
		return telemetry.CheckName("WithName", name)
	})
}
