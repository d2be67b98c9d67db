package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/bench/internal/wire"
)

// pairSession is a session of internal/zkconn, the layer below our client. Its lock is the minimum
// cost of a queue: it creates a node and lists its siblings in one write, and then deletes the node.
// It excludes nobody.
type pairSession struct{ conn *zkconn.Conn }

// openPair opens a pairSession.
func openPair(ctx context.Context, address string, timeout time.Duration, counter *wire.Counter) (session, error) {
	conn, err := zkconn.Open(ctx, zkconn.Config{
		Servers: strings.Split(address, ","), SessionTimeout: timeout, ConnectionTimeout: timeout, LossPercent: 100, MaxRequest: 1 << 20, MaxReply: 16 << 20,
		Dial: counter.DialContext, Logger: slog.New(slog.DiscardHandler), OnEvent: func(zkconn.Event) {},
	})
	if err != nil {
		return nil, err
	}
	s := &pairSession{conn}
	if _, err := conn.Connected(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *pairSession) close() error { return s.conn.Close(context.Background()) }

func (s *pairSession) lock(kind lockKind, path string, _ int) (lock, error) {
	if !slices.Contains([]lockKind{bare, uncontended, readLock}, kind) {
		return nil, errUnsupported
	}
	return &pair{conn: s.conn, path: path}, nil
}

// pair is the lock of a pairSession.
type pair struct {
	conn *zkconn.Conn
	path string
	node string
}

var anybody = []jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", ID: "anyone"}}}

const (
	persistent          = 0
	ephemeralSequential = 3
)

func (p *pair) create(path string, flags int32) (*zkconn.Call, *jute.Create2Response) {
	res := &jute.Create2Response{}
	return &zkconn.Call{Op: jute.OpCreate2, Req: &jute.CreateRequest{Path: path, ACL: anybody, Flags: flags}, Res: res}, res
}

func (p *pair) Acquire(ctx context.Context) (lease, error) {
	for range 2 {
		create, created := p.create(p.path+"/"+layout.LockMark, ephemeralSequential)
		list := &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: p.path}, Res: &jute.GetChildren2Response{}}
		if err := p.conn.Do(ctx, 0, create, list); err != nil {
			return nil, err
		}
		if create.Err == nil && list.Err == nil {
			p.node = created.Path
			return p, nil
		}
		if err := p.createParents(ctx); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s cannot be created", p.path)
}

func (p *pair) createParents(ctx context.Context) error {
	for i, r := range p.path + "/" {
		if r != '/' || i == 0 {
			continue
		}
		call, _ := p.create(p.path[:i], persistent)
		if err := p.conn.Do(ctx, 0, call); err != nil {
			return err
		}
	}
	return nil
}

func (p *pair) Release(ctx context.Context) error {
	call := &zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: p.node, Version: -1}}
	if err := p.conn.Do(ctx, 0, call); err != nil {
		return err
	}
	return call.Err
}
