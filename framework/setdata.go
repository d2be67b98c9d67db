package framework

import (
	"context"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// write returns what is to be sent.
func (p *setDataParams) write(c *Client, full string, data []byte) (*setDataOp, error) {
	s := &setDataOp{full: full, version: anyVersion, idempotent: p.idempotent}
	if p.versionGiven {
		s.version = p.version
	}
	if s.version < anyVersion {
		return nil, noVersion(p.version)
	}
	if err := c.SchemaSet().ValidateSetData(c.unfix(full), data); err != nil {
		return nil, err
	}
	var err error
	s.data, err = c.compress(full, data, p.compressed, p.uncompressed)
	return s, err
}

func (p setDataParams) do(ctx context.Context, c *Client, path string, data []byte) (Stat, error) {
	full, err := c.usable(path)
	var s *setDataOp
	if err == nil {
		s, err = p.write(c, full, data)
	}
	if err != nil {
		return Stat{}, &OpError{Op: "setData", Path: path, Err: err}
	}
	var stat jute.Stat
	err = c.run(ctx, operation{name: "setData", path: path, repeat: p.idempotent}, func(ctx context.Context, conn *zkconn.Conn) (err error) {
		stat, err = s.attempt(ctx, conn)
		return err
	})
	if err != nil {
		return Stat{}, err
	}
	return newStat(stat), nil
}
