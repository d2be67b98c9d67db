package demo

import (
	"context"

	"github.com/go-curator/curator/framework"
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
