package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// GroupMember registers this process in a group, and knows the other members. To follow a group
// without joining it, follow the children of its path with package cache. A nil GroupMember and
// the zero value are in no group, and cannot be started.
//
// The known members may be behind, usually by a round trip, and while there is no connection. A
// member that was killed stays until its session ends.
//
// Java: GroupMember, with which it shares groups.
type GroupMember struct {
	life    lifecycle.Lifecycle
	id      string
	node    *PersistentNode
	members *members
	joined  atomic.Bool
}

var _ framework.Component = (*GroupMember)(nil)

// NewGroupMember returns a member of the group at path. id is the name of its node, and must be
// unique: two members with one id share a node. A nil payload is the client's default data, as
// in Java. It does no I/O. It accepts the options WithName, WithACL, WithoutParents and
// WithStartInBackground.
//
// Errors: framework.ErrInvalidPath for a path, or for an id that cannot be the name of a node;
// framework.ErrInvalidOption; framework.ErrNotStarted for a nil client.
//
// Java: GroupMember.
func NewGroupMember(client *framework.Client, path, id string, payload []byte, opts ...Option) (*GroupMember, error) {
	client, cfg, err := newConfig(client, opts)
	if err == nil && (cfg.protected || cfg.touchGiven) {
		err = fmt.Errorf("%w: WithProtection and WithTouch are not for members of a group", framework.ErrInvalidOption)
	}
	if err != nil {
		return nil, err
	}
	if client == nil {
		return nil, framework.ErrNotStarted
	}
	full, err := zkclient.Of(client).ServerPath(path)
	if err != nil {
		return nil, err
	}
	if id == "" || strings.Contains(id, "/") {
		return nil, fmt.Errorf("%w: the id %q cannot be the name of a node", framework.ErrInvalidPath, id)
	}
	if payload == nil {
		payload = client.DefaultData()
	}
	node, err := newNode(client, paths.Make(path, id), framework.Ephemeral, 0, slices.Clone(payload), cfg)
	if err != nil {
		return nil, fmt.Errorf("the id %q: %w", id, err)
	}
	m := &GroupMember{id: id, node: node, members: newMembers(client, path, strings.TrimSuffix(full, "/"))}
	if cfg.background { // then the node goes on by itself
		m.life.InBackground(lifecycle.Background{Client: client, What: "group member " + paths.Make(path, id), Prepare: node.Start})
	}
	return m, nil
}

// Start joins the group. It returns nil when the member's node exists and the others are known. ctx bounds
// only Start. With WithStartInBackground it does not wait. For an existing node with this id see
// PersistentNode.Start.
//
// Errors: those of PersistentNode.Start, and framework.ErrUnimplemented from servers before 3.6,
// which have no persistent watches.
//
// Java: start.
func (m *GroupMember) Start(ctx context.Context) error {
	if m == nil || m.node == nil {
		return framework.ErrNotStarted
	}
	return m.explain(m.life.Start(ctx, m.begin, m.members.work))
}

func (m *GroupMember) begin(ctx context.Context) (err error) {
	begun := false
	defer func() { // also when a retry policy of the user panics
		if !begun {
			cleanUp, cancel := lifecycle.CleanUp(ctx)
			defer cancel()
			err = errors.Join(err, m.members.end(cleanUp))
		}
	}()
	if err := m.members.begin(ctx); err != nil {
		return err
	}
	if err := m.join(ctx); err != nil {
		return err
	}
	begun = true
	m.joined.Store(true)
	m.members.wakeWaiters()
	return nil
}

// join creates the member's node, or waits until a Start in the background has created it.
func (m *GroupMember) join(ctx context.Context) error {
	if !m.node.keeper.background {
		return m.node.Start(ctx)
	}
	select {
	case <-m.node.keeper.there:
		return nil
	case <-ctx.Done():
		return zkclient.ContextError(ctx)
	case <-m.members.client.Done():
		return framework.ErrClosed
	}
}

// Close leaves the group: it deletes the member's node as PersistentNode.Close does, removes the
// watch, and joins the goroutines. Members still returns the last known other members. Close is
// idempotent, allowed before Start, and works with an ended ctx.
//
// Java: close.
func (m *GroupMember) Close(ctx context.Context) error {
	if m == nil || m.node == nil {
		return nil
	}
	return m.explain(m.life.Close(ctx, func(ctx context.Context) error {
		ctx, cancel := lifecycle.Reachable(ctx, m.members.api) // for both together
		defer cancel()
		return errors.Join(m.node.Close(ctx), m.members.end(ctx))
	}))
}

// SetPayload changes the payload; a nil one is the client's default data. See
// PersistentNode.SetData.
//
// Java: setThisData.
func (m *GroupMember) SetPayload(ctx context.Context, payload []byte) error {
	switch {
	case m == nil || m.node == nil:
		return framework.ErrNotStarted
	case payload == nil:
		payload = m.members.client.DefaultData()
	}
	return m.node.SetData(ctx, payload)
}

// Members returns the ids and payloads of the known members; the caller owns the map and its
// contents. This member is always among them from Start to Close, also while its node is
// missing. Before Start the map is empty, and while a Start in the background has not succeeded.
//
// Java: getCurrentMembers.
func (m *GroupMember) Members() map[string][]byte {
	if m == nil || m.node == nil {
		return map[string][]byte{}
	}
	known, _, _ := m.members.snapshot()
	return m.with(known)
}

// with returns a copy of what is known of the others, with this member.
func (m *GroupMember) with(known map[string][]byte) map[string][]byte {
	if !m.joined.Load() {
		return map[string][]byte{}
	}
	all := cloned(known)
	_, there := all[m.id]
	switch closed := errors.Is(m.life.Started(), framework.ErrClosed); { // Start may not have returned yet
	case closed:
		delete(all, m.id)
	case !there:
		all[m.id] = m.node.Data()
	}
	return all
}

func cloned(members map[string][]byte) map[string][]byte {
	all := make(map[string][]byte, len(members)+1)
	for id, payload := range members {
		all[id] = bytes.Clone(payload)
	}
	return all
}

// Updates iterates over the members: first over the present members, then whenever they or
// their payloads have changed, until ctx ends, Close is called or the client is closed. A slow
// loop body gets the latest members, and not every change. Before Start it waits for Start. The
// caller owns every map. Several loops may run at the same time.
//
// Java: none.
func (m *GroupMember) Updates(ctx context.Context) iter.Seq[map[string][]byte] {
	return func(yield func(map[string][]byte) bool) {
		if m == nil || m.node == nil || ctx == nil {
			return
		}
		var last map[string][]byte
		for {
			known, changed, over := m.members.snapshot()
			if over || ctx.Err() != nil || errors.Is(m.life.Started(), framework.ErrClosed) {
				return
			}
			joined := m.joined.Load() // if it is, the members are with this one
			if all := m.with(known); joined && (last == nil || !maps.EqualFunc(last, all, bytes.Equal)) {
				last = cloned(all) // the loop's body may change all
				if !yield(all) {
					return
				}
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
			case <-m.life.Done():
			case <-m.members.client.Done():
				return // without a watch nothing else tells of it
			}
		}
	}
}

// explain says which member an error is about.
func (m *GroupMember) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("group member %s: %w", m.id, err)
}
