package nodes_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
)

var readOnly = framework.ACL{Perms: framework.PermRead | framework.PermAdmin, Scheme: "world", ID: "anyone"}

var everything = framework.ACL{
	Perms:  framework.PermRead | framework.PermWrite | framework.PermCreate | framework.PermDelete | framework.PermAdmin,
	Scheme: "world", ID: "anyone",
}

func (e *env) protect(path string, acl framework.ACL) {
	e.t.Helper()
	_, err := e.operator.SetACL().ForPath(e.t.Context(), path, []framework.ACL{acl})
	e.operate(err)
}

// Start returns what will not pass; a Start that has failed can be called again.
func TestStartRefused(t *testing.T) {
	t.Run("create", func(t *testing.T) {
		suite.EachRelease(t, withRealServer, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b)
			e.directory()
			e.protect(e.dir, readOnly)
			e.keep(framework.Ephemeral)
			suite.WantErr(t, e.node.Start(t.Context()), framework.ErrNoAuth)
			if e.node.ActualPath() != "" || e.watches(e.client) != 0 {
				t.Errorf("path %q and %d watches are left", e.node.ActualPath(), e.watches(e.client))
			}
			e.wantNone()
			e.protect(e.dir, everything)
			e.start()
			e.untilOwned(ours)
			e.closed()
		})
	})
	t.Run("data of a node that exists", func(t *testing.T) {
		suite.EachRelease(t, withRealServer, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b)
			e.occupy(e.operator, framework.Persistent)
			e.protect(e.path, readOnly)
			e.keep(framework.Persistent)
			suite.WantErr(t, e.node.Start(t.Context()), framework.ErrNoAuth)
			if data, _, _ := e.read(); data != theirs {
				t.Errorf("the data is %q", data)
			}
		})
	})
	t.Run("node that exists is adopted", func(t *testing.T) {
		suite.EachRelease(t, withRealServer, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b)
			e.occupy(e.operator, framework.Persistent)
			e.protect(e.dir, readOnly)
			e.keep(framework.Persistent)
			e.start()
			e.until(ours)
			e.protect(e.dir, everything)
			e.closed()
		})
	})
}

// A keeper that must not make its node again says so once, and again when it could, which it
// tries after a reconnect, and after long pauses.
func TestRefusedLater(t *testing.T) {
	suite.EachRelease(t, withRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.directory()
		e.keep(framework.Ephemeral)
		e.start()
		e.protect(e.dir, readOnly)
		e.network.Expire(t)
		e.logged("WARN the kept node cannot be kept now")
		if b.Virtual {
			elapse(5 * time.Minute)
		}
		e.protect(e.dir, everything)
		if b.Virtual {
			elapse(2 * time.Minute)
		} else {
			e.network.Cut()
		}
		e.untilOwned(ours)
		e.logged("WARN the kept node cannot be kept now", "INFO the kept node is kept again")
		e.closed()
	})
}

// While the node cannot be made, SetData says why.
func TestSetDataWhileRefused(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.directory()
		e.keep(framework.Ephemeral)
		e.start()
		e.protect(e.dir, readOnly)
		e.network.Expire(t)
		e.logged("WARN the kept node cannot be kept now")
		suite.WantErr(t, e.node.SetData(t.Context(), []byte(changed)), framework.ErrNoAuth)
		e.protect(e.dir, everything)
		e.network.Cut()
		e.untilOwned(ours)
		e.closed()
	})
}

// Without parents: a node that is lost with its parent is made again when the parent is there.
func TestWithoutParents(t *testing.T) {
	suite.EachRelease(t, withRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.directory()
		e.keep(framework.Ephemeral, nodes.WithoutParents())
		e.start()
		e.untilOwned(ours)
		e.deleteAll()
		e.logged("WARN the kept node cannot be kept now")
		there, err := e.operator.CheckExists().ForPath(t.Context(), e.dir)
		e.operate(err)
		if there {
			t.Fatal("the parent was made")
		}
		e.directory()
		e.untilOwned(ours)
		e.closed()
	})
}

// Data that is set while the parent is missing is wanted, and not refused: the node gets it when it is made
// again.
func TestSetDataWithoutParents(t *testing.T) {
	suite.EachRelease(t, withRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.directory()
		e.keep(framework.Ephemeral, nodes.WithoutParents())
		e.start()
		e.untilOwned(ours)
		e.deleteAll()
		e.logged("WARN the kept node cannot be kept now")
		for _, data := range []string{theirs, changed} {
			err := e.node.SetData(t.Context(), []byte(data))
			if !errors.Is(err, nodes.ErrPending) || string(e.node.Data()) != data {
				t.Fatalf("%v, and the wanted data is %q", err, e.node.Data())
			}
		}
		e.directory()
		e.untilOwned(changed)
		e.closed()
	})
}

// The parents are containers; in a namespace the node is where the namespace is; compressed data
// is compared as it is stored.
func TestWhere(t *testing.T) {
	suite.EachRelease(t, withRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, framework.WithNamespace(b.Path("space")[1:]), framework.WithCompression())
		var err error
		e.keep(framework.EphemeralSequential, nodes.WithProtection())
		e.start()
		e.operator = e.client // reads where the client is
		e.untilOwned(ours)
		e.creations(1)
		e.network.Cut()
		e.quiet()
		e.creations(1)
		stat := e.untilOwned(ours)
		if stat.Version != 0 {
			t.Errorf("the data was written %d times more", stat.Version)
		}
		e.operate(e.node.SetData(t.Context(), []byte(changed)))
		e.untilOwned(changed)
		e.delete()
		e.untilOwned(changed)
		names, err := e.client.GetChildren().ForPath(t.Context(), e.dir)
		if err != nil || !slices.Equal(names, e.names()) {
			t.Errorf("%q, %v", names, err)
		}
		e.closed()
	})
}
