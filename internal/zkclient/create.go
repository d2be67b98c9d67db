package zkclient

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// Created is a node that Create has made.
type Created struct {
	Path     string // the server's
	Czxid    int64
	Owner    int64    // the session whose node it is
	Session  int64    // of the client when the node was made or found
	Open     bool     // everybody may read it, and so hears of its events
	Siblings []string // the names of all children, ours among them
	Stat     jute.Stat
}

// creation is one create on its way, over several tries.
type creation struct {
	CreateRequest        // without Op and Req: each try has its own
	dir, name     string // with protection
	list          bool

	// doubt is the beginning of the name of a node that an earlier try may have made,
	// on the session doubtSession.
	doubt        string
	doubtSession int64

	result Created
}

// Create creates a node and, with list, lists its siblings in the same write.
//
// If it fails, left is the delete in the background of a node that it may have created, or nil.
func (c *Client) Create(ctx context.Context, spec NodeSpec, list bool) (created Created, left *Removal, err error) {
	cr := creation{CreateRequest: CreateRequest{c: c, spec: spec}, list: list}
	if cr.Path, err = c.Fix(spec.Path, spec.Mode.IsSequential()); err == nil {
		err = cr.fill()
	}
	if err != nil {
		return Created{}, nil, c.fail("create", spec.Path, err)
	}
	if spec.Protection {
		if spec.ProtectedBy == "" && strings.HasSuffix(spec.Path, "/") && (spec.Path != "/" || !spec.Mode.IsSequential()) {
			return Created{}, nil, c.fail("create", spec.Path, fmt.Errorf("%w %q: with protection it must end in a name", ErrInvalidPath, spec.Path))
		}
		cr.dir, cr.name = split(cr.Path)
	}
	done := false
	defer func() { // also when a user's retry policy panics
		if !done && cr.doubt != "" {
			left = c.removeLost(ctx, cr.dir, cr.doubt)
		}
	}()
	err = c.Run(ctx, Operation{Name: "create", Path: spec.Path, Repeat: spec.Repeat || spec.Protection}, cr.attempt)
	if done = err == nil; done && spec.Made != nil {
		spec.Made(cr.result.Stat)
	}
	return cr.result, nil, err
}

// attempt is one try: first an earlier one's doubt is resolved.
func (cr *creation) attempt(ctx context.Context, conn *zkconn.Conn) error {
	if cr.doubt != "" {
		found, err := cr.resolve(ctx, conn)
		if err != nil || found {
			return err
		}
	}
	err := cr.send(ctx, conn)
	parents := cr.spec.Parents != NoParents
	// Once is not enough: the server may remove a container before our node is in it, and somebody
	// may delete a node that exists before its data is set.
	idle := false
	for range 5 {
		switch {
		case errors.Is(err, zkconn.ErrNoNode) && (parents || cr.c.prefix != ""):
			made, err := cr.c.makeParents(ctx, conn, cr.Path, &cr.spec)
			if err != nil && !errors.Is(err, errReaped) {
				return NotApplied(err)
			}
			if !made && idle && !parents { // one below the namespace is missing
				return zkconn.ErrNoNode
			}
			idle = !made
		case errors.Is(err, zkconn.ErrNodeExists) && (cr.spec.OrSet || cr.spec.Idempotent):
			if err := cr.useExisting(ctx, conn); !errors.Is(err, zkconn.ErrNoNode) {
				return err
			}
		default:
			return err
		}
		err = cr.send(ctx, conn)
	}
	return err
}

// send creates the node, under a fresh id if it is protected.
func (cr *creation) send(ctx context.Context, conn *zkconn.Conn) error {
	full, prefix := cr.Path, ""
	if cr.spec.Protection {
		if prefix = cr.spec.ProtectedBy; prefix == "" {
			prefix = cr.c.protection.prefix()
		}
		full = Join(cr.dir, prefix+cr.name)
	}
	var created jute.Create2Response
	create := &zkconn.Call{Res: &created}
	create.Op, create.Req = cr.at(full)
	var siblings jute.GetChildren2Response
	calls := []*zkconn.Call{create}
	if cr.list {
		calls = append(calls, &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: cr.dir}, Res: &siblings})
	}
	if err := conn.Do(ctx, 0, calls...); err != nil {
		if cr.spec.Protection && MaybeApplied(err) {
			cr.doubt, cr.doubtSession = prefix, create.Session
		}
		return err
	}
	if create.Err != nil {
		return create.Err
	}
	if cr.list && calls[1].Err != nil {
		if cr.spec.Protection && Retryable(calls[1].Err) { // the node is found by the next try
			cr.doubt, cr.doubtSession = prefix, create.Session
		} else {
			cr.c.Remove(ctx, created.Path, 0)
		}
		return calls[1].Err
	}
	if cr.spec.Times && created.Stat.Ctime == 0 {
		cr.addTimes(ctx, conn, &created)
	}
	cr.note(created.Path, created.Stat, create.Session, siblings.Children)
	return nil
}

// addTimes reads the times of a node that was created by a server that does not answer with its Stat: zkconn has made that
// of the request. If they cannot be read they stay zero, because the node is made all the same.
func (cr *creation) addTimes(ctx context.Context, conn *zkconn.Conn, created *jute.Create2Response) {
	look := zkconn.Exists(created.Path, nil)
	if err := conn.Do(ctx, 0, look); err != nil {
		return
	}
	if now := look.Stat(); now != nil && now.Czxid == created.Stat.Czxid {
		created.Stat.Ctime, created.Stat.Mtime = now.Ctime, now.Ctime
	}
}

// note keeps the node as the result.
func (cr *creation) note(path string, stat jute.Stat, session int64, siblings []string) {
	cr.result = cr.created(path, stat, session, siblings)
}

// created returns a node that was created or found.
func (cr *creation) created(path string, stat jute.Stat, session int64, siblings []string) Created {
	return Created{
		Path: path, Czxid: stat.Czxid, Owner: stat.EphemeralOwner, Session: session,
		Open: cr.readable(), Siblings: siblings, Stat: stat,
	}
}

// resolve looks for the node that an earlier try may have created. There is another connection by now,
// so the server refuses requests that still arrive on the old one. The sync makes sure that this
// server has applied what was applied before.
func (cr *creation) resolve(ctx context.Context, conn *zkconn.Conn) (found bool, err error) {
	names, session, err := findProtected(ctx, conn, cr.dir, cr.doubt)
	if err != nil {
		return false, err
	}
	for _, name := range names.matching {
		full := Join(cr.dir, name)
		var stat jute.StatResponse
		call := &zkconn.Call{Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: full}, Res: &stat}
		if err := conn.Do(ctx, session, call); err != nil { // it may match any error: the cause of ctx
			return false, err
		}
		if errors.Is(call.Err, zkconn.ErrNoNode) {
			continue
		}
		// Newer servers do not show the Stat of a node that we may not read. An ephemeral node needs it: whose it is, and
		// its czxid. A persistent one is ours by its name.
		unread := errors.Is(call.Err, zkconn.ErrNoAuth)
		if call.Err != nil && !unread {
			return false, call.Err
		}
		if cr.spec.Mode.IsEphemeral() && (unread || stat.Stat.EphemeralOwner != session || cr.doubtSession != session) {
			cr.c.Remove(ctx, full, 0) // if it can be read it belongs to a session that is over
			continue
		}
		cr.doubt = ""
		cr.note(full, stat.Stat, session, names.all)
		return true, nil
	}
	cr.doubt = ""
	return false, nil
}

type protectedNames struct{ all, matching []string }

// findProtected lists dir as it was at some time after the call, and returns the names
// that begin with prefix.
func findProtected(ctx context.Context, conn *zkconn.Conn, dir, prefix string) (protectedNames, int64, error) {
	var children jute.GetChildren2Response
	calls := []*zkconn.Call{
		{Op: jute.OpSync, Req: &jute.PathRequest{Path: dir}, Res: &jute.SyncResponse{}},
		{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: dir}, Res: &children},
	}
	if err := conn.Do(ctx, 0, calls...); err != nil {
		return protectedNames{}, 0, err
	}
	for _, call := range calls {
		if call.Err != nil && !errors.Is(call.Err, zkconn.ErrNoNode) {
			return protectedNames{}, 0, call.Err
		}
	}
	names := protectedNames{all: children.Children}
	for _, name := range children.Children {
		if strings.HasPrefix(name, prefix) {
			names.matching = append(names.matching, name)
		}
	}
	return names, calls[1].Session, nil
}

// removeProtected deletes the nodes in dir whose names begin with prefix.
func removeProtected(ctx context.Context, conn *zkconn.Conn, dir, prefix string) error {
	names, session, err := findProtected(ctx, conn, dir, prefix)
	for _, name := range names.matching {
		if err := Delete(ctx, conn, session, Join(dir, name), AnyVersion); err != nil && !errors.Is(err, zkconn.ErrNoNode) {
			return err
		}
	}
	return err
}

// removeLost removes the nodes in dir that a lost create may have made, whose names begin with prefix, in the
// background. It returns nil when the client is closed. cause is the context of the create.
func (c *Client) removeLost(cause context.Context, dir, prefix string) *Removal {
	op := c.background(cause, Join(dir, prefix), 1) // may panic in a user's tracer
	if !c.beginRemoval() {
		op.end(0, zkconn.ErrClosed)
		return nil
	}
	r := &Removal{Done: make(chan struct{})}
	go func() {
		defer c.endRemoval()
		defer close(r.Done)
		err := op.untilKnown(func(ctx context.Context, conn *zkconn.Conn) error {
			return removeProtected(ctx, conn, dir, prefix)
		})
		if err != nil {
			c.giveUp(fmt.Sprintf("remove what a lost create may have made at %s/%s", dir, prefix), err)
		}
	}()
	return r
}
