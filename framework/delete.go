package framework

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

func (p *deleteParams) wanted() int32 {
	if p.versionGiven {
		return p.version
	}
	return anyVersion
}

func (p deleteParams) do(ctx context.Context, c *Client, path string) error {
	if c == nil || c.core == nil {
		return &OpError{Op: "delete", Path: path, Err: errNilClient}
	}
	full, err := c.fix(path, false)
	if err == nil && p.versionGiven && p.version < anyVersion {
		err = noVersion(p.version)
	}
	if err == nil {
		err = c.SchemaSet().ValidateDelete(path)
	}
	if err != nil {
		return &OpError{Op: "delete", Path: path, Err: err}
	}
	missingOK := p.quietly
	err = c.run(ctx, operation{name: "delete", path: path, repeat: true}, func(ctx context.Context, conn *zkconn.Conn) error {
		existed, err := p.attempt(ctx, conn, full)
		missingOK = missingOK || existed
		if errors.Is(err, ErrNoNode) && missingOK {
			return nil
		}
		missingOK = missingOK || MaybeApplied(err) // the next try may find that this one has deleted the node
		return err
	})
	if err != nil && p.guaranteed && mayBeCured(err) {
		c.core.remove(ctx, full, p.wanted(), 0)
	}
	return err
}

// mayBeCured tells whether a delete that failed with err may succeed later.
func mayBeCured(err error) bool {
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	return (ended || Retryable(err)) && !errors.Is(err, ErrClosed)
}

// attempt deletes the node, with its children if asked for. existed says that the node was there, with
// children. If it is missing afterwards, others have deleted it: a server deletes empty containers.
func (p *deleteParams) attempt(ctx context.Context, conn *zkconn.Conn, full string) (existed bool, err error) {
	err = deleteNode(ctx, conn, 0, full, p.wanted())
	for p.children && errors.Is(err, ErrNotEmpty) {
		existed = true
		if err := deleteChildren(ctx, conn, full); err != nil && !errors.Is(err, ErrNoNode) {
			return existed, err
		}
		err = deleteNode(ctx, conn, 0, full, p.wanted())
	}
	return existed, err
}

func deleteNode(ctx context.Context, conn *zkconn.Conn, session int64, full string, version int32) error {
	call := &zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: full, Version: version}}
	if err := conn.Do(ctx, session, call); err != nil {
		return err
	}
	return call.Err
}

// deleteBatch is how many deletes of children travel in one write.
const deleteBatch = 256

// deleteChildren deletes everything below a node, the deepest first.
func deleteChildren(ctx context.Context, conn *zkconn.Conn, full string) error {
	names, err := listChildren(ctx, conn, full)
	if err != nil {
		return err
	}
	for len(names) > 0 {
		n := min(len(names), deleteBatch)
		calls := make([]*zkconn.Call, n)
		for i, name := range names[:n] {
			calls[i] = &zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: join(full, name), Version: anyVersion}}
		}
		if err := conn.Do(ctx, 0, calls...); err != nil {
			return err
		}
		for i, call := range calls {
			err := call.Err
			for errors.Is(err, ErrNotEmpty) {
				child := join(full, names[i])
				if err := deleteChildren(ctx, conn, child); err != nil && !errors.Is(err, ErrNoNode) {
					return err
				}
				err = deleteNode(ctx, conn, 0, child, anyVersion)
			}
			if err != nil && !errors.Is(err, ErrNoNode) {
				return err
			}
		}
		names = names[n:]
	}
	return nil
}

func listChildren(ctx context.Context, conn *zkconn.Conn, full string) ([]string, error) {
	var children jute.GetChildren2Response
	call := &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: full}, Res: &children}
	if err := conn.Do(ctx, 0, call); err != nil {
		return nil, err
	}
	return children.Children, call.Err
}
