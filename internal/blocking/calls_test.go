package blocking_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// fixture has a client, which is closed, and another one.
type fixture struct {
	*testing.T
	b             *suite.Backend
	client, other *framework.Client
	network       *suite.Network
	path          string // of a node that exists
}

func newFixture(t *testing.T, b *suite.Backend, opts ...framework.Option) *fixture {
	f := &fixture{T: t, b: b, path: b.Path("node")}
	f.client, f.network = b.Client(t, append(opts, framework.WithSessionTimeout(suite.SessionTimeout))...)
	f.other, _ = b.Client(t)
	f.must(f.other.Create().CreatingParentsIfNeeded().ForPath(f.Context(), f.path))
	f.must(f.client.CheckExists().ForPath(f.Context(), f.path))
	return f
}

// must fails the test if there is an error.
func (f *fixture) must(_ any, err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// ok is must for calls that return nothing else.
func (f *fixture) ok(err error) {
	f.Helper()
	f.must(nil, err)
}

// call is a call that waits, if its last error is ErrClosed, until the client is closed. Iterators just end.
type call func(ctx context.Context) error

// errEnded is the error of an iterator that has ended.
var errEnded = fmt.Errorf("the iterator has ended: %w", framework.ErrClosed)

// all goes through an iterator until it ends.
func all[T any](seq iter.Seq[T]) error {
	for range seq {
	}
	return errEnded
}

// started makes a component and starts it.
func started[C framework.Component](f *fixture, c C, err error) C {
	f.Helper()
	f.must(nil, err)
	f.ok(c.Start(f.Context()))
	f.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(f.Context()), time.Second)
		defer cancel()
		_ = c.Close(ctx) // its client may be closed
	})
	return c
}

// held takes a lock, which is given back at the end of the test.
func (f *fixture) held(lock locks.InterProcessLock) *locks.Lease {
	f.Helper()
	lease, err := lock.Acquire(f.Context())
	f.ok(err)
	f.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(f.Context()), time.Second)
		defer cancel()
		_ = lease.Release(ctx) // its client may be closed
	})
	return lease
}

// value drops the first result of a call.
func value[T any](_ T, err error) error { return err }

// made drops the error of a constructor, which must be nil.
func made[T any](f *fixture, v T, err error) T {
	f.Helper()
	f.ok(err)
	return v
}

// row is a call, which is prepared while the client is connected. waits says that it waits although the
// client is connected: for another client, or for something that does not come.
type row struct {
	prepare func(f *fixture) call
	waits   bool
	runs    bool // until its context ends, which is no error
	goesOn  bool // behind the end of its context: a node gets its data in any case
}

// asks is a row of a call that waits only for a server.
func asks(prepare func(f *fixture) call) row { return row{prepare: prepare} }

// goesOn is asks for a call that sets what a node gets in any case, also when the call's context has ended.
func goesOn(prepare func(f *fixture) call) row { return row{prepare: prepare, goesOn: true} }

// waits is a row of a call that also waits for something else.
func waits(prepare func(f *fixture) call) row { return row{prepare: prepare, waits: true} }

// runs is waits for a call that runs until its context ends.
func runs(prepare func(f *fixture) call) row { return row{prepare: prepare, waits: true, runs: true} }

// rows are all calls that can wait, but for Close, by their names in docs/api.txt.
func rows() map[string]row {
	all := map[string]row{}
	for _, part := range []map[string]row{
		frameworkRows(), builderRows(), lockRows(), leaderRows(), atomicRows(), barrierRows(), sharedRows(), queueRows(),
		cacheRows(), modeledRows(), nodeRows(), discoveryRows(),
	} {
		maps.Copy(all, part)
	}
	return all
}

var errTooLong = errors.New("it waits on")
