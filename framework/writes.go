package framework

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

func (p *deleteParams) wanted() int32 {
	if p.versionGiven {
		return p.version
	}
	return zkclient.AnyVersion
}

func (p deleteParams) do(ctx context.Context, c *Client, path string) error {
	in := c.inside()
	full, err := in.ServerPath(path)
	if err == nil && p.versionGiven && p.version < zkclient.AnyVersion {
		err = noVersion(p.version)
	}
	if err == nil {
		err = in.Schemas().ValidateDelete(path)
	}
	if err != nil {
		return &OpError{Op: "delete", Path: path, Err: err}
	}
	missingOK := p.quietly
	err = in.Run(ctx, zkclient.Operation{Name: "delete", Path: path, Repeat: true}, func(ctx context.Context, conn *zkconn.Conn) error {
		existed, err := p.attempt(ctx, conn, full)
		missingOK = missingOK || existed
		if errors.Is(err, ErrNoNode) && missingOK {
			return nil
		}
		missingOK = missingOK || MaybeApplied(err) // the next try may find that this one has deleted the node
		return err
	})
	if err != nil && p.guaranteed && mayBeCured(err) {
		if _, closed := in.Usable(ctx); closed == nil { // an ErrClosed in err may be the cause of ctx
			in.RemoveVersion(ctx, full, p.wanted())
		}
	}
	return err
}

func (p deleteParams) op(c *Client, path string) Op {
	return newOp(c, "delete", path, false, func(full string) (zkconn.MultiOp, error) {
		if p.wanted() < zkclient.AnyVersion {
			return zkconn.MultiOp{}, noVersion(p.version)
		}
		if err := c.inside().Schemas().ValidateDelete(path); err != nil {
			return zkconn.MultiOp{}, err
		}
		return zkconn.MultiOp{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: full, Version: p.wanted()}}, nil
	})
}

// mayBeCured tells whether a delete that failed with err may succeed later.
func mayBeCured(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || Retryable(err)
}

// attempt deletes the node, with its children if asked for. existed says that the node was there, with
// children. If it is missing afterwards, others have deleted it: a server deletes empty containers.
func (p *deleteParams) attempt(ctx context.Context, conn *zkconn.Conn, full string) (existed bool, err error) {
	err = zkclient.Delete(ctx, conn, 0, full, p.wanted())
	for p.children && errors.Is(err, ErrNotEmpty) {
		existed = true
		if err := deleteChildren(ctx, conn, full); err != nil && !errors.Is(err, ErrNoNode) {
			return existed, err
		}
		err = zkclient.Delete(ctx, conn, 0, full, p.wanted())
	}
	return existed, err
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
			calls[i] = &zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: zkclient.Join(full, name), Version: zkclient.AnyVersion}}
		}
		if err := conn.Do(ctx, 0, calls...); err != nil {
			return err
		}
		for i, call := range calls {
			err := call.Err
			for errors.Is(err, ErrNotEmpty) {
				child := zkclient.Join(full, names[i])
				if err := deleteChildren(ctx, conn, child); err != nil && !errors.Is(err, ErrNoNode) {
					return err
				}
				err = zkclient.Delete(ctx, conn, 0, child, zkclient.AnyVersion)
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

// write returns what is to be sent.
func (p *setDataParams) write(in *zkclient.Client, full string, data []byte) (*zkclient.SetData, error) {
	if p.versionGiven && p.version < zkclient.AnyVersion {
		return nil, noVersion(p.version)
	}
	if err := checkCompression(p.compressed, p.uncompressed); err != nil {
		return nil, err
	}
	s, err := in.PrepareSetData(full, data, compressed(p.compressed, p.uncompressed))
	if err != nil {
		return nil, err
	}
	if s.Idempotent = p.idempotent; p.versionGiven {
		s.Version = p.version
	}
	return s, nil
}

// checkCompression refuses steps that exclude each other.
func checkCompression(yes, no bool) error {
	if yes && no {
		return fmt.Errorf("%w: Compressed and Uncompressed", ErrInvalidBuilder)
	}
	return nil
}

func compressed(yes, no bool) zkclient.Compressed {
	switch {
	case yes:
		return zkclient.Always
	case no:
		return zkclient.Never
	}
	return zkclient.AsConfigured
}

func (p setDataParams) do(ctx context.Context, c *Client, path string, data []byte) (Stat, error) {
	in := c.inside()
	full, err := in.ServerPath(path)
	var s *zkclient.SetData
	if err == nil {
		s, err = p.write(in, full, data)
	}
	if err != nil {
		return Stat{}, &OpError{Op: "setData", Path: path, Err: err}
	}
	var stat jute.Stat
	err = in.Run(ctx, zkclient.Operation{Name: "setData", Path: path, Repeat: p.idempotent}, func(ctx context.Context, conn *zkconn.Conn) (err error) {
		stat, err = s.Try(ctx, conn)
		return err
	})
	if err != nil {
		return Stat{}, err
	}
	return newStat(stat), nil
}

func (p setDataParams) op(c *Client, path string, data []byte) Op {
	return newOp(c, "setData", path, false, func(full string) (zkconn.MultiOp, error) {
		s, err := p.write(c.inside(), full, data)
		if err != nil {
			return zkconn.MultiOp{}, err
		}
		return zkconn.MultiOp{Op: jute.OpSetData, Req: &jute.SetDataRequest{
			Path: s.Path, Data: bytes.Clone(s.Data), Version: s.Version, // the data is read at the commit
		}}, nil
	})
}

func (p setACLParams) do(ctx context.Context, c *Client, path string, acl []ACL) (Stat, error) {
	full, err := c.inside().ServerPath(path)
	switch {
	case err != nil:
	case len(acl) == 0:
		err = fmt.Errorf("%w: it is empty", ErrInvalidACL)
	case p.versionGiven && p.version < zkclient.AnyVersion:
		err = noVersion(p.version)
	default:
		err = c.inside().Schemas().ValidateSetACL(path, zkclient.SchemaACL(zkclient.NewACL(acl)))
	}
	if err != nil {
		return Stat{}, &OpError{Op: "setACL", Path: path, Err: err}
	}
	req := &jute.SetACLRequest{Path: full, ACL: zkclient.NewACL(acl), Version: zkclient.AnyVersion}
	if p.versionGiven {
		req.Version = p.version
	}
	var res jute.StatResponse
	if err := c.inside().Call(ctx, zkclient.Operation{Name: "setACL", Path: path}, jute.OpSetACL, req, &res); err != nil {
		return Stat{}, err
	}
	return newStat(res.Stat), nil
}

func (p reconfigParams) do(ctx context.Context, c *Client) ([]byte, error) {
	req := &jute.ReconfigRequest{
		Joining: listed(p.joining), Leaving: listed(p.leaving), NewMembers: listed(p.members), CurConfigID: -1,
	}
	if p.fromGiven {
		req.CurConfigID = p.from
	}
	err := p.checkLists()
	switch incremental := req.Joining != nil || req.Leaving != nil; {
	case err != nil:
	case incremental && req.NewMembers != nil:
		err = fmt.Errorf("%w: WithNewMembers and Joining or Leaving", ErrInvalidBuilder)
	case req.CurConfigID < zkclient.AnyVersion:
		err = fmt.Errorf("%w: FromConfig: there is no version %d", ErrInvalidBuilder, p.from)
	}
	if err == nil && c.inside() == nil {
		err = zkclient.ErrNilClient
	}
	if err != nil {
		return nil, &OpError{Op: "reconfig", Err: err}
	}
	var res jute.GetDataResponse
	if err := c.inside().Call(ctx, zkclient.Operation{Name: "reconfig"}, jute.OpReconfig, req, &res); err != nil {
		return nil, err
	}
	storeStat(p.stat, res.Stat)
	return res.Data, nil
}

// checkLists refuses a server without a name. A list without a server is nothing wrong.
func (p *reconfigParams) checkLists() error {
	for _, list := range []struct {
		step    string
		servers []string
	}{{"Joining", p.joining}, {"Leaving", p.leaving}, {"WithNewMembers", p.members}} {
		if i := slices.Index(list.servers, ""); i >= 0 {
			return fmt.Errorf("%w: %s: server %d is empty", ErrInvalidBuilder, list.step, i)
		}
	}
	return nil
}

// listed returns servers as reconfig wants them, nil for none.
func listed(servers []string) []byte {
	if len(servers) == 0 {
		return nil
	}
	return []byte(strings.Join(servers, ","))
}

// AddAuth adds a credential to a running client: "digest", "user:password". Operations that
// begin after it has returned have the credential. On later connections the client sends it
// before all other requests, like those of [WithAuthorization]. The client and its views share
// it. A credential cannot be removed. If the client has the credential already, it is sent
// again, and kept once.
//
// ZooKeeper refuses an unknown scheme, and a credential that the scheme does not accept. Then
// the error matches [ErrAuthFailed], and the client does not keep the credential and continues
// to work. But the server ends the connection: requests that wait for an answer fail with
// ErrConnectionLoss, and under state.StandardErrorPolicy locks are lost. Digest accepts any
// password, because it only makes an identity that ACLs may name. If a server refuses a
// credential on a later connection that another server has accepted, the client tries the other
// servers. When all that can be reached have refused, operations return ErrAuthFailed, as with
// WithAuthorization.
//
// Other errors: [ErrInvalidOption] for an empty scheme or one that is not UTF-8, [ErrTooLarge],
// ctx's error, and errors that the retry policy does not repeat. After an error that is
// [MaybeApplied] the server may have accepted the credential, and the client may keep it.
// Adding it again does no harm. Errors, logs and spans do not contain the credential.
//
// AddAuth is safe for concurrent use, and keeps a copy of auth.
//
// Java: ZooKeeper.addAuthInfo, which does not wait for the server's answer, and ends the client if
// that is a refusal.
func (c *Client) AddAuth(ctx context.Context, scheme string, auth []byte) error {
	op := zkclient.Operation{Name: "addAuth", Wire: "auth", Repeat: true}
	if scheme == "" || !utf8.ValidString(scheme) {
		return &OpError{Op: op.Name, Err: fmt.Errorf("%w: the scheme is empty or not UTF-8", ErrInvalidOption)}
	}
	credential := zkconn.Auth{Scheme: scheme, Auth: append([]byte{}, auth...)}
	if c.inside() == nil {
		return &OpError{Op: op.Name, Err: zkclient.ErrNilClient}
	}
	return c.inside().Run(ctx, op, func(ctx context.Context, conn *zkconn.Conn) error { return conn.AddAuth(ctx, credential) })
}
