package framework_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestBothModes has a watcher of each mode on one node, and counts their events. A server since 3.9 then has watches of both
// modes, one before has the last one alone.
func TestBothModes(t *testing.T) {
	for _, release := range []string{"3.8.0", "3.9.5"} {
		t.Run(release, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bothModes(t, curatortest.Start(t, curatortest.Virtual(), curatortest.WithRelease(release)))
			})
		})
	}
}

func bothModes(t *testing.T, s *curatortest.Server) {
	c := s.Client(t)
	var mu sync.Mutex
	var children, all []string
	into := func(told *[]string) *framework.Watcher {
		return framework.NewWatcher(func(_ context.Context, e framework.WatchedEvent) {
			mu.Lock()
			defer mu.Unlock()
			*told = append(*told, e.Type.String()+" "+e.Path)
		})
	}
	want := func(told *[]string, events ...string) {
		t.Helper()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(*told, events) {
			t.Errorf("told %q, want %q", *told, events)
		}
		*told = nil
	}
	create := func(path string) { t.Helper(); suite.Got(c.Create().ForPath(t.Context(), path)).OK(t) }
	create("/a")
	plain, recursive := into(&children), into(&all)
	suite.OK(t, c.Watches().Add().WithMode(framework.PersistentWatch).ForPath(t.Context(), "/a", plain))
	suite.OK(t, c.Watches().Add().WithMode(framework.PersistentRecursive).ForPath(t.Context(), "/a", recursive))
	create("/a/x")
	suite.OK(t, c.Delete().ForPath(t.Context(), "/a/x"))
	want(&children, "NodeChildrenChanged /a", "NodeChildrenChanged /a")
	want(&all, "NodeCreated /a/x", "NodeDeleted /a/x")
	operations := c.TransactionOp()
	suite.Got(c.Transaction().ForOperations(t.Context(), operations.Create().ForPath("/a/y"), operations.Create().ForPath("/a/z"))).OK(t)
	want(&children, "NodeChildrenChanged /a", "NodeChildrenChanged /a")
	want(&all, "NodeCreated /a/y", "NodeCreated /a/z")
	suite.OK(t, c.Watches().Remove().ForPath(t.Context(), "/a", recursive))
	create("/a/w")
	want(&children, "NodeChildrenChanged /a")
	want(&all, "PersistentWatchRemoved /a")
}
