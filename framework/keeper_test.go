package framework_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// On ClickHouse Keeper creates work, with a Stat, and so do parents, although it knows neither create2 nor containers. The
// log says so once. What has no other way fails with ErrUnimplemented, and the connection is lost twice at most for each.
func TestKeeper(t *testing.T) {
	suite.Keeper(t, func(t *testing.T, b *suite.Backend) {
		var log suite.Log
		client, _ := b.Client(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), framework.WithNamespace("names"))
		suite.OK(t, client.BlockUntilConnected(t.Context()))
		session := client.SessionID()
		path := b.Path("a")
		var stat, read framework.Stat
		for _, mode := range []framework.CreateMode{
			framework.Persistent, framework.Ephemeral, framework.PersistentSequential, framework.EphemeralSequential,
		} {
			made := suite.Got(client.Create().CreatingParentContainersIfNeeded().WithProtection().WithMode(mode).StoringStatIn(&stat).ForPath(t.Context(), path)).OK(t)
			suite.Got(client.GetData().StoringStatIn(&read).ForPath(t.Context(), made)).OK(t)
			if stat != read || stat.Czxid == 0 || stat.Ctime.Year() < 2000 {
				t.Errorf("%v: Stat %+v, want %+v", mode, stat, read)
			}
		}
		if client.SessionID() != session {
			t.Error("a create has ended the session")
		}
		suite.Got(client.Transaction().ForOperations(t.Context(),
			client.TransactionOp().Create().ForPath(path+"1"), client.TransactionOp().Delete().ForPath(path+"1"))).OK(t)
		suite.Got(client.Create().WithMode(framework.Container).Idempotent().ForPath(t.Context(), path+"c")).Fails(t, framework.ErrUnimplemented)
		suite.Got(client.Create().WithMode(framework.PersistentWithTTL).WithTTL(time.Minute).Idempotent().ForPath(t.Context(), path+"t")).Fails(t, framework.ErrUnimplemented)
		session = client.SessionID()
		suite.Got(client.Create().WithMode(framework.Container).Idempotent().ForPath(t.Context(), path+"c")).Fails(t, framework.ErrUnimplemented)
		suite.Got(client.CheckExists().ForPath(t.Context(), path)).OK(t)
		if client.SessionID() != session {
			t.Error("what is known to be unknown has ended the session")
		}
		if n := strings.Count(log.String(), "sessions have no password"); n != 1 {
			t.Errorf("the log says %d times that it is a Keeper:\n%s", n, log.String())
		}
	})
}
