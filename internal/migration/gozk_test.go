package migration_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework/zk"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

// on returns a topic that has a connection of the package that the document leads away from.
func on(do func(ctx context.Context, conn *zk.Conn, events <-chan zk.Event) error) func(context.Context, *framework.Client) error {
	return func(ctx context.Context, _ *framework.Client) error {
		conn, events, err := zk.Connect(strings.Split(connectString, ","), 10*time.Second, zk.WithLogInfo(false))
		if err != nil {
			return err
		}
		defer conn.Close()
		return do(ctx, conn, events)
	}
}

// onlyConn is on for a function that takes nothing else.
func onlyConn(do func(conn *zk.Conn) error) func(context.Context, *framework.Client) error {
	return on(func(_ context.Context, conn *zk.Conn, _ <-chan zk.Event) error { return do(conn) })
}

// until runs fn on a goroutine until the names were called, and then ends it.
func until(ctx context.Context, fn func(context.Context) error, end func(), want ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- fn(ctx) }()
	err := await(ctx, want...)
	cancel()
	end()
	if after := <-ended; err == nil && after != nil && !errors.Is(after, zk.ErrClosing) && !errors.Is(after, zk.ErrConnectionClosed) {
		err = after
	}
	return err
}

// follow returns topics of one program before and after: it calls want for the first state.
func follow(name string, nodes []string, before func(conn *zk.Conn) error, after func(context.Context, *framework.Client) error, want string) []topic {
	return []topic{
		{name + " before", nodes, onlyConn(func(conn *zk.Conn) error {
			return until(context.Background(), func(context.Context) error { return before(conn) }, conn.Close, want)
		}), nil},
		{name + " after", nodes, func(ctx context.Context, client *framework.Client) error {
			return until(ctx, func(ctx context.Context) error { return after(ctx, client) }, func() {}, want)
		}, nil},
	}
}

// both returns topics of one program before and after, with one check.
func both(name string, nodes []string, before func(conn *zk.Conn) error, after func(context.Context, *framework.Client) error, check func(env)) []topic {
	return []topic{
		{name + " before", nodes, onlyConn(before), check},
		{name + " after", nodes, after, check},
	}
}

func gozkTopics() (all []topic) {
	all = append(all,
		topic{"connect before", nil, func(ctx context.Context, _ *framework.Client) error {
			runOn = func(_ context.Context, conn *zk.Conn) error {
				called <- "run"
				_, _, err := conn.Exists("/")
				return err
			}
			return oldConnect(ctx)
		}, wantCalls("run")},
		topic{"connect after", nil, func(ctx context.Context, _ *framework.Client) error {
			run = func(ctx context.Context, client *framework.Client) error {
				called <- "run"
				return client.BlockUntilConnected(ctx)
			}
			return newConnect(ctx)
		}, wantCalls("run")},
		topic{"limit", []string{"/config"}, newLimit, wantCalls("use old")},
		topic{"lock before", nil, onlyConn(func(conn *zk.Conn) error { return oldLock(context.Background(), conn) }), wantCalls("export")},
		topic{"try lock before", nil, onlyConn(func(conn *zk.Conn) error {
			return errors.Join(oldTryLock(context.Background(), conn, "a"), oldTryLock(context.Background(), conn, "b"))
		}), wantCalls("export", "busy")},
		topic{"try lock after", nil, newTryLock, wantCalls("work")},
		topic{"election before", []string{"/leaders", "/leaders/billing"}, onlyConn(func(conn *zk.Conn) error {
			return oldElection(context.Background(), conn)
		}), wantCalls("export")},
		topic{"register before", []string{"/services"}, on(func(ctx context.Context, conn *zk.Conn, events <-chan zk.Event) error {
			return untilNode(ctx, conn, func() error { return oldRegister(conn, events) })
		}), nil},
		topic{"own again", []string{"/services"}, func(ctx context.Context, client *framework.Client) error {
			if _, err := client.Create().WithMode(framework.Ephemeral).ForPath(ctx, "/services/10.0.0.7:8080"); err != nil {
				return err
			}
			return onlyConn(func(conn *zk.Conn) error {
				for range 2 {
					if err := ownAgain(conn); err != nil {
						return err
					}
				}
				_, stat, err := conn.Exists("/services/10.0.0.7:8080")
				if err == nil && (stat.EphemeralOwner != conn.SessionID() || stat.Version != 0) {
					err = fmt.Errorf("the node is of session %x, version %d", stat.EphemeralOwner, stat.Version)
				}
				return err
			})(ctx, client)
		}, nil},
		topic{"register after", []string{"/services"}, func(ctx context.Context, client *framework.Client) error {
			run = func(ctx context.Context, client *framework.Client) error {
				found, err := client.CheckExists().ForPath(ctx, "/services/10.0.0.7:8080")
				if !found {
					return fmt.Errorf("not registered: %w", err)
				}
				return err
			}
			return newRegister(ctx, client)
		}, wantNone("/services/10.0.0.7:8080")},
	)
	all = append(all, both("change", []string{"/config"}, oldChange, newChange, wantNode("/config", "old!"))...)
	all = append(all, both("nothing to change", nil, oldChange, newChange, wantNone("/config"))...)
	all = append(all, both("create", nil, oldCreate, create, wantNode("/jobs/new/job-0000000000", "data"))...)
	all = append(all, both("multi", []string{"/config", "/jobs", "/jobs/8", "/last"}, oldMulti, transaction, wantNode("/jobs/9", "data"))...)
	all = append(all, both("private", nil, oldPrivate, func(ctx context.Context, _ *framework.Client) error {
		return newPrivate(ctx)
	}, func(e env) {
		if _, err := e.client.GetData().ForPath(e.Context(), "/private"); !errors.Is(err, framework.ErrNoAuth) {
			e.Errorf("everybody may read it: %v", err)
		}
	})...)
	all = append(all, follow("config", []string{"/config"}, oldConfig, newConfig, "use old")...)
	all = append(all, follow("workers", []string{"/workers", "/workers/1"}, oldWorkers, newWorkers, "use old")...)
	return all
}

// untilNode runs fn until the node of the registration is there, and then ends the connection.
func untilNode(ctx context.Context, conn *zk.Conn, fn func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- fn() }()
	_, _, created, err := conn.ExistsW("/services/10.0.0.7:8080")
	if found, _, _ := conn.Exists("/services/10.0.0.7:8080"); !found && err == nil {
		select {
		case <-created:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	conn.Close()
	return errors.Join(err, <-ended)
}

func TestGoZooKeeperTopics(t *testing.T) { runTopics(t, gozkTopics()) }

// A program before its port, and one after it, share a lock.
func TestLockOfBoth(t *testing.T) {
	const rounds = 20
	e := newEnv(t)
	conn, _, err := zk.Connect([]string{connectString}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	before := zk.NewLock(conn, "/locks/orders", zk.WorldACL(zk.PermAll))
	after, err := locks.NewInterProcessMutex(e.client, "/locks/orders")
	if err != nil {
		t.Fatal(err)
	}
	var inside, together, done atomic.Int32
	step := func() {
		if inside.Add(1) > 1 {
			together.Add(1)
		}
		runtime.Gosched()
		inside.Add(-1)
		done.Add(1)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for range rounds {
			if err := before.Lock(); err != nil {
				t.Error(err)
				return
			}
			step()
			if err := before.Unlock(); err != nil {
				t.Error(err)
			}
		}
	})
	group.Go(func() {
		for range rounds {
			if err := locks.Do(t.Context(), after, func(context.Context, *locks.Lease) error {
				step()
				return nil
			}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	group.Wait()
	if together.Load() > 0 || done.Load() != 2*rounds {
		t.Errorf("%d of %d steps at the same time as another one", together.Load(), done.Load())
	}
}
