package framework

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/zkconn"
)

// check refuses what does not go together.
func (p *createParams) check() error {
	switch {
	case !p.mode.valid():
		return fmt.Errorf("%w: WithMode: there is no mode %d", ErrInvalidBuilder, p.mode)
	case p.parents && p.containers:
		return fmt.Errorf("%w: CreatingParentsIfNeeded and CreatingParentContainersIfNeeded", ErrInvalidBuilder)
	case p.aclGiven && len(p.acl) == 0:
		return fmt.Errorf("%w: WithACL without an ACL", ErrInvalidBuilder)
	case p.aclOnParents && !p.aclGiven:
		return fmt.Errorf("%w: WithACLOnParents without WithACL", ErrInvalidBuilder)
	case p.aclOnParents && !p.parents && !p.containers:
		return fmt.Errorf("%w: WithACLOnParents without a step that creates parents", ErrInvalidBuilder)
	case p.ttlGiven != p.mode.timed():
		return fmt.Errorf("%w: WithTTL and a mode with a time to live need each other", ErrInvalidBuilder)
	case p.ttlGiven && (p.ttl < time.Millisecond || p.ttl%time.Millisecond != 0 || p.ttl > maxTTL):
		return fmt.Errorf("%w: WithTTL(%v) is not in whole milliseconds from 1 ms to %v", ErrInvalidBuilder, p.ttl, maxTTL)
	}
	return p.checkExisting()
}

// maxTTL is the longest time to live that a server can store.
const maxTTL = (1<<40 - 1) * time.Millisecond

// contents returns the node's data and ACL as they are to be sent.
func (p *createParams) contents(c *Client, full string) (data []byte, acl []jute.ACL, err error) {
	data = p.data
	if !p.dataGiven {
		data = c.core.cfg.defaultData
	}
	if p.aclGiven {
		acl = wireACL(p.acl)
	} else if acl, err = c.defaultACL(full); err != nil {
		return nil, nil, err
	}
	if schemas := c.SchemaSet(); schemas != nil {
		if err := schemas.ValidateCreate(c.unfix(full), p.mode.ephemeral(), p.mode.sequential(), data, schemaACL(acl)); err != nil {
			return nil, nil, err
		}
	}
	data, err = c.compress(full, data, p.compressed, p.uncompressed)
	return data, acl, err
}

// request is the node in the protocol's terms.
func (p *createParams) request(full string, data []byte, acl []jute.ACL) (jute.Op, jute.Record) {
	if p.mode.timed() {
		return jute.OpCreateTTL, &jute.CreateTTLRequest{
			Path: full, Data: data, ACL: acl, Flags: p.mode.flags(), TTL: p.ttl.Milliseconds(),
		}
	}
	op := jute.OpCreate2
	if p.mode == Container {
		op = jute.OpCreateContainer
	}
	return op, &jute.CreateRequest{Path: full, Data: data, ACL: acl, Flags: p.mode.flags()}
}

func (p createParams) do(ctx context.Context, c *Client, path string) (string, error) {
	created, _, err := p.create(ctx, c, path, false)
	if err != nil {
		return "", err
	}
	return c.unfix(created.Path), nil
}

// create creates the node and, with list, lists its siblings in the same write.
//
// If it fails, left is the delete in the background of a node that it may have created, or nil.
func (p *createParams) create(ctx context.Context, c *Client, path string, list bool) (created recipeapi.Created, left *recipeapi.PendingDelete, err error) {
	fail := func(err error) (recipeapi.Created, *recipeapi.PendingDelete, error) {
		return recipeapi.Created{}, nil, &OpError{Op: "create", Path: path, Err: err}
	}
	if c == nil || c.core == nil {
		return fail(errNilClient)
	}
	if err := p.check(); err != nil {
		return fail(err)
	}
	full, err := c.fix(path, p.mode.sequential())
	if err != nil {
		return fail(err)
	}
	cr := createOp{c: c, p: p, full: full, list: list}
	if cr.data, cr.acl, err = p.contents(c, full); err != nil {
		return fail(err)
	}
	if p.protection {
		if strings.HasSuffix(path, "/") && (path != "/" || !p.mode.sequential()) {
			return fail(fmt.Errorf("%w %q: with protection it must end in a name", ErrInvalidPath, path))
		}
		cr.dir, cr.name = split(full)
	}
	done := false
	defer func() { // also when a user's retry policy panics
		if !done && cr.doubt != "" {
			left = c.core.removeLostCreates(ctx, cr.dir, cr.doubt)
		}
	}()
	repeat := p.protection || p.idempotent || p.orSet && !p.orSetVersionGiven
	err = c.run(ctx, operation{name: "create", path: path, repeat: repeat}, cr.attempt)
	if done = err == nil; done {
		storeStat(p.stat, cr.stat)
	}
	return cr.result, nil, err
}

// attempt is one try: first an earlier one's doubt is resolved.
func (cr *createOp) attempt(ctx context.Context, conn *zkconn.Conn) error {
	if cr.doubt != "" {
		found, err := cr.resolve(ctx, conn)
		if err != nil || found {
			return err
		}
	}
	err := cr.send(ctx, conn)
	// Once is not enough: the server may remove a container before our node is in it, and somebody
	// may delete a node that exists before its data is set.
	idle := false
	for range 5 {
		switch {
		case errors.Is(err, ErrNoNode) && (cr.p.parents || cr.p.containers || cr.c.prefix != ""):
			made, err := cr.createMissingParents(ctx, conn)
			if err != nil && !errors.Is(err, errReaped) {
				return notApplied(err)
			}
			if !made && idle && !cr.p.parents && !cr.p.containers { // one below the namespace is missing
				return ErrNoNode
			}
			idle = !made
		case errors.Is(err, ErrNodeExists) && (cr.p.orSet || cr.p.idempotent):
			if err := cr.useExisting(ctx, conn); !errors.Is(err, ErrNoNode) {
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
func (cr *createOp) send(ctx context.Context, conn *zkconn.Conn) error {
	full, prefix := cr.full, ""
	if cr.p.protection {
		prefix = cr.c.core.protection.prefix()
		full = join(cr.dir, prefix+cr.name)
	}
	op, req := cr.p.request(full, cr.data, cr.acl)
	var created jute.Create2Response
	var siblings jute.GetChildren2Response
	calls := []*zkconn.Call{{Op: op, Req: req, Res: &created}}
	if cr.list {
		calls = append(calls, &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: cr.dir}, Res: &siblings})
	}
	if err := conn.Do(ctx, 0, calls...); err != nil {
		if cr.p.protection && MaybeApplied(err) {
			cr.doubt, cr.doubtSession = prefix, calls[0].Session
		}
		return err
	}
	if calls[0].Err != nil {
		return calls[0].Err
	}
	if cr.list && calls[1].Err != nil {
		if cr.p.protection && Retryable(calls[1].Err) { // the node is found by the next try
			cr.doubt, cr.doubtSession = prefix, calls[0].Session
		} else {
			cr.c.core.remove(ctx, created.Path, anyVersion, 0)
		}
		return calls[1].Err
	}
	cr.note(created.Path, created.Stat, calls[0].Session, siblings.Children)
	return nil
}

// resolve looks for the node that an earlier try may have created. There is another connection by now,
// so the server refuses requests that still arrive on the old one. The sync makes sure that this
// server has applied what was applied before.
func (cr *createOp) resolve(ctx context.Context, conn *zkconn.Conn) (found bool, err error) {
	names, session, err := findProtected(ctx, conn, cr.dir, cr.doubt)
	if err != nil {
		return false, err
	}
	for _, name := range names.matching {
		full := join(cr.dir, name)
		var stat jute.StatResponse
		call := &zkconn.Call{Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: full}, Res: &stat}
		if err := conn.Do(ctx, session, call); err != nil {
			return false, err
		}
		if errors.Is(call.Err, ErrNoNode) {
			continue
		}
		if call.Err != nil {
			return false, call.Err
		}
		if cr.p.mode.ephemeral() && (stat.Stat.EphemeralOwner != session || cr.doubtSession != session) {
			cr.c.core.remove(ctx, full, anyVersion, 0) // it belongs to a session that is over
			continue
		}
		cr.doubt = ""
		cr.note(full, stat.Stat, session, names.all)
		return true, nil
	}
	cr.doubt = ""
	return false, nil
}
