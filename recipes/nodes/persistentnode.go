package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// PersistentNode keeps a node from Start to Close. A nil PersistentNode and the zero value
// cannot be started.
//
// Java: PersistentNode, PersistentEphemeralNode and PersistentTtlNode.
type PersistentNode struct {
	life   lifecycle.Lifecycle
	keeper *keeper
}

var _ framework.Component = (*PersistentNode)(nil)

// NewPersistentNode returns a keeper of the node at path, with the given mode and data. Nil
// data means an empty node. It does no I/O. When the node is created again, a sequential node
// keeps the number of its first creation, and a protected node keeps its id.
//
// Errors: framework.ErrInvalidPath; framework.ErrInvalidOption for an option that is out of
// range or does not apply, and for modes with a time to live, for which there is
// NewPersistentTTLNode; framework.ErrNotStarted for a nil client.
//
// Java: PersistentNode.
func NewPersistentNode(client *framework.Client, path string, mode framework.CreateMode, data []byte, opts ...Option) (*PersistentNode, error) {
	client, cfg, err := newConfig(client, opts)
	switch {
	case err != nil:
	case mode < framework.Persistent || mode > framework.Container:
		err = fmt.Errorf("%w: mode %d; a node with a time to live is one of NewPersistentTTLNode", framework.ErrInvalidOption, mode)
	case cfg.touchGiven:
		err = fmt.Errorf("%w: WithTouch is for nodes with a time to live", framework.ErrInvalidOption)
	}
	if err != nil {
		return nil, err
	}
	return newNode(client, path, mode, 0, data, cfg)
}

// maxTTL is the longest time to live that a server can store.
const maxTTL = (1<<40 - 1) * time.Millisecond

// NewPersistentTTLNode returns a keeper of a node that the server deletes when nobody has kept
// it for ttl, by the server's clock. Unlike an ephemeral node it survives the end of a session,
// and can have children; while it has children of others, it stays. ttl is in whole
// milliseconds.
//
// A child, "touch", keeps the node alive: its data is set twice within ttl, so watches on the
// node itself do not fire. WithTouch changes both. Close stops this and removes no node.
// Several programs may keep one node.
//
// Without zookeeper.extendedTypesEnabled on the servers, Start returns
// framework.ErrUnimplemented. Errors: those of NewPersistentNode, and
// framework.ErrInvalidOption for a ttl that is out of range.
//
// Java: PersistentTtlNode.
func NewPersistentTTLNode(client *framework.Client, path string, ttl time.Duration, data []byte, opts ...Option) (*PersistentNode, error) {
	client, cfg, err := newConfig(client, opts)
	switch {
	case err != nil:
	case ttl%time.Millisecond != 0 || ttl < time.Duration(cfg.factor)*time.Millisecond || ttl > maxTTL:
		err = fmt.Errorf("%w: the ttl %v is not in whole milliseconds from %d ms to %v", framework.ErrInvalidOption, ttl, cfg.factor, maxTTL)
	}
	if err != nil {
		return nil, err
	}
	return newNode(client, path, framework.PersistentWithTTL, ttl, data, cfg)
}

// newNode returns a node whose options are checked. ttl is 0 for a mode without.
func newNode(client *framework.Client, path string, mode framework.CreateMode, ttl time.Duration, data []byte, cfg config) (*PersistentNode, error) {
	if client == nil {
		return nil, framework.ErrNotStarted
	}
	if _, err := zkclient.Of(client).ServerPath(path); err != nil {
		return nil, err
	}
	if path == "/" {
		return nil, fmt.Errorf("%w: the root is always there", framework.ErrInvalidPath)
	}
	k, err := newKeeper(client, path, mode, ttl, slices.Clone(data), cfg)
	if err != nil {
		return nil, err
	}
	n := &PersistentNode{keeper: k}
	if cfg.background {
		n.life.InBackground(lifecycle.Background{
			Client: client, What: "kept node " + path,
			Prepare: func(context.Context) error {
				k.mail.begin()
				return nil
			},
		})
	}
	return n, nil
}

// Start creates the node and begins to keep it. It returns nil when the node exists with the
// data. ctx bounds only Start. With WithStartInBackground it does not wait.
//
// An existing node is adopted, and its data is set. An ephemeral node of an earlier session of
// this client is replaced. An ephemeral node of another client is adopted, with a warning to
// the client's logger, and created again when it is deleted, because two keepers of one path
// disturb each other.
//
// When Start fails, it removes the nodes that it has created, if necessary in the background,
// and may be called again. Two kinds of nodes may be left after an error for which
// framework.MaybeApplied is true: a persistent node, which may have existed before, and a
// sequential node without protection, whose name is unknown. An ephemeral node is deleted with
// the session.
//
// Errors in addition to those of framework.Component: framework.ErrNoAuth; framework.ErrNoNode,
// with WithoutParents; framework.ErrTooLarge; framework.ErrUnimplemented, for a node with a
// time to live on servers without zookeeper.extendedTypesEnabled; framework.ErrConnectionLoss,
// when the client's retry policy gives up.
//
// Java: start, waitForInitialCreate.
func (n *PersistentNode) Start(ctx context.Context) error {
	if n == nil || n.keeper == nil {
		return framework.ErrNotStarted
	}
	return n.explain(n.life.Start(ctx, n.keeper.begin, n.keeper.work))
}

// Close stops keeping the node and deletes it, unless it is an ephemeral node of another client,
// or has a time to live. It joins the node's goroutine and the listeners. It works with an
// ended ctx, and then waits for a second at most. When ctx ends before the answer, Close
// returns ErrDeletePending, and the deletion continues in the background until it succeeds or
// the client is closed.
//
// Other errors: framework.ErrNotEmpty, if a persistent node has children, and framework.ErrNoAuth, also if
// nothing tells that the node is the kept one, see WithACL; the node stays then. framework.ErrClosed, if the client was closed
// before and the node is persistent, so it stays, or if the client could not close the session of an
// ephemeral node, which stays until the session times out. Close is idempotent, and allowed before
// Start.
//
// Java: close, which deletes whatever node has the path.
func (n *PersistentNode) Close(ctx context.Context) error {
	if n == nil || n.keeper == nil {
		return nil
	}
	return n.explain(n.close(ctx, func(ctx context.Context) error {
		err := n.life.Close(ctx, n.keeper.end)
		if errors.Is(err, ErrDeletePending) && ctx.Err() == nil { // it is that of an earlier call
			err = n.keeper.awaitRemoval(ctx, n.keeper.removal)
		}
		return err
	}))
}

// Leave is Close without the deletion: it stops keeping the node, and leaves it. An ephemeral
// node is deleted with the session. It joins the node's goroutine and the listeners. Leave is
// idempotent. If both Close and Leave are called, the first call decides.
//
// Java: none.
func (n *PersistentNode) Leave(ctx context.Context) error {
	if n == nil || n.keeper == nil {
		return nil
	}
	return n.explain(n.close(ctx, func(ctx context.Context) error { return n.life.Close(ctx, n.keeper.leave) }))
}

// close calls end and joins the listeners, also those that a failed Start has called.
func (n *PersistentNode) close(ctx context.Context, end func(ctx context.Context) error) error {
	if ctx == nil {
		return end(ctx) // which refuses it
	}
	ctx, cancel := lifecycle.CleanUp(ctx)
	defer cancel()
	asking, stop := lifecycle.Reachable(ctx, n.keeper.api)
	defer stop()
	return errors.Join(end(asking), n.keeper.created.Close(ctx))
}

// SetData changes the wanted data of the node, and writes it. It returns nil when the node has
// the data. ctx bounds the wait, and the client's retry policy does not. When ctx ends first,
// the error matches ErrPending and ctx's error, and the node gets the data later, unless
// SetData is called again. The error also matches ErrPending while another client has taken the
// node over (WithTakeover), and while the parent is missing (WithoutParents). After any other error nothing has changed: framework.ErrTooLarge,
// framework.ErrNoAuth, *schema.Violation; framework.ErrClosed after Close, and after the end of
// the client.
//
// Calls that wait at the same time are merged: the last one wins, and all return nil when its data
// is written. Before Start, SetData sets the data that Start writes, and returns nil immediately.
// If Start fails while SetData waits, SetData returns nil, and the next Start writes the data.
//
// Java: setData.
func (n *PersistentNode) SetData(ctx context.Context, data []byte) error {
	switch {
	case n == nil || n.keeper == nil:
		return framework.ErrNotStarted
	case ctx == nil:
		return zkclient.ErrNilContext
	}
	k := n.keeper
	if err := k.client.SchemaSet().ValidateSetData(k.actualPath(), data); err != nil {
		return n.explain(err)
	}
	if state := n.life.Started(); errors.Is(state, framework.ErrClosed) {
		return n.explain(state)
	}
	write := k.mail.put(slices.Clone(data))
	if write.done == nil {
		return nil // before Start
	}
	select {
	case <-write.done:
	case <-ctx.Done():
		select {
		case <-write.done: // both at once: an answer is worth more
		default:
			return n.explain(fmt.Errorf("%w: %w", ErrPending, ctx.Err()))
		}
	}
	return n.explain(write.err)
}

// Data returns a copy of the wanted data, which a waiting SetData has changed already.
// framework.Client.GetData returns the node's present data.
//
// Java: getData.
func (n *PersistentNode) Data() []byte {
	if n == nil || n.keeper == nil {
		return nil
	}
	return slices.Clone(n.keeper.mail.want().data)
}

// ActualPath returns the path of the node, which differs from the given path for sequential and
// protected nodes. It is "" before Start, and does not change after Close.
//
// Java: getActualPath.
func (n *PersistentNode) ActualPath() string {
	if n == nil || n.keeper == nil {
		return ""
	}
	if path := n.keeper.path.Load(); path != nil {
		return *path
	}
	return ""
}

// CreatedListenable takes listeners for creations of the node, including the first one. They
// are called with its path, in order, on their own goroutines, and Close joins them. Adopting a
// node is no creation. Up to 1,024 creations wait for a slow listener; of those that come while that
// many wait it gets the last.
//
// Java: getListenable, with a PersistentNodeListener.
func (n *PersistentNode) CreatedListenable() listen.Listenable[string] {
	if n == nil || n.keeper == nil {
		return listen.Listenable[string]{}
	}
	return n.keeper.created.Listenable()
}

// explain says which node an error is about.
func (n *PersistentNode) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("kept node %s: %w", n.keeper.actualPath(), err)
}
