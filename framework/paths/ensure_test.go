package paths_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

func newEnsure(t *testing.T, c *framework.Client, path string) *paths.EnsureContainers {
	t.Helper()
	e, err := paths.NewEnsureContainers(c, path)
	ok(t, err)
	return e
}

// As Java's TestEnsureContainers.
func TestEnsureContainers(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		e := newEnsure(t, c, b.Path("two/three"))
		ok(t, e.Ensure(t.Context()))
		wantNode(t, c, b.Path("two/three"), true)
		if n := network.Requests(jute.OpCreateContainer); n != 3 {
			t.Errorf("%d containers were made, want 3", n)
		}

		ok(t, c.Delete().ForPath(t.Context(), b.Path("two/three")))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		ok(t, e.Ensure(ended)) // it has nothing to do
		wantNode(t, c, b.Path("two/three"), false)

		e.Reset()
		if err := e.Ensure(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		ok(t, e.Ensure(t.Context())) // the error is not remembered
		wantNode(t, c, b.Path("two/three"), true)
	})
}

func TestEnsureContainersRefuses(t *testing.T) {
	for _, e := range []*paths.EnsureContainers{nil, {}} {
		e.Reset()
		if err := e.Ensure(t.Context()); !errors.Is(err, framework.ErrNotStarted) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := paths.NewEnsureContainers(nil, "/a"); !errors.Is(err, framework.ErrNotStarted) {
		t.Errorf("error %v", err)
	}
	c, err := framework.NewClient("127.0.0.1:1", retry.None())
	ok(t, err)
	if _, err := paths.NewEnsureContainers(c, "a/b"); !errors.Is(err, framework.ErrInvalidPath) {
		t.Errorf("error %v", err)
	}
	e := newEnsure(t, c, "/a")
	var none context.Context
	if err := e.Ensure(none); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("error %v", err)
	}
	if err := e.Ensure(t.Context()); !errors.Is(err, framework.ErrNotStarted) {
		t.Errorf("error %v", err)
	}
}

// One makes the path for all that come at a time, and for those that come later.
func TestEnsureContainersTogether(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		ok(t, newEnsure(t, c, b.Path("alone/x")).Ensure(t.Context()))
		looks, made := network.Requests(jute.OpExists), network.Requests(jute.OpCreateContainer)
		e := newEnsure(t, c, b.Path("together/x"))
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := e.Ensure(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := network.Requests(jute.OpExists); n != 2*looks {
			t.Errorf("%d looks for twenty, %d for one", n-looks, looks)
		}
		if n := network.Requests(jute.OpCreateContainer) - made; n != 2 { // their parent is there
			t.Errorf("%d containers", n)
		}
	})
}

// paused runs a test of a client whose server answers when resume is called.
func paused(t *testing.T, test func(t *testing.T, server *curatortest.Server, c *framework.Client, resume func())) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		c := server.Client(t)
		ok(t, c.BlockUntilConnected(t.Context()))
		test(t, server, c, server.Pause())
	})
}

// ensure starts n calls of Ensure, which all wait when it returns.
func ensure(ctx context.Context, e *paths.EnsureContainers, n int) <-chan error {
	errs := make(chan error, n)
	for range n {
		go func() { errs <- e.Ensure(ctx) }()
	}
	synctest.Wait()
	return errs
}

func wantErrors(t *testing.T, errs <-chan error, n int, want error) {
	t.Helper()
	for range n {
		if err := <-errs; !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
}

// refuseOnce makes the server refuse the next look at a path.
func refuseOnce(server *curatortest.Server, path string) {
	server.Inject(curatortest.Rule{Op: "exists", Path: path, Do: curatortest.Fail(framework.ErrNoAuth)})
}

func TestEnsureContainersSharesAnError(t *testing.T) {
	paused(t, func(t *testing.T, server *curatortest.Server, c *framework.Client, resume func()) {
		refuseOnce(server, "/a/b/-")
		e := newEnsure(t, c, "/a/b")
		errs := ensure(t.Context(), e, 10)
		resume()
		wantErrors(t, errs, 10, framework.ErrNoAuth)
		ok(t, e.Ensure(t.Context()))
		wantNode(t, c, "/a/b", true)
	})
}

// Nobody fails because another's context has ended.
func TestEnsureContainersWhenAContextEnds(t *testing.T) {
	paused(t, func(t *testing.T, _ *curatortest.Server, c *framework.Client, resume func()) {
		e := newEnsure(t, c, "/a/b")
		maker, endMaker := context.WithCancel(t.Context())
		waiter, endWaiter := context.WithCancel(t.Context())
		makes := ensure(maker, e, 1)
		waits := ensure(waiter, e, 3)
		others := ensure(t.Context(), e, 5)
		endWaiter()
		wantErrors(t, waits, 3, context.Canceled)
		endMaker()
		wantErrors(t, makes, 1, context.Canceled)
		synctest.Wait()
		if len(others) > 0 {
			t.Error("one returned without an answer")
		}
		resume()
		wantErrors(t, others, 5, nil)
		wantNode(t, c, "/a/b", true)
	})
}

// What is under way when Reset is called counts for nothing afterwards, good or bad.
func TestEnsureContainersReset(t *testing.T) {
	paused(t, func(t *testing.T, server *curatortest.Server, c *framework.Client, resume func()) {
		refuseOnce(server, "/a/b/-")
		e := newEnsure(t, c, "/a/b")
		before := ensure(t.Context(), e, 2)
		e.Reset()
		after := ensure(t.Context(), e, 2)
		resume()
		wantErrors(t, before, 2, framework.ErrNoAuth)
		wantErrors(t, after, 2, nil)

		refuseOnce(server, "/a/b/-")
		ok(t, e.Ensure(t.Context())) // remembered
		e.Reset()
		if err := e.Ensure(t.Context()); !errors.Is(err, framework.ErrNoAuth) {
			t.Errorf("error %v", err)
		}
	})
}

// A retry policy is a user's code: if it panics, nobody else waits for ever.
func TestEnsureContainersWithAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		policy := &panics{}
		c, err := framework.NewClient(server.ConnectString(), policy, framework.WithDialer(server.DialContext))
		ok(t, err)
		ok(t, c.Start(t.Context()))
		defer func() { ok(t, c.Close(t.Context())) }()
		server.Inject(curatortest.Rule{Op: "exists", Path: "/a/-", Do: curatortest.CutBefore()})
		e := newEnsure(t, c, "/a")
		func() {
			defer func() {
				if recover() == nil {
					t.Error("there was no panic")
				}
			}()
			_ = e.Ensure(t.Context())
		}()
		ok(t, e.Ensure(t.Context()))
	})
}

// panics is a policy with a bug.
type panics struct{}

func (*panics) Next(int, time.Duration, error) (time.Duration, bool) { panic("a bug of the user's") }
