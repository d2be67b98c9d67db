package framework_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// Newer servers refuse to say whether a node exists that the client may not read. Older ones say it.
func TestExistsNeedsRead(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		path, absent := b.Path("hidden"), b.Path("absent")
		_, err := c.Create().CreatingParentsIfNeeded().WithACL(framework.WorldACL(framework.PermWrite)).ForPath(t.Context(), path)
		suite.OK(t, err)
		before := b.Watches()
		watcher := framework.NewWatcher(nil)
		there, err := c.CheckExists().UsingWatcher(watcher).ForPath(t.Context(), path)
		var read framework.Read
		for _, read = range c.ReadMany(t.Context(), slices.Values([]string{path}), framework.ReadStat) {
		}
		watched := 1
		if b.ExistsNeedsRead(t) {
			suite.WantErr(t, err, framework.ErrNoAuth)
			suite.WantErr(t, read.Err, framework.ErrNoAuth)
			watched = 0
		} else if err != nil || !there || read.Err != nil {
			t.Errorf("%t, %v; %v", there, err, read.Err)
		}
		if n := b.Watches() - before; b.Server() != nil && n != watched {
			t.Errorf("%d watches, want %d", n, watched)
		}
		if there, err := c.CheckExists().UsingWatcher(watcher).ForPath(t.Context(), absent); there || err != nil {
			t.Errorf("a missing node: %t, %v", there, err)
		}
		if n := b.Watches() - before; b.Server() != nil && n != watched+1 {
			t.Errorf("%d watches, want %d", n, watched+1)
		}
		if n := network.Requests(jute.OpExists); n == 0 {
			t.Error("no request was sent")
		}
	})
}

// Parents that may not be read exist all the same, and so does a namespace.
func TestUnreadableParents(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		top := b.Path("top")
		_, err := c.Create().CreatingParentsIfNeeded().WithACL(framework.WorldACL(framework.PermCreate)).ForPath(t.Context(), top)
		suite.OK(t, err)
		for name, create := range map[string]framework.CreateBuilder{
			"parents":    c.Create().CreatingParentsIfNeeded(),
			"containers": c.Create().CreatingParentContainersIfNeeded(),
		} {
			_, err := create.ForPath(t.Context(), top+"/"+name+"/a/b")
			suite.OK(t, err)
		}
		if there, err := c.CheckExists().CreatingParentsIfNeeded().ForPath(t.Context(), top+"/looked/for"); there || err != nil {
			t.Errorf("%t, %v", there, err)
		}
		view := c.UsingNamespace(strings.TrimPrefix(top, "/") + "/space")
		_, err = view.Create().ForPath(t.Context(), "/a")
		suite.OK(t, err)
		view = c.UsingNamespace(strings.TrimPrefix(top, "/"))
		_, err = view.Create().CreatingParentsIfNeeded().ForPath(t.Context(), "/x/y")
		suite.OK(t, err)
		for _, made := range []string{"/parents/a/b", "/containers/a/b", "/looked", "/space/a", "/x/y"} {
			if there, err := c.CheckExists().ForPath(t.Context(), top+made); !there || err != nil {
				t.Errorf("%s: %t, %v", made, there, err)
			}
		}
	})
}

// The node of a create with protection is found after a lost reply also if it may not be read: there is one in the end.
func TestProtectionOfUnreadableNodes(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		for name, mode := range map[string]framework.CreateMode{
			"ephemeral": framework.EphemeralSequential, "persistent": framework.PersistentSequential,
		} {
			dir := b.Path(name)
			_, err := c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), dir)
			suite.OK(t, err)
			network.On(jute.OpCreate2, suite.CutAfter, nil)
			path, err := c.Create().WithProtection().WithMode(mode).WithACL(framework.WorldACL(framework.PermWrite)).ForPath(t.Context(), dir+"/n-")
			suite.OK(t, err)
			suite.Eventually(t, "one node", func() bool {
				names, err := c.GetChildren().ForPath(t.Context(), dir)
				if err != nil && !framework.Retryable(err) {
					t.Fatal(err)
				}
				return slices.Equal(names, []string{strings.TrimPrefix(path, dir+"/")})
			})
			_, err = c.SetData().ForPath(t.Context(), path, nil)
			suite.OK(t, err)
		}
	})
}

// A node that may not be read is there, so a transaction that deletes it was not applied.
func TestRepetitionOverUnreadableNodes(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		other, _ := b.Client(t)
		a, gone := b.Path("a"), b.Path("gone")
		for _, path := range []string{a, gone} {
			_, err := c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), path)
			suite.OK(t, err)
		}
		network.On(jute.OpMulti, suite.CutBefore, func() {
			suite.OK(t, other.Delete().ForPath(t.Context(), gone))
			_, err := other.Create().WithACL(framework.WorldACL(framework.PermWrite)).ForPath(t.Context(), gone)
			suite.OK(t, err)
			_, err = other.SetData().ForPath(t.Context(), gone, []byte("another"))
			suite.OK(t, err)
		})
		op := c.TransactionOp()
		_, err := c.Transaction().Idempotent().ForOperations(t.Context(),
			op.SetData().WithVersion(0).ForPath(a, []byte("new")), op.Delete().WithVersion(0).ForPath(gone))
		if !errors.Is(err, framework.ErrBadVersion) {
			t.Errorf("error %v", err)
		}
	})
}
