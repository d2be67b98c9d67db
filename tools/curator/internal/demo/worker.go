package demo

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkserver/netfault"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

// Paths of the locks and the election that the workers share.
const (
	OrdersPath    = "/locks/orders"      // a mutex
	CatalogPath   = "/locks/catalog"     // a read-write lock
	SchedulerPath = "/leaders/scheduler" // an election
)

// worker is one worker of the fleet. A goroutine stands for its process.
type worker struct {
	name string
	job  job

	// The fields of the present process, guarded by Fleet.mu.
	link   *link
	cancel context.CancelFunc
	ended  chan struct{}
	ice    func() // thaws the worker; nil while it is not frozen
	killed bool
}

// job describes the work of a worker. Times are in units.
type job struct {
	path  string
	take  func(ctx context.Context, w *worker, client *framework.Client) (taker, error)
	begin float64 // the pause before the first hold
	hold  float64 // the length of a hold; 0 is until the loss
	rest  float64 // the pause between two holds
	reads bool    // the worker holds the read lock, and writes nothing
}

// taker acquires the lock, or the leadership, that a worker works under.
type taker struct {
	acquire func(ctx context.Context) (*locks.Lease, error)
	close   func(ctx context.Context) error
}

// crew returns the workers of the demonstration. They begin at different times, so that they are in
// the same order in each run.
func crew() []*worker {
	orders := func(name string, begin float64) *worker {
		return &worker{name: name, job: job{OrdersPath, takeMutex, begin, 1.8073, 0.2939, false}}
	}
	candidate := func(name string, begin float64) *worker {
		return &worker{name: name, job: job{SchedulerPath, takeLeadership, begin, 0, 0.2939, false}}
	}
	return []*worker{
		orders("orders-1", 0.1101), orders("orders-2", 0.2603), orders("orders-3", 0.4107),
		{name: "reader-1", job: job{CatalogPath, takeRead, 0.1609, 1.5117, 1.9139, true}},
		{name: "reader-2", job: job{CatalogPath, takeRead, 0.3613, 2.2031, 1.4177, true}},
		{name: "writer-1", job: job{CatalogPath, takeWrite, 0.8627, 1.1093, 2.6171, false}},
		candidate("scheduler-1", 0.2111), candidate("scheduler-2", 0.3119), candidate("scheduler-3", 0.5123),
	}
}

func takeMutex(_ context.Context, w *worker, client *framework.Client) (taker, error) {
	lock, err := locks.NewInterProcessMutex(client, w.job.path)
	return plain(lock), err
}

func takeRead(_ context.Context, w *worker, client *framework.Client) (taker, error) {
	lock, err := locks.NewInterProcessReadWriteLock(client, w.job.path)
	if err != nil {
		return taker{}, err
	}
	return plain(lock.ReadLock()), nil
}

func takeWrite(_ context.Context, w *worker, client *framework.Client) (taker, error) {
	lock, err := locks.NewInterProcessReadWriteLock(client, w.job.path)
	if err != nil {
		return taker{}, err
	}
	return plain(lock.WriteLock()), nil
}

// plain returns a taker of a lock, which needs no Close.
func plain(lock locks.InterProcessLock) taker {
	return taker{lock.Acquire, func(context.Context) error { return nil }}
}

func takeLeadership(ctx context.Context, w *worker, client *framework.Client) (taker, error) {
	latch, err := leader.NewLeaderLatch(client, w.job.path, leader.WithID(w.name))
	if err == nil {
		err = latch.Start(ctx)
	}
	if err != nil {
		return taker{}, err
	}
	return taker{latch.Await, latch.Close}, nil
}

// thaw continues a frozen process. The caller holds Fleet.mu.
func (w *worker) thaw() {
	if w.ice != nil {
		w.ice()
		w.ice = nil
	}
}

// hire starts a process for a worker, unless the fleet is closed. The caller holds f.mu.
func (f *Fleet) hire(w *worker) bool {
	if f.closed {
		return false
	}
	ctx, cancel := context.WithCancel(f.ctx)
	link, ended := newLink(f.dial), make(chan struct{})
	w.link, w.cancel, w.ended, w.killed = link, cancel, ended, false
	f.running.Go(func() {
		defer close(ended)
		defer cancel()
		f.work(ctx, w, link)
	})
	return true
}

// work runs a process of a worker until ctx ends.
func (f *Fleet) work(ctx context.Context, w *worker, link *link) {
	client, err := f.newClient(w.name, link.Dial)
	if err != nil {
		return // impossible: Start has created a client with the same options
	}
	defer f.closeClient(ctx, client) //nolint:errcheck // after an error the session expires
	if wait.For(ctx, f.units(w.job.begin)) != nil || f.connectClient(ctx, client) != nil {
		return
	}
	t, err := w.job.take(ctx, w, client)
	if err != nil {
		return
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.units(0.5))
		defer cancel()
		_ = t.close(ctx) // its node is deleted at the end of the session
	}()
	for ctx.Err() == nil {
		lease, err := t.acquire(ctx)
		if err == nil {
			f.hold(ctx, w, link, lease)
		}
		if wait.For(ctx, f.units(w.job.rest)) != nil {
			return
		}
	}
}

// hold is one hold of a worker: it works for some time under the lease, writes to the store, and
// releases the lease.
func (f *Fleet) hold(ctx context.Context, w *worker, link *link, lease *locks.Lease) {
	token := lease.Token()
	if !w.job.reads {
		f.store.write(w.job.path, token) // the store must have seen this token before a late write with a lower one
	}
	f.diary.add(Event{Kind: Took, Worker: w.name, Path: w.job.path, Token: token})
	var done <-chan time.Time
	if w.job.hold > 0 {
		timer := time.NewTimer(f.units(w.job.hold))
		defer timer.Stop()
		done = timer.C
	}
	select {
	case <-done:
	case <-lease.Context().Done():
	case <-ctx.Done():
	}
	if !link.gate.Pass(link.gone) || ctx.Err() != nil {
		return // the worker was killed, or the fleet is closed
	}
	if !w.job.reads {
		if highest := f.store.write(w.job.path, token); highest > token {
			f.diary.add(Event{Kind: Refused, Worker: w.name, Path: w.job.path, Token: token, Higher: highest})
		}
	}
	if err := lease.Release(ctx); errors.Is(err, locks.ErrLockLost) && ctx.Err() == nil {
		f.diary.add(Event{Kind: Lost, Worker: w.name, Path: w.job.path})
	}
}

// errKilled is the error of Dial after the worker was killed.
var errKilled = errors.New("the worker was killed")

// link makes a worker's connections to the server. It can freeze and close them.
type link struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	gate netfault.Gate // is shut while the worker is frozen
	gone chan struct{} // is closed when the worker is killed

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	cut   bool
}

func newLink(dial func(ctx context.Context, network, address string) (net.Conn, error)) *link {
	return &link{dial: dial, gone: make(chan struct{}), conns: map[net.Conn]struct{}{}}
}

// Dial connects to the server, unless the worker was killed.
func (l *link) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !l.gate.Pass(ctx.Done()) {
		return nil, ctx.Err()
	}
	conn, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_ = conn.Close()
		return nil, errKilled
	}
	c := &linkConn{Conn: conn, link: l, closed: make(chan struct{})}
	l.conns[conn] = struct{}{}
	return c, nil
}

// kill closes the connections, and makes Dial fail.
func (l *link) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return
	}
	l.cut = true
	close(l.gone)
	for conn := range l.conns {
		_ = conn.Close() // data that is lost does not matter
	}
}

// linkConn is a connection of a link.
type linkConn struct {
	net.Conn
	link   *link
	once   sync.Once
	closed chan struct{}
}

// Read reads, and returns when the worker is not frozen.
func (c *linkConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.link.gate.Pass(c.closed) {
		return 0, net.ErrClosed
	}
	return n, err
}

// Write waits until the worker is not frozen, and writes.
func (c *linkConn) Write(b []byte) (int, error) {
	if !c.link.gate.Pass(c.closed) {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// Close closes the connection.
func (c *linkConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.link.mu.Lock()
		defer c.link.mu.Unlock()
		delete(c.link.conns, c.Conn)
	})
	return c.Conn.Close()
}

// store is the resource that the locks protect. It refuses a token that is lower than one it has
// seen, so that a worker that was frozen cannot overwrite the data of a later holder.
type store struct {
	mu      sync.Mutex
	highest map[string]int64 // the highest token, by the path of the lock
}

// write returns the highest token that the store has seen, this one included. If the result is higher
// than token, the write was refused.
func (s *store) write(path string, token int64) (highest int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.highest[path] = max(s.highest[path], token)
	return s.highest[path]
}
