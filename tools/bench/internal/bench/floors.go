package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// silent is a logger that logs nothing.
type silent struct{}

func (silent) Printf(string, ...any) {}

// dialDriver connects with go-zookeeper/zk, and waits for the session.
func dialDriver(ctx context.Context, address string, timeout time.Duration, counter *measure.Counter) (_ *zk.Conn, end func() error, err error) {
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return counter.DialContext(ctx, network, address)
	}
	conn, events, err := zk.Connect(strings.Split(address, ","), timeout, zk.WithDialer(dial), zk.WithLogger(silent{}))
	if err != nil {
		return nil, nil, err
	}
	for {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				return conn, func() error { conn.Close(); return nil }, nil
			}
		case <-ctx.Done():
			conn.Close()
			return nil, nil, ctx.Err()
		}
	}
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

// dialPair connects with internal/zkconn, the layer below our client.
func dialPair(ctx context.Context, address string, timeout time.Duration, counter *measure.Counter) (*zkconn.Conn, func() error, error) {
	conn, err := zkconn.Open(ctx, zkconn.Config{
		Servers: strings.Split(address, ","), SessionTimeout: timeout, ConnectionTimeout: timeout, LossPercent: 100, MaxRequest: 1 << 20, MaxReply: 16 << 20,
		Dial: counter.DialContext, Logger: slog.New(slog.DiscardHandler), OnEvent: func(zkconn.Event) {},
	})
	if err != nil {
		return nil, nil, err
	}
	end := func() error { return conn.Close(context.Background()) }
	if _, err := conn.Connected(ctx); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return conn, end, nil
}

// pair is the minimum cost of a queue: it creates a node and lists its siblings in one write, and then
// deletes the node. It excludes nobody.
type pair struct {
	conn *zkconn.Conn
	path string
	node string
}

func newPair(conn *zkconn.Conn, path string) lock { return &pair{conn: conn, path: path} }

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

// rawConn is a connection without a client. It writes many requests at once, and reads their
// answers. Between its turns it sends pings, so that its session does not expire.
type rawConn struct {
	conn net.Conn
	stop func() // ends the pings

	mu  sync.Mutex // held during an exchange
	in  *bufio.Reader
	out []byte
	xid int32
}

const pingXid = -2

// dialRaw connects to the first of the servers.
func dialRaw(ctx context.Context, address string, timeout time.Duration, counter *measure.Counter) (*rawConn, func() error, error) {
	first, _, _ := strings.Cut(address, ",")
	conn, err := counter.DialContext(ctx, "tcp", first)
	if err != nil {
		return nil, nil, err
	}
	c := &rawConn{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
	r := jute.ConnectRequest{TimeOut: int32(timeout / time.Millisecond), Passwd: make([]byte, 16)}
	c.frame(jute.AppendBool(r.Append(nil), false))
	if err := c.exchange(1); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var pings sync.WaitGroup
	pings.Go(func() { c.keepAlive(life, timeout/3) })
	c.stop = func() {
		cancel()
		pings.Wait()
	}
	return c, c.close, nil
}

// keepAlive sends pings until life or the connection ends. The next turn notices the end of the
// connection.
func (c *rawConn) keepAlive(life context.Context, interval time.Duration) {
	every := time.NewTicker(interval)
	defer every.Stop()
	for {
		select {
		case <-life.Done():
			return
		case <-every.C:
			if c.request(jute.RequestHeader{Xid: pingXid, Op: jute.OpPing}) != nil {
				return
			}
		}
	}
}

// request sends a request without a body, and reads the answer.
func (c *rawConn) request(header jute.RequestHeader) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frame(header.Append(nil))
	return c.exchange(1)
}

// frame adds a frame to the output buffer.
func (c *rawConn) frame(body []byte) {
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(len(body)))
	c.out = append(c.out, body...)
}

// exchange writes the output buffer, and reads n answers.
func (c *rawConn) exchange(n int) error {
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	for ; n > 0 && err == nil; n-- {
		var length []byte
		if length, err = c.in.Peek(4); err == nil {
			_, err = c.in.Discard(4 + int(binary.BigEndian.Uint32(length)))
		}
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the server has closed the connection: %w", err)
	}
	return err
}

// burst reads a node n times, in one write.
func (c *rawConn) burst(path string, n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		c.xid++
		header := jute.RequestHeader{Xid: c.xid, Op: jute.OpGetData}
		request := jute.PathWatchRequest{Path: path}
		c.frame(request.Append(header.Append(nil)))
	}
	return c.exchange(n)
}

func (c *rawConn) close() error {
	c.stop()
	return errors.Join(c.request(jute.RequestHeader{Xid: c.xid + 1, Op: jute.OpClose}), c.conn.Close())
}
