package framework

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

func (p createParams) do(ctx context.Context, c *Client, path string) (string, error) {
	in := c.inside()
	if in == nil {
		return "", &OpError{Op: "create", Path: path, Err: zkclient.ErrNilClient}
	}
	if err := p.check(); err != nil {
		return "", &OpError{Op: "create", Path: path, Err: err}
	}
	created, _, err := in.Create(ctx, p.spec(path), false)
	if err != nil {
		return "", err
	}
	storeStat(p.stat, created.Stat)
	return in.ClientPath(created.Path), nil
}

func (p createParams) op(c *Client, path string) Op {
	mode, _ := p.mode.wire()
	return newOp(c, "create", path, mode.IsSequential(), func(full string) (zkconn.MultiOp, error) {
		if err := p.check(); err != nil {
			return zkconn.MultiOp{}, err
		}
		spec := p.spec(path)
		spec.Data = bytes.Clone(spec.Data) // it is read at the commit
		return c.inside().CreateOp(full, spec)
	})
}

// spec returns the node that the steps describe; they were checked.
func (p *createParams) spec(path string) zkclient.NodeSpec {
	mode, _ := p.mode.wire()
	spec := zkclient.NodeSpec{
		Path: path, Mode: mode, TTL: p.ttl,
		Data: p.data, DefaultData: !p.dataGiven, Compressed: compressed(p.compressed, p.uncompressed),
		Parents: parents(p.parents, p.containers), ACLOnParents: p.aclOnParents, Protection: p.protection,
		Idempotent: p.idempotent, OrSet: p.orSet || p.orSetVersionGiven, OrSetVersion: zkclient.AnyVersion,
		Times: p.stat != nil,
	}
	if p.aclGiven {
		spec.ACL = zkclient.NewACL(p.acl)
	}
	if p.orSetVersionGiven {
		spec.OrSetVersion = p.orSetVersion
	}
	spec.Repeat = p.idempotent || spec.OrSet && !p.orSetVersionGiven
	return spec
}

func parents(persistent, containers bool) zkclient.Parents {
	switch {
	case containers:
		return zkclient.ContainerParents
	case persistent:
		return zkclient.PersistentParents
	}
	return zkclient.NoParents
}

// check refuses what does not go together.
func (p *createParams) check() error {
	mode, ok := p.mode.wire()
	switch {
	case !ok:
		return fmt.Errorf("%w: WithMode: there is no mode %d", ErrInvalidBuilder, p.mode)
	case p.parents && p.containers:
		return fmt.Errorf("%w: CreatingParentsIfNeeded and CreatingParentContainersIfNeeded", ErrInvalidBuilder)
	case p.aclGiven && len(p.acl) == 0:
		return fmt.Errorf("%w: WithACL without an ACL", ErrInvalidBuilder)
	case p.aclOnParents && !p.aclGiven:
		return fmt.Errorf("%w: WithACLOnParents without WithACL", ErrInvalidBuilder)
	case p.aclOnParents && !p.parents && !p.containers:
		return fmt.Errorf("%w: WithACLOnParents without a step that creates parents", ErrInvalidBuilder)
	case p.ttlGiven != mode.IsTimed():
		return fmt.Errorf("%w: WithTTL and a mode with a time to live need each other", ErrInvalidBuilder)
	case p.ttlGiven && (p.ttl < time.Millisecond || p.ttl%time.Millisecond != 0 || p.ttl > maxTTL):
		return fmt.Errorf("%w: WithTTL(%v) is not in whole milliseconds from 1 ms to %v", ErrInvalidBuilder, p.ttl, maxTTL)
	}
	if err := p.checkExisting(mode); err != nil {
		return err
	}
	return checkCompression(p.compressed, p.uncompressed)
}

// maxTTL is the longest time to live that a server can store.
const maxTTL = (1<<40 - 1) * time.Millisecond

// checkExisting refuses steps about a node that exists where there can be none.
func (p *createParams) checkExisting(mode zkclient.Mode) error {
	if !p.orSet && !p.orSetVersionGiven && !p.idempotent {
		return nil
	}
	switch {
	case mode.IsSequential():
		return fmt.Errorf("%w: OrSetData or Idempotent for a sequential node, which is always a new one", ErrInvalidBuilder)
	case p.protection:
		return fmt.Errorf("%w: OrSetData or Idempotent WithProtection, which makes a name of its own", ErrInvalidBuilder)
	case p.orSetVersionGiven && p.orSetVersion < zkclient.AnyVersion:
		return fmt.Errorf("%w: OrSetDataVersion: there is no version %d", ErrInvalidBuilder, p.orSetVersion)
	}
	return nil
}
