package framework

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// configNode has the ensemble's configuration, whatever the namespace and the chroot.
const configNode = "/zookeeper/config"

func (p getConfigParams) do(ctx context.Context, c *Client) ([]byte, error) {
	var res jute.GetDataResponse
	r := reading{
		name: "getConfig", full: configNode, config: true, op: jute.OpGetData, kind: zkconn.WatchData,
		watcher: p.watcher, watched: p.watched, res: &res,
	}
	if err := r.do(ctx, c); err != nil {
		return nil, err
	}
	storeStat(p.stat, res.Stat)
	return res.Data, nil
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
	case req.CurConfigID < anyVersion:
		err = fmt.Errorf("%w: FromConfig: there is no version %d", ErrInvalidBuilder, p.from)
	}
	if err != nil {
		return nil, &OpError{Op: "reconfig", Err: err}
	}
	var res jute.GetDataResponse
	if err := c.call(ctx, operation{name: "reconfig"}, jute.OpReconfig, req, &res); err != nil {
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
