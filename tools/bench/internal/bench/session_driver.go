package bench

import (
	"context"
	"errors"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/tools/bench/internal/wire"
)

// driverSession is a connection of go-zookeeper/zk, with one type of lock.
type driverSession struct {
	conn  *zk.Conn
	kinds []lockKind // the kinds that it supports
	make  func(conn *zk.Conn, path string) lock
}

// openDriver returns a function that opens sessions with the given locks.
func openDriver(mutex func(conn *zk.Conn, path string) lock, kinds ...lockKind) openFunc {
	return func(ctx context.Context, address string, timeout time.Duration, counter *wire.Counter) (session, error) {
		conn, err := dialDriver(ctx, address, timeout, counter)
		if err != nil {
			return nil, err
		}
		return &driverSession{conn, kinds, mutex}, nil
	}
}

// silent is a logger that logs nothing.
type silent struct{}

func (silent) Printf(string, ...any) {}

// dialDriver connects and waits for the session.
func dialDriver(ctx context.Context, address string, timeout time.Duration, counter *wire.Counter) (*zk.Conn, error) {
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return counter.DialContext(ctx, network, address)
	}
	conn, events, err := zk.Connect(strings.Split(address, ","), timeout, zk.WithDialer(dial), zk.WithLogger(silent{}))
	if err != nil {
		return nil, err
	}
	for {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				return conn, nil
			}
		case <-ctx.Done():
			conn.Close()
			return nil, ctx.Err()
		}
	}
}

func (s *driverSession) lock(kind lockKind, path string, _ int) (lock, error) {
	if !slices.Contains(s.kinds, kind) {
		return nil, errUnsupported
	}
	return s.make(s.conn, path), nil
}

func (s *driverSession) close() error {
	s.conn.Close()
	return nil
}

// driverLock is zk.Lock. It has no contexts.
type driverLock struct{ *zk.Lock }

func newDriverLock(conn *zk.Conn, path string) lock {
	return driverLock{zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))}
}

func (l driverLock) Acquire(context.Context) (lease, error) { return l, l.Lock.Lock() }
func (l driverLock) Release(context.Context) error          { return l.Unlock() }

// floor creates a node and deletes it: the minimum cost of a lock on ZooKeeper. It excludes nobody.
type floor struct {
	conn *zk.Conn
	path string
	list bool // list the node's siblings between the two requests
	node string
}

func newFloor(conn *zk.Conn, path string) lock     { return &floor{conn: conn, path: path} }
func newFloorList(conn *zk.Conn, path string) lock { return &floor{conn: conn, path: path, list: true} }

func (f *floor) Acquire(context.Context) (lease, error) {
	create := func() (string, error) {
		return f.conn.Create(f.path+"/"+layout.LockMark, nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	}
	node, err := create()
	if errors.Is(err, zk.ErrNoNode) {
		if err = createParents(f.conn, f.path); err == nil {
			node, err = create()
		}
	}
	if err != nil {
		return nil, err
	}
	f.node = node
	if f.list {
		if _, _, err := f.conn.Children(f.path); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *floor) Release(context.Context) error { return f.conn.Delete(f.node, -1) }

// floorWatch queues, and gets the lock when the node before its own is deleted, without listing the
// queue again: the minimum cost of a hand-over, a write and an event. It excludes others only as long
// as contenders leave the queue only by a release.
type floorWatch struct{ floor }

func newFloorWatch(conn *zk.Conn, path string) lock {
	return &floorWatch{floor{conn: conn, path: path}}
}

func (f *floorWatch) Acquire(ctx context.Context) (lease, error) {
	if _, err := f.floor.Acquire(ctx); err != nil {
		return nil, err
	}
	names, _, err := f.conn.Children(f.path)
	if err != nil {
		return nil, err
	}
	own := path.Base(f.node)
	ahead := ""
	for _, name := range names {
		if name < own {
			ahead = max(ahead, name)
		}
	}
	if ahead == "" {
		return f, nil
	}
	there, _, gone, err := f.conn.ExistsW(f.path + "/" + ahead)
	if err != nil || !there {
		return f, err
	}
	select {
	case event := <-gone:
		return f, event.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// createParents creates a node and its parents.
func createParents(conn *zk.Conn, node string) error {
	if parent := path.Dir(node); parent != "/" {
		if err := createParents(conn, parent); err != nil {
			return err
		}
	}
	_, err := conn.Create(node, nil, 0, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}
