package zkclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// SetData is a setData on its way.
type SetData struct {
	Path       string // the server's
	Data       []byte // as it is stored
	Version    int32  // of the node; AnyVersion for any
	Idempotent bool   // a node that has the data already, one version later, is as it is to be
}

// PrepareSetData returns what is to be sent to the server's path: judged by the schemas, and compressed.
func (c *Client) PrepareSetData(full string, data []byte, compressed Compressed) (s *SetData, err error) {
	if err := c.cfg.Schemas.ValidateSetData(c.ClientPath(full), data); err != nil {
		return nil, err
	}
	s = &SetData{Path: full, Version: AnyVersion}
	s.Data, err = c.stored(full, data, compressed)
	return s, err
}

// SetData sets the data of a node that is at a version, which may be any but -1: versions of
// nodes that are written more than 2^31 times are negative. The data is not compressed. It is
// not repeated when the reply is lost.
func (c *Client) SetData(ctx context.Context, path string, data []byte, version int32) (stat jute.Stat, err error) {
	if c == nil {
		return jute.Stat{}, ErrNilClient
	}
	full, err := c.ServerPath(path)
	var s *SetData
	switch {
	case err != nil:
	case version == AnyVersion:
		err = fmt.Errorf("%w: -1 stands for any version", zkconn.ErrBadVersion)
	default:
		s, err = c.PrepareSetData(full, data, Never)
	}
	if err != nil {
		return jute.Stat{}, c.fail("setData", path, err)
	}
	s.Version = version
	err = c.Run(ctx, Operation{Name: "setData", Path: path}, func(ctx context.Context, conn *zkconn.Conn) (err error) {
		stat, err = s.Try(ctx, conn)
		return err
	})
	return stat, err
}

// Try is one try.
func (s *SetData) Try(ctx context.Context, conn *zkconn.Conn) (jute.Stat, error) {
	var res jute.StatResponse
	call := &zkconn.Call{
		Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: s.Path, Data: s.Data, Version: s.Version}, Res: &res,
	}
	if err := conn.Do(ctx, 0, call); err != nil { // it may match any error: the cause of ctx
		return jute.Stat{}, err
	}
	if !s.Idempotent || s.Version == AnyVersion || !errors.Is(call.Err, zkconn.ErrBadVersion) {
		return res.Stat, call.Err
	}
	// An earlier try may have been applied, or somebody wrote the same.
	stat, same, err := hasData(ctx, conn, s.Path, s.Data)
	if err != nil {
		return jute.Stat{}, NotApplied(err)
	}
	if same && stat.Version == s.Version+1 {
		return stat, nil
	}
	return jute.Stat{}, zkconn.ErrBadVersion
}

// hasData tells whether a node has this data. A server without a quorum is not asked: what it shows may be
// older than a change of this client.
func hasData(ctx context.Context, conn *zkconn.Conn, full string, data []byte) (jute.Stat, bool, error) {
	var res jute.GetDataResponse
	call := &zkconn.Call{Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: full}, Res: &res}
	if err := conn.DoAtQuorum(ctx, call); err != nil {
		return jute.Stat{}, false, err
	}
	return res.Stat, bytes.Equal(res.Data, data), call.Err
}

// useExisting uses the node that exists already. It returns ErrNoNode if the node is gone meanwhile.
func (cr *creation) useExisting(ctx context.Context, conn *zkconn.Conn) error {
	if cr.spec.Idempotent {
		stat, same, err := hasData(ctx, conn, cr.Path, cr.Data)
		if err != nil {
			return NotApplied(err)
		}
		session, _ := conn.Session()
		foreign := cr.spec.Mode.IsEphemeral() && stat.EphemeralOwner != session // it ends with another session
		if same && stat.Version == 0 && !foreign {
			cr.note(cr.Path, stat, session, nil)
			return nil
		}
	}
	if !cr.spec.OrSet {
		return zkconn.ErrNodeExists
	}
	set := SetData{Path: cr.Path, Data: cr.Data, Version: cr.spec.OrSetVersion, Idempotent: cr.spec.Idempotent}
	stat, err := set.Try(ctx, conn)
	if err == nil {
		cr.note(cr.Path, stat, 0, nil)
	}
	return err
}
