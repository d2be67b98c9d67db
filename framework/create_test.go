package framework_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

func testCreate(t bench) {
	if path := t.create(t.path); path != t.path {
		t.Fatalf("path %q", path)
	}
	_, err := t.c.Create().ForPath(t.Context(), t.path)
	t.want(err, framework.ErrNodeExists)
	_, err = t.c.Create().ForPath(t.Context(), t.path+"/missing/node")
	t.want(err, framework.ErrNoNode)
	big := make([]byte, 1<<20)
	_, err = t.c.Create().WithData(big).ForPath(t.Context(), t.path+"/big")
	t.want(err, framework.ErrTooLarge)
	var none context.Context
	_, err = t.c.Create().ForPath(none, t.path+"/none")
	t.want(err, framework.ErrInvalidOption)
	for _, path := range badPaths {
		_, err := t.c.Create().ForPath(t.Context(), path)
		t.want(err, framework.ErrInvalidPath)
	}
	if text := err.Error(); text == "" || framework.MaybeApplied(err) {
		t.Fatalf("error %q", text)
	}
}

var badPaths = []string{"", "relative", "/a/", "//a", "/a//b", "/a/./b", "/a/..", "/a\x00b", "/a\tb", "/\u0085", "/\uf000", "/\ufff1", "/a\xff"}

func testCreateWithMode(t bench) {
	t.create(t.path)
	for mode, name := range map[framework.CreateMode]string{
		framework.Persistent: "n", framework.Ephemeral: "e", framework.Container: "c",
		framework.PersistentSequential: "ps", framework.EphemeralSequential: "es",
	} {
		path, err := t.c.Create().WithMode(mode).ForPath(t.Context(), t.path+"/"+name)
		t.ok(err)
		sequential := strings.HasSuffix(name, "s")
		if got := strings.TrimPrefix(path, t.path+"/"); sequential && len(got) != len(name)+10 || !sequential && got != name {
			t.Errorf("mode %d: name %q", mode, got)
		}
		ephemeral := name == "e" || name == "es"
		if owner := t.stat(path).EphemeralOwner; ephemeral != (owner == t.c.SessionID()) {
			t.Errorf("mode %d: owner %x", mode, owner)
		}
	}
	_, err := t.c.Create().ForPath(t.Context(), t.path+"/e/child")
	t.want(err, framework.ErrNoChildrenForEphemerals)
	_, err = t.c.Create().WithMode(99).ForPath(t.Context(), t.path+"/x")
	t.want(err, framework.ErrInvalidBuilder)
	// The server puts its number behind a slash, too.
	path, err := t.c.Create().WithMode(framework.PersistentSequential).ForPath(t.Context(), t.path+"/")
	t.ok(err)
	if len(path) != len(t.path)+1+10 {
		t.Errorf("path %q", path)
	}
}

func testCreateWithData(t bench) {
	for name, want := range map[string]string{"given": "abc", "nil": "", "default": "test"} {
		create := t.c.Create()
		switch name {
		case "given":
			create = create.WithData([]byte("abc"))
		case "nil":
			create = create.WithData(nil)
		}
		_, err := create.ForPath(t.Context(), t.path+name)
		t.ok(err)
		data, err := t.c.GetData().ForPath(t.Context(), t.path+name)
		if err != nil || data == nil || string(data) != want {
			t.Errorf("%s: %q (nil: %t), %v", name, data, data == nil, err)
		}
	}
}

func testCreateParents(t bench) {
	_, err := t.c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), t.path+"/a/b/c")
	t.ok(err)
	if stat := t.stat(t.path + "/a/b"); stat.DataLength != 0 || stat.NumChildren != 1 {
		t.Fatalf("parent %+v", stat)
	}
	_, err = t.c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), t.path+"/a/b/d")
	t.ok(err)
}

func testCreateContainers(t bench) {
	_, err := t.c.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), t.path+"/a/b/c")
	t.ok(err)
	if stat := t.stat(t.path + "/a"); stat.DataLength != 0 {
		t.Fatalf("parent %+v", stat)
	}
	if n := t.network.Requests(jute.OpCreateContainer); n != 3 {
		t.Errorf("%d containers were created", n)
	}
	_, err = t.c.Create().CreatingParentContainersIfNeeded().CreatingParentsIfNeeded().ForPath(t.Context(), t.path+"/x/y")
	t.want(err, framework.ErrInvalidBuilder)
	plain, network := t.b.Client(t.T, framework.WithoutContainerParents())
	_, err = plain.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), t.path+"/x/y")
	t.ok(err)
	if n := network.Requests(jute.OpCreateContainer); n != 0 {
		t.Errorf("%d containers WithoutContainerParents", n)
	}
}

// protectedName is as Java's ProtectedUtils has it: a random UUID before the name.
var protectedName = regexp.MustCompile(`^_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-n-0\d{9}$`)

func testCreateProtection(t bench) {
	t.create(t.path)
	protected := t.c.Create().WithProtection().WithMode(framework.EphemeralSequential)
	for _, fate := range []suite.Fate{0, suite.CutBefore, suite.CutAfter} {
		if fate != 0 {
			t.network.On(jute.OpCreate2, fate, nil)
		}
		path, err := protected.ForPath(t.Context(), t.path+"/n-")
		t.ok(err)
		names, err := t.c.GetChildren().ForPath(t.Context(), t.path)
		t.ok(err)
		if len(names) != 1 || path != t.path+"/"+names[0] || !protectedName.MatchString(names[0]) {
			t.Fatalf("fate %d: path %q, nodes %q", fate, path, names)
		}
		t.ok(t.c.Delete().ForPath(t.Context(), path))
	}
	// Without it a create whose reply was lost is not repeated: it might have been applied.
	t.network.On(jute.OpCreate2, suite.CutAfter, nil)
	_, err := t.c.Create().ForPath(t.Context(), t.path+"/plain")
	t.want(err, framework.ErrConnectionLoss)
	if !framework.MaybeApplied(err) || !t.exists(t.path+"/plain") {
		t.Fatalf("%v may have been applied", err)
	}
	// One that was not sent is.
	t.network.On(jute.OpSetData, suite.CutAfter, nil)
	_, err = t.c.SetData().ForPath(t.Context(), t.path, nil)
	t.want(err, framework.ErrConnectionLoss)
	_, err = protected.ForPath(t.Context(), t.path+"/")
	t.want(err, framework.ErrInvalidPath)
	// Persistent nodes are found again, whatever the session.
	t.network.On(jute.OpCreate2, suite.CutAfter, func() { t.network.Expire(t.T) })
	path, err := t.c.Create().WithProtection().ForPath(t.Context(), t.path+"/kept")
	t.ok(err)
	if !t.exists(path) {
		t.Fatalf("%q does not exist", path)
	}
}

func testCreateACL(t bench) {
	readOnly := []framework.ACL{{Perms: framework.PermRead | framework.PermAdmin, Scheme: "world", ID: "anyone"}}
	_, err := t.c.Create().WithACL(readOnly...).ForPath(t.Context(), t.path)
	t.ok(err)
	_, err = t.c.SetData().ForPath(t.Context(), t.path, nil)
	t.want(err, framework.ErrNoAuth)
	_, err = t.c.Create().WithACL().ForPath(t.Context(), t.path+"x")
	t.want(err, framework.ErrInvalidBuilder)
	_, err = t.c.Create().WithACL(framework.ACL{Perms: framework.PermAll, Scheme: "nonsense", ID: "x"}).ForPath(t.Context(), t.path+"x")
	t.want(err, framework.ErrInvalidACL)

	// With credentials, sent again after a reconnect ahead of everything else.
	owner, network := t.b.Client(t.T, framework.WithAuthorization("digest", []byte("user:password")))
	_, err = owner.Create().WithACL(framework.CreatorAllACL()...).ForPath(t.Context(), t.path+"own")
	t.ok(err)
	network.Cut()
	if _, err := owner.GetData().ForPath(t.Context(), t.path+"own"); err != nil {
		t.Fatal(err)
	}
	_, err = t.c.GetData().ForPath(t.Context(), t.path+"own")
	t.want(err, framework.ErrNoAuth)
	t.ok(owner.Delete().ForPath(t.Context(), t.path+"own"))
}

func testCreateACLOnParents(t bench) {
	open := framework.OpenACLUnsafe()
	_, err := t.c.Create().WithACLOnParents().WithACL(open...).ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
	_, err = t.c.Create().WithACLOnParents().CreatingParentsIfNeeded().ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
	noWrite := []framework.ACL{{Perms: framework.PermAll &^ framework.PermWrite, Scheme: "world", ID: "anyone"}}
	_, err = t.c.Create().WithACL(noWrite...).WithACLOnParents().CreatingParentsIfNeeded().ForPath(t.Context(), t.path+"/a/b")
	t.ok(err)
	_, err = t.c.SetData().ForPath(t.Context(), t.path+"/a", nil)
	t.want(err, framework.ErrNoAuth)
}

func testDelete(t bench) {
	t.want(t.c.Delete().ForPath(t.Context(), t.path), framework.ErrNoNode)
	t.create(t.path)
	t.create(t.path + "/a")
	t.want(t.c.Delete().ForPath(t.Context(), t.path), framework.ErrNotEmpty)
	t.ok(t.c.Delete().ForPath(t.Context(), t.path+"/a"))
	// A reply that was lost, and the node gone afterwards, is success.
	hit := t.network.On(jute.OpDelete, suite.CutAfter, nil)
	t.ok(t.c.Delete().ForPath(t.Context(), t.path))
	<-hit
	if t.exists(t.path) {
		t.Fatal("it exists")
	}
	for _, path := range badPaths {
		t.want(t.c.Delete().ForPath(t.Context(), path), framework.ErrInvalidPath)
	}
}

func testDeleteWithVersion(t bench) {
	t.create(t.path)
	t.want(t.c.Delete().WithVersion(1).ForPath(t.Context(), t.path), framework.ErrBadVersion)
	t.want(t.c.Delete().WithVersion(-2).ForPath(t.Context(), t.path), framework.ErrInvalidBuilder)
	t.ok(t.c.Delete().WithVersion(0).ForPath(t.Context(), t.path))
}

func testDeleteGuaranteed(t bench) {
	t.create(t.path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var heal func()
	hit := t.network.On(jute.OpDelete, suite.CutBefore, func() {
		heal = t.network.Isolate()
		cancel()
	})
	t.want(t.c.Delete().Guaranteed().ForPath(ctx, t.path), context.Canceled)
	<-hit
	heal()
	suite.Eventually(t.T, "the guaranteed delete", func() bool { return !t.exists(t.path) })
	// A failure that no retry cures is not repeated.
	t.want(t.c.Delete().Guaranteed().ForPath(t.Context(), t.path), framework.ErrNoNode)
}

func testDeleteChildren(t bench) {
	for _, path := range []string{"", "/a", "/a/b", "/a/b/c", "/d"} {
		t.create(t.path + path)
	}
	many := make([]framework.Op, 600) // more than travel in one write
	for i := range many {
		many[i] = t.c.TransactionOp().Create().WithMode(framework.PersistentSequential).ForPath(t.path + "/d/n")
	}
	_, err := t.c.Transaction().ForOperations(t.Context(), many...)
	t.ok(err)
	t.want(t.c.Delete().DeletingChildrenIfNeeded().WithVersion(3).ForPath(t.Context(), t.path+"/a/b/c"), framework.ErrBadVersion)
	t.ok(t.c.Delete().DeletingChildrenIfNeeded().ForPath(t.Context(), t.path))
	if t.exists(t.path) {
		t.Fatal("it exists")
	}
	err = t.c.Delete().DeletingChildrenIfNeeded().ForPath(t.Context(), t.path)
	if t.want(err, framework.ErrNoNode); errors.Is(err, framework.ErrNotEmpty) {
		t.Fatal(err)
	}
	// Somebody else deletes the node, as the server does with an empty container, before and after the
	// connection is lost.
	for _, fate := range []suite.Fate{suite.Late, suite.CutBefore} {
		t.create(t.path)
		t.create(t.path + "/a")
		other, _ := t.b.Client(t.T)
		t.network.On(jute.OpGetChildren2, fate, func() {
			t.ok(other.Delete().DeletingChildrenIfNeeded().ForPath(t.Context(), t.path))
		})
		t.ok(t.c.Delete().DeletingChildrenIfNeeded().ForPath(t.Context(), t.path))
	}
}

// The server removes a container above the node while the others are made: they are made
// again, and an error comes of that only if it goes on.
func TestCreateBelowReapedContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		c := server.Client(t)
		reap := curatortest.Rule{Op: "create", Path: "/a/b", Times: 3, Do: curatortest.Fail(framework.ErrNoNode)}
		reaped := server.Inject(reap)
		if _, err := c.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), "/a/b/c"); err != nil || !reaped() {
			t.Errorf("error %v, reaped: %t", err, reaped())
		}
		// Others make them again as often as they go.
		reap.Path, reap.Times = "/a/b/d", 4
		reaped = server.Inject(reap)
		if _, err := c.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), "/a/b/d"); err != nil || !reaped() {
			t.Errorf("error %v, reaped: %t", err, reaped())
		}
		reap.Path, reap.Times = "/x/y", 1000
		server.Inject(reap)
		if _, err := c.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), "/x/y/z"); !errors.Is(err, framework.ErrNoNode) {
			t.Errorf("error %v", err)
		}
	})
}

// An earlier try may have been applied, though the last was not even sent.
func TestMaybeAppliedByAnEarlierTry(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t, framework.WithConnectionTimeout(20*time.Millisecond))
		path := b.Path("node")
		if _, err := c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		var heal func()
		hit := network.On(jute.OpDelete, suite.CutAfter, func() { heal = network.Isolate() })
		ctx, cancel := context.WithTimeout(t.Context(), suite.SessionTimeout/4)
		defer cancel()
		err := c.Delete().ForPath(ctx, path)
		<-hit
		if !framework.MaybeApplied(err) {
			t.Errorf("%v: it was applied", err)
		}
		heal()
	})
}

// A lost look at the parents is not a lost create.
func TestParentsAreLookedForAgain(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		lookHit := network.On(jute.OpExists, suite.CutAfter, nil)
		if _, err := c.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), b.Path("x/y/z")); err != nil {
			t.Fatal(err)
		}
		makeHit := network.On(jute.OpCreateContainer, suite.CutAfter, nil)
		if _, err := c.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), b.Path("a/b/c")); err != nil {
			t.Fatal(err)
		}
		<-lookHit
		<-makeHit
	})
}
