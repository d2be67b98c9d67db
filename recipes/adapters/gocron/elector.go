package curatorgocron

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-co-op/gocron/v2"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

// ErrNotLeader is returned by IsLeader when this process does not lead. The error that gocron gets also
// says why: see locks.Lease.Err.
var ErrNotLeader = errors.New("another process runs the jobs")

// Elector lets one of several processes run all jobs. It is for gocron.WithDistributedElector. NewElector
// makes it.
//
// Java: LeaderLatch, with which it shares elections.
type Elector struct{ latch *leader.LeaderLatch }

var (
	_ gocron.Elector      = (*Elector)(nil)
	_ framework.Component = (*Elector)(nil)
)

// NewElector returns an Elector for the election at path. It does no I/O. Errors: those of
// leader.NewLeaderLatch.
//
// Java: LeaderLatch.
func NewElector(client *framework.Client, path string, opts ...leader.LatchOption) (*Elector, error) {
	latch, err := leader.NewLeaderLatch(client, path, opts...)
	if err != nil {
		return nil, err
	}
	return &Elector{latch}, nil
}

// Start joins the election, and returns nil when this process is in the queue, whether it leads or not. See
// leader.LeaderLatch.Start for ctx and the errors, and leader.WithStartInBackground for a program
// that starts before its servers.
func (e *Elector) Start(ctx context.Context) error { return e.elected().Start(ctx) }

// Close leaves the election, so that another process runs the jobs from now on. Shut the scheduler down
// before, so that none of its jobs still runs then. See leader.LeaderLatch.Close.
func (e *Elector) Close(ctx context.Context) error { return e.elected().Close(ctx) }

// IsLeader returns nil if this process leads, otherwise an error, with which gocron leaves the run
// out. It does not wait, and sends no request. It returns ErrNotLeader before Start, until the first
// leadership, from the moment that the leadership is lost until it is regained, and after Close; and
// ctx's error if ctx has ended.
func (e *Elector) IsLeader(ctx context.Context) error {
	if ctx == nil {
		return errNilContext
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.Lease().Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotLeader, err)
	}
	return nil
}

// Lease returns the lease of the present leadership, otherwise nil, which behaves like a lease that was
// never held. A job binds its context to it, because gocron does not tell a job that the leadership is
// lost. See leader.LeaderLatch.Leadership.
func (e *Elector) Lease() *locks.Lease { return e.elected().Leadership() }

// elected returns the latch, nil for a nil elector and for the zero value.
func (e *Elector) elected() *leader.LeaderLatch {
	if e == nil {
		return nil
	}
	return e.latch
}
