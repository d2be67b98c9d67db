package framework

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// checkExisting refuses steps about a node that exists where there can be none.
func (p *createParams) checkExisting() error {
	p.orSet = p.orSet || p.orSetVersionGiven
	if !p.orSet && !p.idempotent {
		return nil
	}
	switch {
	case p.mode.sequential():
		return fmt.Errorf("%w: OrSetData or Idempotent for a sequential node, which is always a new one", ErrInvalidBuilder)
	case p.protection:
		return fmt.Errorf("%w: OrSetData or Idempotent WithProtection, which makes a name of its own", ErrInvalidBuilder)
	case p.orSetVersionGiven && p.orSetVersion < anyVersion:
		return fmt.Errorf("%w: OrSetDataVersion: there is no version %d", ErrInvalidBuilder, p.orSetVersion)
	}
	return nil
}

// useExisting uses the node that exists already. It returns ErrNoNode if the node is gone meanwhile.
func (cr *createOp) useExisting(ctx context.Context, conn *zkconn.Conn) error {
	if cr.p.idempotent {
		stat, same, err := hasData(ctx, conn, cr.full, cr.data)
		if err != nil {
			return notApplied(err)
		}
		session, _ := conn.Session()
		foreign := cr.p.mode.ephemeral() && stat.EphemeralOwner != session // it ends with another session
		if same && stat.Version == 0 && !foreign {
			cr.note(cr.full, stat, session, nil)
			return nil
		}
	}
	if !cr.p.orSet {
		return ErrNodeExists
	}
	set := setDataOp{full: cr.full, data: cr.data, version: anyVersion, idempotent: cr.p.idempotent}
	if cr.p.orSetVersionGiven {
		set.version = cr.p.orSetVersion
	}
	stat, err := set.attempt(ctx, conn)
	if err == nil {
		cr.note(cr.full, stat, 0, nil)
	}
	return err
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

// setDataOp is a setData on its way.
type setDataOp struct {
	full       string
	data       []byte
	version    int32
	idempotent bool
}

// attempt is one try.
func (s *setDataOp) attempt(ctx context.Context, conn *zkconn.Conn) (jute.Stat, error) {
	var res jute.StatResponse
	call := &zkconn.Call{
		Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: s.full, Data: s.data, Version: s.version}, Res: &res,
	}
	if err := conn.Do(ctx, 0, call); err != nil {
		return jute.Stat{}, err
	}
	if !s.idempotent || s.version == anyVersion || !errors.Is(call.Err, ErrBadVersion) {
		return res.Stat, call.Err
	}
	// An earlier try may have been applied, or somebody wrote the same.
	stat, same, err := hasData(ctx, conn, s.full, s.data)
	if err != nil {
		return jute.Stat{}, notApplied(err)
	}
	if same && stat.Version == s.version+1 {
		return stat, nil
	}
	return jute.Stat{}, ErrBadVersion
}
