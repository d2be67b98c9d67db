package zkserver_test

import (
	"fmt"
	"math"
	"strings"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// chooser chooses requests. What it names first is what a failing script shrinks to.
type chooser struct {
	t       *rapid.T
	root    string
	release tree.Release
}

func pick[T any](c *chooser, from ...T) T { return rapid.SampledFrom(from).Draw(c.t, "choice") }

// chance is true once in n times.
func (c *chooser) chance(n int) bool { return rapid.IntRange(1, n).Draw(c.t, "chance") == n }

// path returns a path that is mostly one of few, so that requests meet.
func (c *chooser) path() string {
	if c.chance(24) {
		return c.oddPath()
	}
	return c.root + pick(c, "", "/a", "/a", "/b", "/a/x", "/a/x", "/a/y", "/b/x", "/a/x/1", "/container", "/container/x", "/ttl", "/ephemeral", "/ephemeral/x", "/a/x/1/2/3", "/s-0000000000",
		"/s-0000000001", "/a/0000000001", "/0000000002", "/a/s-0000000000")
}

// newPath returns a path for a node to be created; a sequential one ends up elsewhere.
func (c *chooser) newPath(flags int32) string {
	if flags == 2 || flags == 3 || flags == 6 {
		// A path that ends in a slash gets a name that is a number alone.
		return pick(c, c.root+"/s-", c.root+"/s-", c.root+"/a/s-", c.root+"/", c.root+"/a/", c.root+"/container/s-", c.path())
	}
	return c.path()
}

// oddPath returns a path that no node has, or that of a system node. None has what ZooKeeper
// does not repeat as it was sent: bytes that are no UTF-8, and characters beyond U+FFFF.
func (c *chooser) oddPath() string {
	switch path := pick(c, "", "a", "//", "/zookeeper", "/zookeeper/config", "/zookeeper/quota", "/zookeeper/none", " "); path {
	case " ":
		return c.root + pick(c, "/a/", "//a", "/.", "/..", "/a/../b", "/a/.", "/./a", "/a\x00", "/a\x00b/c", "/a/\x01", "/ü",
			"/\ue000", "/...", "/a ", "/none/none", "//", strings.Repeat("/deep", 60), "/a/.../b")
	default:
		return path
	}
}

func (c *chooser) version() int32 {
	return pick[int32](c, -1, -1, -1, -1, 0, 0, 1, 1, 2, 3, -2, math.MaxInt32, math.MinInt32)
}

func (c *chooser) data() []byte {
	return pick(c, nil, []byte{}, []byte("x"), []byte("yy"), []byte("zzz"))
}

// Two identities. Every ACL of a random script lets one of them, at least, do everything:
// else nobody could remove the nodes.
const (
	digestOfAlice = "alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="
	digestOfBob   = "bob:ttt4KD2l/LR0Mpj5c6jU0hrwVdE="
)

func (c *chooser) acl() []jute.ACL {
	if !c.chance(3) {
		return openACL
	}
	alice := acl(31, "digest", digestOfAlice)
	return pick(c,
		[]jute.ACL{acl(31, "auth", "")},
		[]jute.ACL{alice},
		[]jute.ACL{acl(jute.PermRead|jute.PermCreate, "world", "anyone"), alice},
		[]jute.ACL{acl(jute.PermAll&^jute.PermDelete, "world", "anyone"), alice},
		[]jute.ACL{acl(jute.PermAll&^jute.PermRead, "world", "anyone"), alice, alice},
		[]jute.ACL{acl(jute.PermWrite, "digest", digestOfBob), alice, acl(jute.PermAdmin, "world", "anyone")},
		[]jute.ACL{acl(31, "ip", "127.0.0.1")},
		[]jute.ACL{acl(31, "ip", "10.0.0.0/8"), alice},
		[]jute.ACL{acl(jute.PermRead, "ip", "127.0.0.0/8"), alice, acl(jute.PermRead, "auth", "x")},
		[]jute.ACL{acl(0, "world", "anyone"), acl(-1, "digest", digestOfAlice), acl(64, "world", "anyone")},
		[]jute.ACL{alice, acl(31, "world", "x")},
		[]jute.ACL{alice, acl(31, "nobody", "x")},
		[]jute.ACL{alice, acl(31, "digest", "no colon")},
		[]jute.ACL{alice, acl(31, "ip", "127.0.0.1/33")},
		[]jute.ACL{alice, acl(31, "", "")},
		[]jute.ACL{},
		nil,
	)
}

func (c *chooser) create() multiOp {
	flags := pick[int32](c, 0, 0, 0, 1, 1, 2, 2, 3)
	op := pick(c, jute.OpCreate, jute.OpCreate2)
	if c.chance(12) {
		flags = pick[int32](c, 0, 1, 2, 3, 4, 5, 6, 7, -1)
		op = pick(c, jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer)
	}
	if c.chance(10) {
		op, flags = jute.OpCreateContainer, jute.FlagContainer
	}
	return multiOp{op, &jute.CreateRequest{Path: c.newPath(flags), Data: c.data(), ACL: c.acl(), Flags: flags}}
}

func (c *chooser) createTTL() multiOp {
	flags := pick[int32](c, 5, 5, 6, 6, 0, 1, 3, 4, 7)
	ttl := pick[int64](c, 60_000, 60_000, 60_000, 1, 1<<40-1, 1<<40, 0, -1, math.MaxInt64)
	if flags != 5 && flags != 6 {
		ttl = max(ttl, 0) // a time of -1 where the flags want none ends the process of a ZooKeeper 3.8.0
	}
	return multiOp{jute.OpCreateTTL, &jute.CreateTTLRequest{Path: c.newPath(flags), Data: c.data(), ACL: c.acl(), Flags: flags, TTL: ttl}}
}

func (c *chooser) remove() multiOp {
	path := c.path()
	if path == c.root && !c.chance(10) {
		path += "/a" // without the root little else happens
	}
	return multiOp{jute.OpDelete, &jute.DeleteRequest{Path: path, Version: c.version()}}
}

func (c *chooser) set() multiOp {
	return multiOp{jute.OpSetData, &jute.SetDataRequest{Path: c.path(), Data: c.data(), Version: c.version()}}
}

func (c *chooser) check() multiOp {
	return multiOp{jute.OpCheck, &jute.CheckVersionRequest{Path: c.path(), Version: c.version()}}
}

// change returns a request that a multi can have.
func (c *chooser) change() multiOp {
	return pick(c, c.create, c.create, c.create, c.create, c.createTTL, c.set, c.set, c.check, c.remove, c.remove, c.remove)()
}

func (c *chooser) multi() multiOp {
	var ops multiBody
	for range pick(c, 1, 2, 3, 4, 5, 0) {
		if c.chance(60) {
			ops = append(ops, c.strangeInMulti())
		}
		ops = append(ops, c.change())
	}
	return multiOp{jute.OpMulti, ops}
}

// strangeInMulti returns what does not belong into a multi.
func (c *chooser) strangeInMulti() multiOp {
	return pick(c,
		multiOp{99, rawclient.Raw{}}, multiOp{jute.OpMulti, multiBody{}},
		multiOp{jute.OpExists, &jute.PathWatchRequest{Path: c.root}}, multiOp{jute.OpGetData, &jute.PathWatchRequest{Path: c.root}},
		multiOp{jute.OpSetACL, &jute.SetACLRequest{Path: c.root, ACL: openACL, Version: -1}},
		multiOp{jute.OpError, &jute.ErrorResponse{Err: -101}}, multiOp{jute.OpDeleteContainer, &jute.PathRequest{Path: c.root}},
		multiOp{jute.OpCreate, rawclient.Raw("garbage")}, multiOp{jute.OpSync, &jute.PathRequest{Path: c.root}})
}

func (c *chooser) multiRead() multiOp {
	var ops multiBody
	for range pick(c, 1, 2, 3, 0) {
		op := pick(c, jute.OpGetData, jute.OpGetChildren)
		if c.chance(40) {
			op = pick(c, jute.OpExists, jute.OpGetChildren2, jute.OpCheck)
		}
		ops = append(ops, multiOp{op, &jute.PathWatchRequest{Path: c.path(), Watch: c.chance(4)}})
	}
	return multiOp{jute.OpMultiRead, ops}
}

func (c *chooser) read() multiOp {
	op := pick(c, jute.OpExists, jute.OpExists, jute.OpGetData, jute.OpGetChildren, jute.OpGetChildren2)
	return multiOp{op, &jute.PathWatchRequest{Path: c.path(), Watch: pick(c, false, true, true)}}
}

// look returns a request that has a path and no watch.
func (c *chooser) look() multiOp {
	op := pick(c, jute.OpGetACL, jute.OpGetACL, jute.OpSync, jute.OpGetEphemerals, jute.OpGetEphemerals, jute.OpGetAllChildrenNumber)
	path := c.path()
	if op == jute.OpGetEphemerals || op == jute.OpGetAllChildrenNumber {
		path = pick(c, path, "/", c.root, c.root+"/", c.root+"/a", path+"/", " ")
	}
	return multiOp{op, &jute.PathRequest{Path: path}}
}

func (c *chooser) setACL() multiOp {
	return multiOp{jute.OpSetACL, &jute.SetACLRequest{Path: c.path(), ACL: c.acl(), Version: c.version()}}
}

func (c *chooser) addWatch() multiOp {
	path := c.path()
	return multiOp{jute.OpAddWatch, &jute.AddWatchRequest{Path: pick(c, path, path, path, "/"), Mode: pick[int32](c, 0, 0, 0, 1, 1, 1, 2, -1)}}
}

func (c *chooser) watches() multiOp {
	op := pick(c, jute.OpRemoveWatches, jute.OpCheckWatches)
	path := c.path()
	return multiOp{op, &jute.WatchesRequest{Path: pick(c, path, path, path, "/"), Type: pick[int32](c, 1, 1, 2, 2, 3, 3, 0, 4, 5, -1)}}
}

// paths returns a list of paths, which may be null.
func (c *chooser) paths() []string {
	if c.chance(30) {
		return nil
	}
	paths := []string{}
	for range pick(c, 0, 0, 1, 1, 2, 3) {
		paths = append(paths, c.path())
	}
	return paths
}

// setWatches returns a setWatches or setWatches2 relative to a zxid near those of the script.
func (c *chooser) setWatches() multiOp {
	at := pick[int64](c, 0, 0, -1000, 1000, 1, 1)
	if at == 1 {
		at = rapid.Int64Range(0, 2*stepsPerScript).Draw(c.t, "zxid")
	}
	if pick(c, jute.OpSetWatches, jute.OpSetWatches2) == jute.OpSetWatches {
		return multiOp{jute.OpSetWatches, relative{&jute.SetWatches{
			RelativeZxid: at, DataWatches: c.paths(), ExistWatches: c.paths(), ChildWatches: c.paths(),
		}}}
	}
	return multiOp{jute.OpSetWatches2, relative{&jute.SetWatches2{
		RelativeZxid: at, DataWatches: c.paths(), ExistWatches: c.paths(), ChildWatches: c.paths(),
		PersistentWatches: c.paths(), PersistentRecursiveWatches: c.paths(),
	}}}
}

// odd returns what no client sends.
func (c *chooser) odd() multiOp {
	return pick(c,
		multiOp{jute.OpDeleteContainer, &jute.PathRequest{Path: c.path()}}, multiOp{jute.OpReconfig, rawclient.Raw{}},
		multiOp{jute.OpMulti, rawclient.Raw("garbage")}, multiOp{jute.OpCreate, rawclient.Raw("garbage")},
		multiOp{jute.OpSetACL, &jute.PathRequest{Path: c.path()}}, multiOp{jute.OpGetData, rawclient.Raw{}},
		multiOp{jute.OpMultiRead, c.multi().body}, multiOp{jute.OpMulti, c.multiRead().body})
}

// request returns a request. It ends neither the session nor, if it is usual, the connection.
func (c *chooser) request() multiOp {
	if c.chance(50) {
		return c.odd()
	}
	return pick(c,
		c.change, c.change, c.change, c.change, c.change, c.change, c.multi, c.multi, c.read, c.read, c.read, c.read, c.look, c.look,
		c.addWatch, c.addWatch, c.watches, c.setACL, c.setACL, c.setWatches, c.multiRead,
		func() multiOp { return multiOp{jute.OpWhoAmI, rawclient.Raw{}} })()
}

// relative is a setWatches whose zxid counts from the script's start.
type relative struct{ rawclient.Body }

func (r relative) from(base int64) rawclient.Body {
	switch b := r.Body.(type) {
	case *jute.SetWatches:
		moved := *b
		moved.RelativeZxid += base
		return &moved
	case *jute.SetWatches2:
		moved := *b
		moved.RelativeZxid += base
		return &moved
	}
	panic(fmt.Sprintf("%T is no setWatches", r.Body))
}

// String returns what a log shows.
func (r relative) String() string { return fmt.Sprintf("%+v", r.Body) }
