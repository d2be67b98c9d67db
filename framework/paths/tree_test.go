package paths_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create makes nodes, with parents.
func create(t *testing.T, c *framework.Client, nodes ...string) {
	t.Helper()
	for _, node := range nodes {
		_, err := c.Create().CreatingParentsIfNeeded().WithData(nil).ForPath(t.Context(), node)
		ok(t, err)
	}
}

// wantNode fails unless the node exists, or does not.
func wantNode(t *testing.T, c *framework.Client, node string, want bool) {
	t.Helper()
	exists, err := c.CheckExists().ForPath(t.Context(), node)
	ok(t, err)
	if exists != want {
		t.Errorf("%s exists: %t", node, exists)
	}
}

var readOnly = []framework.ACL{{Perms: framework.PermRead, Scheme: "world", ID: "anyone"}}

func TestMkdirs(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		node := b.Path("a/b/c")
		ok(t, paths.Mkdirs(t.Context(), c, node))
		var stat framework.Stat
		data, err := c.GetData().StoringStatIn(&stat).ForPath(t.Context(), node)
		ok(t, err)
		if len(data) > 0 || stat.EphemeralOwner != 0 || stat.NumChildren != 0 {
			t.Errorf("data %q, %+v", data, stat)
		}
		made := network.Requests(jute.OpCreate2)
		ok(t, paths.Mkdirs(t.Context(), c, node))
		ok(t, paths.Mkdirs(t.Context(), c, path.Dir(node)))
		ok(t, paths.Mkdirs(t.Context(), c, "/"))
		if n := network.Requests(jute.OpCreate2); n != made || network.Requests(jute.OpCreateContainer) > 0 {
			t.Errorf("%d requests to create what exists", n-made)
		}

		ok(t, paths.Mkdirs(t.Context(), c, b.Path("x/y/z"), paths.WithoutLastNode(), paths.WithContainers()))
		wantNode(t, c, b.Path("x/y"), true)
		wantNode(t, c, b.Path("x/y/z"), false)
		if n := network.Requests(jute.OpCreateContainer); n != 2 {
			t.Errorf("%d containers, want 2", n)
		}

		given := []framework.ACL{{Perms: framework.PermAll &^ framework.PermWrite, Scheme: "world", ID: "anyone"}}
		ok(t, paths.Mkdirs(t.Context(), c, b.Path("l/m"), paths.WithACL(given...)))
		for _, node := range []string{"l", "l/m"} {
			acl, err := c.GetACL().ForPath(t.Context(), b.Path(node))
			ok(t, err)
			if !slices.Equal(acl, given) {
				t.Errorf("%s has the ACL %v", node, acl)
			}
		}
	})
}

// As CURATOR-728: who may not create the node may still be told that it is there.
func TestMkdirsOfWhatExists(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		create(t, c, b.Path("bar/foo"))
		_, err := c.SetACL().ForPath(t.Context(), b.Path("bar"), readOnly)
		ok(t, err)
		ok(t, paths.Mkdirs(t.Context(), c, b.Path("bar/foo")))
		ensure, err := paths.NewEnsureContainers(c, b.Path("bar/foo"))
		ok(t, err)
		ok(t, ensure.Ensure(t.Context()))
		if err := paths.Mkdirs(t.Context(), c, b.Path("bar/other")); !errors.Is(err, framework.ErrNoAuth) {
			t.Errorf("error %v", err)
		}
	})
}

// As CURATOR-715: newer servers refuse to say that a node is there to those who may not read it. Nodes below it can
// be made all the same.
func TestMkdirsBelowUnreadable(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		secret := b.Path("secret")
		create(t, c, secret)
		_, err := c.SetACL().ForPath(t.Context(), secret, []framework.ACL{framework.WorldACL(framework.PermCreate)})
		ok(t, err)
		if b.Virtual { // it has the rules of 3.8.0
			refused := curatortest.Rule{Op: "exists", Path: secret, Times: 100, Do: curatortest.Fail(framework.ErrNoAuth)}
			hit := b.Server().Inject(refused)
			defer func() {
				if !hit() {
					t.Error("nobody has asked for the node")
				}
			}()
		}
		ok(t, paths.Mkdirs(t.Context(), c, secret+"/a/b"))
		wantNode(t, c, secret+"/a/b", true)
		_, err = c.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), secret+"/c/d")
		ok(t, err)
		_, err = c.UsingNamespace(secret[1:]+"/ns").Create().ForPath(t.Context(), "/e")
		ok(t, err)
		wantNode(t, c, secret+"/ns/e", true)
	})
}

// Nodes that may not be read exist all the same.
func TestMkdirsOfWhatIsHidden(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		create(t, c, b.Path("bar/foo"))
		hidden := []framework.ACL{framework.WorldACL(framework.PermCreate)}
		for _, path := range []string{b.Path("bar/foo"), b.Path("bar")} {
			_, err := c.SetACL().ForPath(t.Context(), path, hidden)
			ok(t, err)
		}
		ok(t, paths.Mkdirs(t.Context(), c, b.Path("bar/foo")))
		ok(t, paths.Mkdirs(t.Context(), c, b.Path("bar/foo"), paths.WithoutLastNode()))
		ok(t, paths.Mkdirs(t.Context(), c, b.Path("bar/foo/a/b"), paths.WithoutLastNode()))
		wantNode(t, c, b.Path("bar/foo/a"), true)
		ensure, err := paths.NewEnsureContainers(c, b.Path("bar/foo"))
		ok(t, err)
		ok(t, ensure.Ensure(t.Context()))
	})
}

func TestMkdirsInANamespace(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		view := c.UsingNamespace(strings.TrimPrefix(b.Path("ns"), "/"))
		ok(t, paths.Mkdirs(t.Context(), view, "/"))
		wantNode(t, c, b.Path("ns"), true)
		ok(t, paths.Mkdirs(t.Context(), view, "/a/b"))
		wantNode(t, c, b.Path("ns/a/b"), true)
		ok(t, paths.DeleteChildren(t.Context(), view, "/", false))
		wantNode(t, c, b.Path("ns"), true)
		wantNode(t, c, b.Path("ns/a"), false)
		ok(t, paths.DeleteChildren(t.Context(), view, "/", true))
		wantNode(t, c, b.Path("ns"), false)
	})
}

// A reply that is lost is no reason to fail, and neither is somebody else who is faster.
func TestMkdirsGoesOn(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		for i, fate := range []suite.Fate{suite.CutBefore, suite.CutAfter} {
			hit := network.On(jute.OpCreate2, fate, nil)
			ok(t, paths.Mkdirs(t.Context(), c, b.Path(fmt.Sprintf("cut%d/b/c", i))))
			<-hit
			wantNode(t, c, b.Path(fmt.Sprintf("cut%d/b/c", i)), true)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := paths.Mkdirs(t.Context(), c, b.Path("together/b/c"), paths.WithContainers()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		wantNode(t, c, b.Path("together/b/c"), true)
	})
}

// The server removes a container before its child comes, as often as it likes.
func TestMkdirsOfReapedContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		c := server.Client(t)
		reap := curatortest.Rule{Op: "create", Path: "/a/b", Times: 3, Do: curatortest.Fail(framework.ErrNoNode)}
		reaped := server.Inject(reap)
		ok(t, paths.Mkdirs(t.Context(), c, "/a/b/c"))
		wantNode(t, c, "/a/b/c", true)
		if !reaped() {
			t.Error("the rule was not met")
		}
		reap.Path, reap.Times = "/x/y", 1000
		server.Inject(reap)
		if err := paths.Mkdirs(t.Context(), c, "/x/y/z"); !errors.Is(err, framework.ErrNoNode) {
			t.Errorf("error %v", err)
		}
	})
}

func TestRefused(t *testing.T) {
	latent, err := framework.NewClient("127.0.0.1:1", retry.None())
	ok(t, err)
	for want, errs := range map[error][]error{
		framework.ErrInvalidOption: {
			paths.Mkdirs(t.Context(), latent, "/a", nil), paths.Mkdirs(t.Context(), latent, "/a", paths.WithACL()),
		},
		framework.ErrNotStarted: {
			paths.Mkdirs(t.Context(), nil, "/a"), paths.Mkdirs(t.Context(), latent, "/a"),
			paths.DeleteChildren(t.Context(), nil, "/a", true), paths.DeleteChildren(t.Context(), nil, "/a", false),
			paths.DeleteChildren(t.Context(), latent, "/a", false),
		},
		framework.ErrInvalidPath: {
			paths.Mkdirs(t.Context(), latent, ""), paths.Mkdirs(t.Context(), latent, "a"), paths.Mkdirs(t.Context(), latent, "/a/"),
			paths.Mkdirs(t.Context(), latent, "/a//b", paths.WithoutLastNode()), paths.Mkdirs(t.Context(), latent.UsingNamespace("/x"), "/a"),
			paths.DeleteChildren(t.Context(), latent, "/a/", true), paths.DeleteChildren(t.Context(), latent, "", false),
		},
	} {
		for i, err := range errs {
			if !errors.Is(err, want) {
				t.Errorf("number %d: error %v, want %v", i, err, want)
			}
		}
	}
	_, nilSorted := paths.SortedChildren(t.Context(), nil, "/a")
	_, nilEnsure := paths.NewEnsureContainers(nil, "/a")
	for i, err := range []error{
		paths.Mkdirs(t.Context(), nil, "/a"), paths.DeleteChildren(t.Context(), nil, "/a", true),
		paths.DeleteChildren(t.Context(), nil, "/a", false), nilSorted, nilEnsure,
	} {
		if !strings.Contains(err.Error(), "the client is nil") {
			t.Errorf("nil client, number %d: %v", i, err)
		}
	}
	if names, err := paths.SortedChildren(t.Context(), latent, "/a"); names != nil || !errors.Is(err, framework.ErrNotStarted) {
		t.Errorf("%v, %v", names, err)
	}
	if err := paths.Mkdirs(t.Context(), latent, "a"); err.Error() != `mkdirs a: invalid path "a": it does not begin with a slash` {
		t.Error(err)
	}
}

func TestDeleteChildren(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		root := b.Path("tree")
		ok(t, paths.DeleteChildren(t.Context(), c, root, false)) // there is nothing
		ok(t, paths.DeleteChildren(t.Context(), c, root, true))
		create(t, c, root+"/a/b/c", root+"/a/d", root+"/e", root+"/f", root+"/f-beside")
		hit := network.On(jute.OpDelete, suite.CutAfter, nil)
		ok(t, paths.DeleteChildren(t.Context(), c, root, false))
		<-hit
		var stat framework.Stat
		_, err := c.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), root)
		ok(t, err)
		if stat.NumChildren != 0 || stat.Czxid == 0 {
			t.Errorf("%+v", stat)
		}
		ok(t, paths.DeleteChildren(t.Context(), c, root, false))
		create(t, c, root+"/a/b")
		ok(t, paths.DeleteChildren(t.Context(), c, root+"/a", true))
		wantNode(t, c, root+"/a", false)
		wantNode(t, c, root, true)
	})
}

// Some delete, some create: nobody fails, and in the end all is gone.
func TestDeleteChildrenConcurrently(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		other, _ := b.Client(t)
		root := b.Path("tree")
		var nodes []string
		for i := range 100 {
			nodes = append(nodes, fmt.Sprintf("%s/%d/%d/x", root, i%10, i))
		}
		create(t, c, nodes...)
		var all sync.WaitGroup
		for i, client := range []*framework.Client{c, other, c, other} {
			all.Go(func() {
				if err := paths.DeleteChildren(t.Context(), client, root, i%2 == 0); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			for _, node := range nodes[:20] {
				if err := paths.Mkdirs(t.Context(), other, node+"y"); err != nil && !errors.Is(err, framework.ErrNoNode) {
					t.Error(err)
				}
			}
		})
		all.Wait()
		ok(t, paths.DeleteChildren(t.Context(), c, root, true))
		wantNode(t, c, root, false)
	})
}

func TestSortedChildren(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		root := b.Path("tree")
		create(t, c, root+"/n-0000000010", root+"/n-0000000009", root+"/m", root+"/ö", root+"/A")
		names, err := paths.SortedChildren(t.Context(), c, root)
		ok(t, err)
		if want := []string{"A", "m", "n-0000000009", "n-0000000010", "ö"}; !slices.Equal(names, want) {
			t.Errorf("children %q", names)
		}
		if _, err := paths.SortedChildren(t.Context(), c, root+"/none"); !errors.Is(err, framework.ErrNoNode) {
			t.Errorf("error %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := paths.SortedChildren(ended, c, root); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}
