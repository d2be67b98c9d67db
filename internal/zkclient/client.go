// Package zkclient is the inside of a client: what needs its namespace, its retry policy or its life. It
// runs operations, creates nodes, deletes them until the outcome is known, does work in the background,
// and tells of losses. Package framework puts options, builders and listeners on it.
//
// A create whose reply was lost may have been applied. Who finds that out, and how, depends on what is
// known of the node:
//
//   - Create, with protection: the next try lists the parent, behind a sync, and looks for the name's UUID.
//     If there is no next try, the node is removed in the background.
//   - CreateGroup: the nodes of such a try are removed, because their numbers are of no use.
//   - A create without protection is not repeated, unless it may take the node of an earlier try for its own
//     or overwrite it: see NodeSpec.Repeat.
//   - Barriers and claims of queues know the path and that the node is their session's: they look at it.
//   - Kept nodes read the node at the end of every step.
//   - A transaction that may be repeated reads all its nodes behind a refusal: see Repetition.
package zkclient

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/singleflight"

	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

// Config is what a client is made with.
type Config struct {
	Chroot      string // "" for none
	Retry       retry.Policy
	ErrorPolicy state.ErrorPolicy // of Decide
	Logger      *slog.Logger
	Telemetry   *telemetry.Telemetry // nil for none

	DefaultData []byte      // of nodes that are given none
	Containers  bool        // the server has containers, for parents
	Schemas     *schema.Set // nil permits everything
	Compression Compression
	CompressAll bool // where nothing else is said
	MaxRequest  int  // in bytes
	// ACL returns the ACL for a path, without the chroot, of a node that is given none.
	ACL func(path string) (ACL, error)

	// View returns a view of a *framework.Client that has another inside.
	View func(client any, inside *Client) any
	// Spec returns what a framework.CreateBuilder of a client or view describes, without the path: drivers of
	// locks, which are a user's code, complete such a builder.
	Spec func(c *Client, builder any) (NodeSpec, error)
	// Fail makes the error that the user gets. It must embed the failure's Outcome, and be Retryable and
	// MaybeApplied as the failure is.
	Fail func(Failure) error
	// Unhandled gets the errors that no caller receives.
	Unhandled func(error)
}

// Compression is package framework's CompressionProvider.
type Compression interface {
	Compress(path string, data []byte) ([]byte, error)
	Decompress(path string, data []byte) ([]byte, error)
}

// Client is a client, or a view of one with another namespace. A nil Client is that of a framework.Client that
// NewClient has not made: ServerPath, Fix, Conn, Usable, Run and Retry return ErrNilClient, Opened, Identity and
// Schemas nothing. Its other methods must not be called.
type Client struct {
	*shared
	prefix string // what the namespace puts before every path
	nsErr  error  // what is wrong with the namespace of a view
	acl    ACL    // of a recipe's nodes, see WithACL; nil for that of Config.ACL
}

// shared is what a client and its views have in common.
type shared struct {
	cfg Config
	workers
	losses     losses
	protection protection
	namespaces namespaces
	values     sync.Map // what the recipes of the client share

	conn    atomic.Pointer[zkconn.Conn] // set by Open
	closing chan struct{}               // closed when Refuse begins to refuse work
	ended   chan struct{}               // closed behind that, when what the recipes hold has ended
	ending  sync.Once                   // the recipes are told of that
}

// namespaces are those of a client and its views.
type namespaces struct {
	flights singleflight.Group // creations, by the server's path
	known   sync.Map           // by the same paths: those that were seen to exist
}

// New returns a client that has no connection yet. prefix is what its namespace puts before every path.
func New(cfg Config, prefix string) *Client {
	return &Client{prefix: prefix, shared: &shared{
		cfg: cfg, protection: newProtection(), closing: make(chan struct{}), ended: make(chan struct{}),
	}}
}

// View returns a view with another namespace. err is what is wrong with that, nil for nothing.
func (c *Client) View(prefix string, err error) *Client {
	return &Client{shared: c.shared, prefix: prefix, nsErr: err, acl: c.acl}
}

// Handle leads from a framework.Client, which embeds it, to its inside.
type Handle struct{ inside *Client }

// NewHandle returns the handle of a client.
func NewHandle(c *Client) Handle { return Handle{c} }

// client is not exported, so that users of package framework cannot call it.
func (h *Handle) client() *Client { return h.inside }

// Of returns the inside of a *framework.Client, nil if that is nil or NewClient has not made it.
func Of[T any, P interface {
	*T
	client() *Client
}](c P) *Client {
	if c == nil {
		return nil
	}
	return c.client()
}

// WithACL returns a view of a *framework.Client for a recipe with an ACL. Nodes get the ACL if their create gives
// none, and so do the parents that a create makes, in the namespaces of all views of the view. The nodes of a
// namespace get the ACL of Config.ACL, because others use the namespace, too, and the first create that misses it
// makes it for all. What the recipes of a client share is that of the view, too. A client that NewClient has not made
// is returned as it is.
func WithACL[T any, P interface {
	*T
	client() *Client
}](c P, acl ACL) P {
	in := Of(c)
	if in == nil {
		return c
	}
	return in.cfg.View(c, &Client{shared: in.shared, prefix: in.prefix, nsErr: in.nsErr, acl: acl}).(P)
}

// Opened returns the session layer, also of a client that is closed, nil before Open.
func (c *Client) Opened() *zkconn.Conn {
	if c == nil {
		return nil
	}
	return c.conn.Load()
}

// Identity is the same for a client and all its views.
type Identity struct{ of *shared }

// Identity returns the client's.
func (c *Client) Identity() Identity {
	if c == nil {
		return Identity{}
	}
	return Identity{c.shared}
}

// SharedOf returns the T that the recipes of a client share, with all its views. The first call makes it, as
// the zero value.
func SharedOf[T any](c *Client) *T {
	var key *T
	value, ok := c.values.Load(key)
	if !ok {
		value, _ = c.values.LoadOrStore(key, new(T))
	}
	return value.(*T)
}

// Made reports whether a node with this name, which has protection, was made by this client. In
// very rare cases the node is another client's.
func (c *Client) Made(name string) bool { return strings.HasPrefix(name, c.protection.text) }

// Telemetry makes spans and metrics; it may be nil.
func (c *Client) Telemetry() *telemetry.Telemetry { return c.cfg.Telemetry }

// MaxRequest is the largest request that the client sends, in bytes.
func (c *Client) MaxRequest() int { return c.cfg.MaxRequest }

// Schemas returns what operations are judged by, nil for nothing.
func (c *Client) Schemas() *schema.Set {
	if c == nil {
		return nil
	}
	return c.cfg.Schemas
}

// Unhandled tells the listeners of framework.Client.UnhandledErrorListenable of an error that no caller
// receives.
func (c *Client) Unhandled(what string, err error) { c.cfg.Unhandled(fmt.Errorf("%s: %w", what, err)) }
