package framework_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// nearLimit begins the warning.
const nearLimit = "zookeeper: the session has so many ephemeral nodes"

// TestJuteMaxBuffer has every way to create an ephemeral node refused from three quarters of the limit on, and everything
// else go on.
func TestJuteMaxBuffer(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		var log lines
		client, _ := b.Client(t, framework.WithJuteMaxBuffer(8000), framework.WithLogger(slog.New(&log)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // what is not refused may wait
		defer cancel()
		path := func(i int) string { return b.Path(fmt.Sprintf("a/%0*d", 96-len(b.Path("a/")), i)) }
		ephemeral := client.Create().WithMode(framework.Ephemeral).CreatingParentsIfNeeded()
		for i := range 60 {
			suite.Got(ephemeral.ForPath(ctx, path(i))).OK(t)
		}
		synctest.Wait()
		if found := log.with(nearLimit); len(found) != 1 || found[0].level != slog.LevelWarn {
			t.Errorf("logged %v", found)
		}
		mutex := suite.Got(locks.NewInterProcessMutex(client, b.Path("lock"))).OK(t)
		node := suite.Got(nodes.NewPersistentNode(client, b.Path("node"), framework.Ephemeral, nil)).OK(t)
		defer func() { _ = node.Close(context.WithoutCancel(ctx)) }()
		op := client.TransactionOp().Create().WithMode(framework.Ephemeral).ForPath(b.Path("op"))
		for name, create := range map[string]func() error{
			"create": func() error { return second(ephemeral.ForPath(ctx, b.Path("create"))) },
			"sequential": func() error {
				return second(ephemeral.WithMode(framework.EphemeralSequential).ForPath(ctx, b.Path("seq-")))
			},
			"protected":   func() error { return second(ephemeral.WithProtection().ForPath(ctx, b.Path("protected"))) },
			"transaction": func() error { return second(client.Transaction().ForOperations(ctx, op)) },
			"batch":       func() error { return second(client.Batch().ForOperations(ctx, op)) },
			"lock":        func() error { return second(mutex.Acquire(ctx)) },
			"try":         func() error { return second(mutex.TryAcquire(ctx)) },
			"kept node":   func() error { return node.Start(ctx) },
		} {
			err := create()
			suite.CheckErr(t, err, framework.ErrTooLarge)
			for _, word := range []string{"ZOOKEEPER-4306", "8000", "WithJuteMaxBuffer"} {
				if !strings.Contains(fmt.Sprint(err), word) {
					t.Errorf("%s: the error does not have %q: %v", name, word, err)
				}
			}
			if framework.MaybeApplied(err) || framework.Retryable(err) {
				t.Errorf("%s: %v may have been applied, or may be tried again", name, err)
			}
		}
		if t.Failed() {
			return // what was not refused is held
		}
		suite.Got(client.Create().ForPath(ctx, b.Path("persistent"))).OK(t)
		suite.OK(t, client.Delete().ForPath(ctx, path(0)))
		lease := suite.Got(mutex.Acquire(ctx)).OK(t)
		suite.OK(t, lease.Release(ctx))
		synctest.Wait()
		if found := log.with(nearLimit); len(found) != 0 {
			t.Errorf("logged again: %v", found)
		}
	})
}

// TestJuteMaxBufferOption has its bounds, and what counts without it.
func TestJuteMaxBufferOption(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		if _, err := framework.NewClient("host", retry.None(), framework.WithJuteMaxBuffer(1023)); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("1023: %v", err)
		}
		for _, test := range []struct {
			opts []framework.Option
			want int
		}{
			{nil, 0xfffff},
			{[]framework.Option{framework.WithMaxData(4096)}, 0xfffff},
			{[]framework.Option{framework.WithMaxData(4 << 20)}, 4 << 20},
			{[]framework.Option{framework.WithJuteMaxBuffer(1024), framework.WithMaxData(4 << 20)}, 1024},
		} {
			client, _ := b.Client(t, test.opts...)
			suite.OK(t, client.BlockUntilConnected(t.Context()))
			if got := zkclient.Of(client).Opened().Stats().EphemeralLimit; got != test.want {
				t.Errorf("%d options: a limit of %d, want %d", len(test.opts), got, test.want)
			}
		}
	})
}

// TestLargeListIsLogged has a node whose list of children is near the limit.
func TestLargeListIsLogged(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		var log lines
		client, _ := b.Client(t, framework.WithJuteMaxBuffer(8000), framework.WithLogger(slog.New(&log)))
		for i := range 40 {
			suite.Got(client.Create().CreatingParentsIfNeeded().ForPath(t.Context(), b.Path(fmt.Sprintf("dir/%096d", i)))).OK(t)
		}
		for range 2 {
			suite.Got(client.GetChildren().ForPath(t.Context(), b.Path("dir"))).OK(t)
		}
		synctest.Wait()
		if found := log.with("zookeeper: the list of a node's children"); len(found) != 1 || found[0].level != slog.LevelWarn {
			t.Errorf("logged %v", found)
		}
	})
}

// TestUnlimitedIsLogged has servers that do not list the session's nodes: one before 3.6, which needs no limit, and one
// that closes connections, of which nothing is known.
func TestUnlimitedIsLogged(t *testing.T) {
	for name, test := range map[string]struct {
		fate  curatortest.Fate
		asked int
		level slog.Level
	}{
		"refused": {curatortest.Fail(framework.ErrUnimplemented), 1, slog.LevelInfo},
		"cut":     {curatortest.CutBefore(), 2, slog.LevelWarn},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				var log lines
				client, _ := b.Client(t, framework.WithJuteMaxBuffer(8000), framework.WithLogger(slog.New(&log)))
				b.Server().Inject(curatortest.Rule{Op: "getEphemerals", Times: test.asked, Do: test.fate})
				create := client.Create().WithMode(framework.EphemeralSequential).WithProtection().CreatingParentsIfNeeded()
				for range 70 {
					suite.Got(create.ForPath(t.Context(), b.Path(fmt.Sprintf("a/%070d-", 0)))).OK(t)
				}
				synctest.Wait()
				if found := log.with("zookeeper: the ephemeral nodes of the session are not limited"); len(found) != 1 || found[0].level != test.level {
					t.Errorf("logged %v", found)
				}
			})
		})
	}
}
