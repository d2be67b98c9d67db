package curatorgocron

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/recipes/locks"
)

// defaultMinHold is more than the clocks of hosts with NTP differ, and less than most jobs' intervals.
const defaultMinHold = time.Second

var (
	errNilContext = fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
	errClosed     = fmt.Errorf("%w: the locker", framework.ErrClosed)
	errTooLate    = errors.New("no lock within half of WithMinHold: the job may have run elsewhere")
)

// LockerOption is an option of NewLocker.
type LockerOption func(*Locker) error

// WithMinHold sets for how long a lock is held at least, however short its job is. It should be more than
// twice as long as the clocks of the hosts may differ, and shorter than the time between two runs of a job: the
// next run is left out, on every host, while the lock is held. Lock gives up after half of d.
//
// The default is 1 s. With 0 a lock is released when its job ends, and Lock has no limit of its own: a short
// job then runs on every host whose clock is behind. A negative d, and one between 0 and 1 ms, is refused with
// framework.ErrInvalidOption.
func WithMinHold(d time.Duration) LockerOption {
	return func(l *Locker) error {
		if d < 0 {
			return fmt.Errorf("WithMinHold(%v) is negative", d)
		}
		if d > 0 && d < time.Millisecond {
			return fmt.Errorf("WithMinHold(%d) is %v; Go durations are nanoseconds: %d*time.Second?", int64(d), d, int64(d))
		}
		l.minHold = d
		return nil
	}
}

// WithLockOptions sets options of the locks, such as locks.WithName.
func WithLockOptions(opts ...locks.MutexOption) LockerOption {
	return func(l *Locker) error {
		l.options = append(l.options, opts...)
		return nil
	}
}

// Locker lets each run of a job happen in one of several processes. It is for
// gocron.WithDistributedLocker and gocron.WithDistributedJobLocker. NewLocker makes it.
//
// Java: none.
type Locker struct {
	client  *framework.Client
	path    string
	minHold time.Duration
	options []locks.MutexOption

	mu     sync.Mutex
	closed bool
	idle   chan struct{}         // closed when the Locker is closed and held is empty
	hurry  chan struct{}         // closed when Close waits no longer for WithMinHold
	runs   map[string]*runLock   // by job, from Lock to Unlock
	held   map[*runLock]struct{} // from the beginning of Lock until the lock is released
}

var _ gocron.Locker = (*Locker)(nil)

// NewLocker returns a Locker whose locks are nodes below path, one for each name of a job. It does no
// I/O. All processes of a fleet must use the same path, and give a job the same name. A mutex of package
// locks at the same path excludes a job.
//
// Errors: framework.ErrInvalidPath, framework.ErrInvalidOption, framework.ErrNotStarted for a nil client.
//
// Java: none.
func NewLocker(client *framework.Client, path string, opts ...LockerOption) (*Locker, error) {
	l := &Locker{
		client: client, path: path, minHold: defaultMinHold,
		idle: make(chan struct{}), hurry: make(chan struct{}),
		runs: map[string]*runLock{}, held: map[*runLock]struct{}{},
	}
	for i, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("%w: option %d of %d is nil", framework.ErrInvalidOption, i+1, len(opts))
		}
		if err := o(l); err != nil {
			return nil, fmt.Errorf("%w: %w", framework.ErrInvalidOption, err)
		}
	}
	if _, err := locks.NewInterProcessMutex(client, path, l.options...); err != nil {
		return nil, err
	}
	return l, nil
}

// Lock takes the lock of a job, or returns an error, with which gocron leaves the run out. It does not
// wait for other holders. ctx bounds Lock, not the hold; see WithMinHold, too. gocron calls Lock before
// each run, with the name of the job as key, and Unlock after it. A job's name may have any characters.
//
// Errors: locks.ErrNotAcquired when another process has the lock, and when the job still runs in this
// process, also if its lock was lost; ctx's error, or context.DeadlineExceeded if half of WithMinHold has
// passed; framework.ErrInvalidOption for an empty key or a nil context; framework.ErrClosed after Close;
// the server's. gocron shows them only to the listener of gocron.AfterLockError.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	switch {
	case l == nil || l.client == nil:
		return nil, fmt.Errorf("%w: the locker was not made by NewLocker", framework.ErrNotStarted)
	case ctx == nil:
		return nil, errNilContext
	case key == "":
		return nil, fmt.Errorf("%w: the job has no name", framework.ErrInvalidOption)
	}
	mutex, err := locks.NewInterProcessMutex(l.client, paths.Make(l.path, nodeName(key)), l.options...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &runLock{locker: l, key: key, cancel: cancel}
	if err := l.begin(r); err != nil {
		return nil, fmt.Errorf("job %q: %w", key, err)
	}
	lease, err := l.acquire(ctx, mutex)
	if err == nil {
		err = l.grant(ctx, r, lease)
	}
	if err != nil {
		l.end(r)
		return nil, fmt.Errorf("job %q: %w", key, err)
	}
	return r, nil
}

// acquire takes the lock within half of WithMinHold. A lock that comes later is given back: other
// hosts may have had it, and released it, since this one's scheduler fired.
func (l *Locker) acquire(ctx context.Context, mutex *locks.InterProcessMutex) (*locks.Lease, error) {
	if l.minHold == 0 {
		return mutex.TryAcquire(ctx)
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, l.minHold/2, errTooLate)
	defer cancel()
	lease, err := mutex.TryAcquire(ctx)
	if err == nil && time.Since(begun) > l.minHold/2 {
		return nil, errors.Join(context.DeadlineExceeded, errTooLate, lease.Release(ctx))
	}
	return lease, err
}

// begin enters a lock that is to be acquired.
func (l *Locker) begin(r *runLock) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	if l.runs[r.key] != nil {
		return &locks.NotAcquiredError{Err: errors.New("the job runs in this process")}
	}
	l.runs[r.key], l.held[r] = r, struct{}{}
	return nil
}

// grant gives a lock its lease, unless Close has stopped waiting meanwhile.
func (l *Locker) grant(ctx context.Context, r *runLock, lease *locks.Lease) error {
	l.mu.Lock()
	if isDone(l.hurry) {
		l.mu.Unlock()
		return errors.Join(errClosed, lease.Release(ctx))
	}
	r.lease, r.until = lease, time.Now().Add(l.minHold)
	l.mu.Unlock()
	return nil
}

// end takes a lock out that is released, or was not acquired.
func (l *Locker) end(r *runLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran(r)
	delete(l.held, r)
	if len(l.held) == 0 && l.closed {
		close(l.idle)
	}
}

// ran takes a lock out of those of jobs that run. The mutex is locked.
func (l *Locker) ran(r *runLock) {
	if l.runs[r.key] == r {
		delete(l.runs, r.key)
	}
}

// Lease returns the lease of the lock under which a job runs, otherwise nil, which behaves like a lease
// that was never held. A job calls it with its own name, and binds its context to the lease: gocron does not
// tell a job that its lock is lost. key is the name of the job as gocron knows it, see gocron.WithName.
func (l *Locker) Lease(key string) *locks.Lease {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runs[key]; r != nil {
		return r.lease
	}
	return nil
}

// Close waits until the locks of all jobs are released, those that WithMinHold keeps among them, and ends the
// Locker: Lock then returns framework.ErrClosed. Shut the schedulers down before, because Close waits for
// their jobs, and close the client after it.
//
// When ctx ends, or has ended, Close releases the remaining locks at once, which ends the leases of jobs that
// run, and returns ctx's error. Jobs may then run twice. It waits for the deletion of the nodes as
// locks.Lease.Release does. A second Close waits, too.
func (l *Locker) Close(ctx context.Context) error {
	if l == nil || l.client == nil {
		return nil
	}
	if ctx == nil {
		return errNilContext
	}
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		if len(l.held) == 0 {
			close(l.idle)
		}
	}
	l.mu.Unlock()
	if isDone(l.idle) {
		return nil
	}
	select {
	case <-l.idle:
		return nil
	case <-ctx.Done():
	}
	n := l.hasten(ctx)
	<-l.idle
	if n == 0 {
		return nil
	}
	return fmt.Errorf("locker %s: %d locks were released early: %w", l.path, n, ctx.Err())
}

// hasten ends all acquisitions, and releases all locks. It returns how many there were.
func (l *Locker) hasten(ctx context.Context) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !isDone(l.hurry) {
		close(l.hurry)
	}
	for r := range l.held {
		if r.lease == nil {
			r.cancel(errClosed)
		} else if !r.unlocked {
			r.unlocked = true
			go func() { _ = r.release(ctx) }() // which logs the error
		}
	}
	return len(l.held)
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// recordSuffix ends the name of the node that a lock with locks.WithLockDelay has beside its own.
const recordSuffix = ".holder"

// nodeName makes a znode's name of the name of a job, and different ones of different names. None of them is that
// of the record of a lock.
func nodeName(key string) string {
	name := url.QueryEscape(key)
	if strings.Trim(name, ".") == "" { // not allowed by ZooKeeper
		name = strings.ReplaceAll(name, ".", "%2E")
	}
	if before, ok := strings.CutSuffix(name, recordSuffix); ok {
		name = before + "%2E" + recordSuffix[1:]
	}
	return name
}
