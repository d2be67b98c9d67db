package framework_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// aclAsked is an ACLProvider that keeps the paths that it is asked about.
type aclAsked struct {
	acl func(path string) []framework.ACL

	mu    sync.Mutex
	asked []string
}

func (p *aclAsked) ACLForPath(path string) []framework.ACL {
	p.mu.Lock()
	p.asked = append(p.asked, path)
	p.mu.Unlock()
	return p.acl(path)
}

// The provider chooses for every node that is made, parents and those of a namespace
// included, unless the call does.
func TestACLProvider(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		noWrite := []framework.ACL{{Perms: framework.PermAll &^ framework.PermWrite, Scheme: "world", ID: "anyone"}}
		p := &aclAsked{acl: func(string) []framework.ACL { return noWrite }}
		c, _ := b.Client(t, framework.WithACLProvider(p))
		root := b.Path("ns")
		view := c.UsingNamespace(root[1:])
		create := view.Create().CreatingParentsIfNeeded()
		if _, err := create.WithMode(framework.PersistentSequential).ForPath(t.Context(), "/a/b-"); err != nil {
			t.Fatal(err)
		}
		parent := strings.TrimSuffix(root, "/ns")
		slices.Sort(p.asked)
		if want := []string{parent, root, root + "/a", root + "/a/b-"}; !slices.Equal(p.asked, want) {
			t.Fatalf("it was asked about %q, want %q", p.asked, want)
		}
		for _, path := range []string{root, root + "/a"} {
			acl, err := c.GetACL().ForPath(t.Context(), path)
			if err != nil || !slices.Equal(acl, noWrite) {
				t.Fatalf("%s: %v, %v", path, acl, err)
			}
		}
		// A call's own ACL is for its nodes; those of a namespace are others', too.
		other := b.Path("other")
		_, err := c.UsingNamespace(other[1:]).Create().CreatingParentsIfNeeded().WithACL(open...).WithACLOnParents().ForPath(t.Context(), "/a/b")
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string][]framework.ACL{other: noWrite, other + "/a": open, other + "/a/b": open} {
			acl, err := c.GetACL().ForPath(t.Context(), path)
			if err != nil || !slices.Equal(acl, want) {
				t.Errorf("%s: %v, %v, want %v", path, acl, err, want)
			}
		}
	})
}

// defaulting is an ACLProvider with a default.
type defaulting struct {
	aclAsked
	byDefault []framework.ACL
}

func (p *defaulting) DefaultACL() []framework.ACL { return p.byDefault }

// The default is for the nodes that the provider has no ACL for, and for no others.
func TestACLProviderDefault(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		const perms = framework.PermAll
		own := []framework.ACL{{Perms: perms &^ framework.PermWrite, Scheme: "world", ID: "anyone"}}
		p := &defaulting{byDefault: []framework.ACL{{Perms: perms &^ framework.PermAdmin, Scheme: "world", ID: "anyone"}}}
		p.acl = func(path string) []framework.ACL {
			if strings.HasSuffix(path, "/own") {
				return own
			}
			return nil
		}
		c, _ := b.Client(t, framework.WithACLProvider(p))
		if _, err := c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), b.Path("parent/own")); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string][]framework.ACL{b.Path("parent"): p.byDefault, b.Path("parent/own"): own} {
			acl, err := c.GetACL().ForPath(t.Context(), path)
			if err != nil || !slices.Equal(acl, want) {
				t.Errorf("%s: %v, %v, want %v", path, acl, err, want)
			}
		}
	})
}

// A provider that has no ACL, or panics, has nothing sent and nothing held: the client works
// on.
func TestACLProviderFails(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		for name, wrong := range map[string]struct {
			provider framework.ACLProvider
			want     error
		}{
			"none":             {&aclAsked{acl: noACL}, framework.ErrInvalidACL},
			"an empty default": {&defaulting{aclAsked: aclAsked{acl: noACL}}, framework.ErrInvalidACL},
			"panic":            {&aclAsked{acl: func(string) []framework.ACL { panic(errBroken) }}, errBroken},
		} {
			c, network := b.Client(t, framework.WithACLProvider(wrong.provider))
			err := caught(func() error {
				_, err := c.Create().WithProtection().ForPath(t.Context(), b.Path("x"))
				return err
			})
			if !errors.Is(err, wrong.want) || framework.MaybeApplied(err) {
				t.Errorf("%s: %v", name, err)
			}
			if n := network.Requests(jute.OpCreate2); n != 0 {
				t.Errorf("%s: %d creates", name, n)
			}
			// For the parents it is asked in the middle of a call.
			err = caught(func() error {
				_, err := c.Create().CreatingParentsIfNeeded().WithACL(open...).ForPath(t.Context(), b.Path("x"))
				return err
			})
			if !errors.Is(err, wrong.want) || framework.MaybeApplied(err) {
				t.Errorf("%s: %v", name, err)
			}
			if ok, err := c.CheckExists().ForPath(t.Context(), strings.TrimSuffix(b.Path(""), "/")); ok || err != nil {
				t.Errorf("%s: the parent exists: %t, %v", name, ok, err)
			}
		}
	})
}

func noACL(string) []framework.ACL { return nil }

// caught returns what fn returns, or panics with.
func caught(fn func() error) (err error) {
	defer func() {
		if v, ok := recover().(error); ok {
			err = v
		}
	}()
	return fn()
}

// The server removes a node after its time, and leaves one that has more of it.
func TestShortTTL(t *testing.T) {
	t.Parallel()
	suite.EachReaping(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		create := c.Create().CreatingParentsIfNeeded()
		long, err := create.WithMode(framework.PersistentWithTTL).WithTTL(time.Hour).ForPath(t.Context(), b.Path("long"))
		if err != nil {
			t.Fatal(err)
		}
		exists := func(path string) bool {
			there, err := c.CheckExists().ForPath(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			return there
		}
		for _, mode := range []framework.CreateMode{framework.PersistentWithTTL, framework.PersistentSequentialWithTTL} {
			path, err := create.WithMode(mode).WithTTL(20*time.Millisecond).ForPath(t.Context(), b.Path("short"))
			if err != nil {
				t.Fatal(err)
			}
			suite.Eventually(t, "the time to pass", func() bool { return !exists(path) })
		}
		if !exists(long) {
			t.Error("the one with the longer time is gone")
		}
	})
}

// TestTTLPasses moves the server's clock, where TestShortTTL waits.
func TestTTLPasses(t *testing.T) {
	server := curatortest.Start(t)
	c := server.Client(t)
	create := c.Create().WithMode(framework.PersistentWithTTL).WithTTL(time.Hour)
	for _, path := range []string{"/parent", "/alone", "/written"} {
		if _, err := create.ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Create().ForPath(t.Context(), "/parent/child"); err != nil {
		t.Fatal(err)
	}
	want := func(paths ...string) {
		t.Helper()
		names, err := c.GetChildren().ForPath(t.Context(), "/")
		slices.Sort(names)
		if err != nil || !slices.Equal(names, append(paths, "zookeeper")) {
			t.Fatalf("%q, %v, want %q", names, err, paths)
		}
	}
	server.AdvanceClock(59 * time.Minute)
	if _, err := c.SetData().Idempotent().ForPath(t.Context(), "/written", nil); err != nil {
		t.Fatal(err)
	}
	want("alone", "parent", "written")
	server.AdvanceClock(3 * time.Minute)
	want("parent", "written")
	if err := c.Delete().ForPath(t.Context(), "/parent/child"); err != nil {
		t.Fatal(err)
	}
	server.AdvanceClock(2 * time.Hour)
	want()
}
