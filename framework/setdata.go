package framework

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

func (p *setDataParams) request(full string, data []byte) (*jute.SetDataRequest, error) {
	req := &jute.SetDataRequest{Path: full, Data: data, Version: anyVersion}
	if data == nil {
		req.Data = []byte{}
	}
	if p.versionGiven {
		req.Version = p.version
	}
	if req.Version < anyVersion {
		return nil, fmt.Errorf("%w: there is no version %d", ErrInvalidBuilder, p.version)
	}
	return req, nil
}

func (p setDataParams) do(ctx context.Context, c *Client, path string, data []byte) (Stat, error) {
	if c == nil || c.core == nil {
		return Stat{}, &OpError{Op: "setData", Path: path, Err: ErrNotStarted}
	}
	full, err := c.fix(path, false)
	if err != nil {
		return Stat{}, &OpError{Op: "setData", Path: path, Err: err}
	}
	req, err := p.request(full, data)
	if err != nil {
		return Stat{}, &OpError{Op: "setData", Path: path, Err: err}
	}
	var res jute.StatResponse
	err = c.run(ctx, operation{name: "setData", path: path}, func(ctx context.Context, conn *zkconn.Conn) error {
		call := &zkconn.Call{Op: jute.OpSetData, Req: req, Res: &res}
		if err := conn.Do(ctx, 0, call); err != nil {
			return err
		}
		return call.Err
	})
	if err != nil {
		return Stat{}, err
	}
	return newStat(res.Stat), nil
}
