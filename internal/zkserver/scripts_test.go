package zkserver_test

import (
	"strings"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

var (
	anyone  = jute.ID{Scheme: "world", ID: "anyone"}
	openACL = []jute.ACL{{Perms: jute.PermAll, ID: anyone}}
)

func acl(perms int32, scheme, id string) jute.ACL {
	return jute.ACL{Perms: perms, ID: jute.ID{Scheme: scheme, ID: id}}
}

func newNode(path, data string, flags int32) *jute.CreateRequest {
	return &jute.CreateRequest{Path: path, Data: []byte(data), ACL: openACL, Flags: flags}
}

func newTTL(path string, flags int32, ttl int64) *jute.CreateTTLRequest {
	return &jute.CreateTTLRequest{Path: path, Data: []byte{}, ACL: openACL, Flags: flags, TTL: ttl}
}

func create(i int, path string) step { return doing(i, jute.OpCreate, newNode(path, "", 0)) }

func createWith(i int, path string, acls ...jute.ACL) step {
	return doing(i, jute.OpCreate, &jute.CreateRequest{Path: path, Data: []byte{}, ACL: acls})
}

func create2(i int, path, data string, flags int32) step {
	return doing(i, jute.OpCreate2, newNode(path, data, flags))
}

func remove(i int, path string, version int32) step {
	return doing(i, jute.OpDelete, &jute.DeleteRequest{Path: path, Version: version})
}

func set(i int, path, data string, version int32) step {
	return doing(i, jute.OpSetData, &jute.SetDataRequest{Path: path, Data: []byte(data), Version: version})
}

func read(i int, op jute.Op, path string, watch bool) step {
	return doing(i, op, &jute.PathWatchRequest{Path: path, Watch: watch})
}

func exists(i int, path string) step   { return read(i, jute.OpExists, path, false) }
func get(i int, path string) step      { return read(i, jute.OpGetData, path, false) }
func children(i int, path string) step { return read(i, jute.OpGetChildren2, path, false) }

func watchExists(i int, path string) step   { return read(i, jute.OpExists, path, true) }
func watchData(i int, path string) step     { return read(i, jute.OpGetData, path, true) }
func watchChildren(i int, path string) step { return read(i, jute.OpGetChildren, path, true) }

func onPath(i int, op jute.Op, path string) step {
	return doing(i, op, &jute.PathRequest{Path: path})
}

func setACL(i int, path string, version int32, acls ...jute.ACL) step {
	return doing(i, jute.OpSetACL, &jute.SetACLRequest{Path: path, ACL: acls, Version: version})
}

func authenticate(i int, scheme, credentials string) step {
	return doing(i, jute.OpAuth, &jute.AuthPacket{Scheme: scheme, Auth: []byte(credentials)})
}

func addWatch(i int, path string, mode int32) step {
	return doing(i, jute.OpAddWatch, &jute.AddWatchRequest{Path: path, Mode: mode})
}

func watches(i int, op jute.Op, path string, kind int32) step {
	return doing(i, op, &jute.WatchesRequest{Path: path, Type: kind})
}

func multi(i int, ops ...multiOp) step { return doing(i, jute.OpMulti, multiBody(ops)) }

func checked(path string, version int32) multiOp {
	return multiOp{jute.OpCheck, &jute.CheckVersionRequest{Path: path, Version: version}}
}

func created(op jute.Op, path string, flags int32) multiOp {
	return multiOp{op, newNode(path, "", flags)}
}

func removed(path string, version int32) multiOp {
	return multiOp{jute.OpDelete, &jute.DeleteRequest{Path: path, Version: version}}
}

func reading(op jute.Op, path string, watch bool) multiOp {
	return multiOp{op, &jute.PathWatchRequest{Path: path, Watch: watch}}
}

func written(path, data string, version int32) multiOp {
	return multiOp{jute.OpSetData, &jute.SetDataRequest{Path: path, Data: []byte(data), Version: version}}
}

// allScripts are played on every server, in order: later ones find what earlier ones left.
func allScripts() []script {
	var all []script
	for _, scripts := range [][]script{
		systemScripts, createScripts, changeScripts, aclScripts, watchScripts, persistentScripts,
		restoreScripts, multiScripts, sessionScripts, oddScripts, quotaScripts,
	} {
		all = append(all, scripts...)
	}
	return all
}

var systemScripts = []script{
	{"system nodes", []step{
		connecting(0),
		get(0, "/"), exists(0, "/"), children(0, "/"), onPath(0, jute.OpGetACL, "/"),
		get(0, ""), children(0, ""),
		get(0, "/zookeeper"), children(0, "/zookeeper"), onPath(0, jute.OpGetACL, "/zookeeper"),
		get(0, "/zookeeper/quota"), children(0, "/zookeeper/quota"), onPath(0, jute.OpGetACL, "/zookeeper/quota"),
		get(0, "/zookeeper/config"), children(0, "/zookeeper/config"), onPath(0, jute.OpGetACL, "/zookeeper/config"),
		remove(0, "/", -1), remove(0, "/zookeeper", -1), remove(0, "/zookeeper/quota", -1), remove(0, "/zookeeper/config", -1),
		set(0, "/zookeeper/config", "x", -1), set(0, "/", "x", 7),
		onPath(0, jute.OpGetAllChildrenNumber, "/"), onPath(0, jute.OpGetAllChildrenNumber, ""), onPath(0, jute.OpGetAllChildrenNumber, "/zookeeper"),
		onPath(0, jute.OpSync, "/"), onPath(0, jute.OpSync, "no path"),
		doing(0, jute.OpWhoAmI, nil),
		onPath(0, jute.OpGetEphemerals, "/"),
	}},
}

var createScripts = []script{
	{"create", []step{
		connecting(0),
		create(0, "/create"), exists(0, "/create"), create(0, "/create"), create(0, "/missing/child"),
		create2(0, "/create/a", "data", 0), children(0, "/create"),
		doing(0, jute.OpCreate2, &jute.CreateRequest{Path: "/create/null", ACL: openACL}), get(0, "/create/null"),
		set(0, "/create/null", "", -1), get(0, "/create/null"),
		doing(0, jute.OpSetData, &jute.SetDataRequest{Path: "/create/null", Version: -1}), get(0, "/create/null"),
		create2(0, "/create/e", "data", jute.FlagEphemeral), create(0, "/create/e/child"), get(0, "/create/e"),
		doing(0, jute.OpCreateContainer, newNode("/create/container", "data", jute.FlagContainer)), get(0, "/create/container"),
		doing(0, jute.OpCreateTTL, newTTL("/create/ttl", jute.FlagTTL, 60000)), get(0, "/create/ttl"),
		create2(0, "/create/ttl/child", "", 0), create2(0, "/create/container/child", "", 0),
		create2(0, "/create/container/e", "", 1), create2(0, "/create/container/s-", "", 3),
		children(0, "/create"), onPath(0, jute.OpGetEphemerals, "/"), onPath(0, jute.OpGetEphemerals, "/create/c"),
		onPath(0, jute.OpGetEphemerals, ""), onPath(0, jute.OpGetAllChildrenNumber, "/create"),
		onPath(0, jute.OpGetAllChildrenNumber, "/create/"), onPath(0, jute.OpGetAllChildrenNumber, "/"),
		onPath(0, jute.OpGetAllChildrenNumber, "/none"),
	}},
	{"flags and operations that do not go together", []step{
		connecting(0),
		create(0, "/flags"),
		create2(0, "/flags/4", "", 4), get(0, "/flags/4"), create2(0, "/flags/5", "", 5), create2(0, "/flags/6", "", 6),
		create2(0, "/flags/7", "", 7), create2(0, "/flags/-1", "", -1), create2(0, "/flags/8", "", 8),
		doing(0, jute.OpCreate, newNode("/flags/c4", "", 4)), exists(0, "/flags/c4"),
		doing(0, jute.OpCreateContainer, newNode("/flags/k0", "", 0)), exists(0, "/flags/k0"),
		doing(0, jute.OpCreateContainer, newNode("/flags/k1", "", 1)), exists(0, "/flags/k1"),
		doing(0, jute.OpCreateContainer, newNode("/flags/k2-", "", 2)),
		doing(0, jute.OpCreateTTL, newTTL("/flags/t5", 5, 0)), doing(0, jute.OpCreateTTL, newTTL("/flags/t5", 5, -1)),
		doing(0, jute.OpCreateTTL, newTTL("/flags/t5", 5, 1<<40-1)), doing(0, jute.OpCreateTTL, newTTL("/flags/t5b", 5, 1<<40)),
		doing(0, jute.OpCreateTTL, newTTL("/flags/t6-", 6, 10)),
		doing(0, jute.OpCreateTTL, newTTL("/flags/t0", 0, 10)), doing(0, jute.OpCreateTTL, newTTL("/flags/t1", 1, 10)),
		children(0, "/flags"),
	}},
	{"sequence numbers", []step{
		connecting(0),
		create(0, "/seq"),
		create2(0, "/seq/a-", "", 2), create2(0, "/seq/b-", "", 3), create2(0, "/seq/", "", 2), create(0, "/seq/plain"),
		create2(0, "/seq/a-", "", 2), remove(0, "/seq/a-0000000000", -1), exists(0, "/seq"), create2(0, "/seq/a-", "", 2),
		create(0, "/seq/c-0000000007"), create2(0, "/seq/c-", "", 2), create2(0, "/seq/c-", "", 2),
		create2(0, "/", "", 3), create2(0, "/seq/.", "", 2), create2(0, "/seq//", "", 2), create2(0, "/missing/", "", 2),
		exists(0, "/seq"),
	}},
	{"paths", pathSteps()},
	{"paths and check", checkSteps()},
}

// strangePaths are paths that nodes can have, and others.
func strangePaths() []string {
	return []string{
		"", "/", "path", "//", "/path/", "/path//a", "/path/.", "/path/..", "/path/./a", "/path/../a", "/path/.a", "/path/..a",
		"/path/...", "/path/a.", "/path/a..", "/path/a/..", "/path/a\x00", "/path/\x01", "/path/\x1f", "/path/ ", "/path/\x7e", "/path/\x7f",
		"/path/\u009f", "/path/\u00a0", "/path/ä", "/path/\ud7ff", "/path/\ue000", "/path/\uf8ff", "/path/\uf900", "/path/\uffef", "/path/\ufff0", "/path/\ufffd",
		"/path/😀", "/path/\xff", "/path/\xc3", "/path/a\tb", "/path/a\\b", "/none/\x01", "/none/a\x00b",
	}
}

// pathSteps creates, and looks for, nodes with strange paths.
func pathSteps() []step {
	steps := []step{connecting(0), create(0, "/path")}
	for _, path := range strangePaths() {
		steps = append(steps,
			create(0, path), exists(0, path), get(0, path), set(0, path, "", 3), setACL(0, path, 3, openACL...),
			remove(0, path, 3), children(0, path), onPath(0, jute.OpGetACL, path))
	}
	return append(steps, children(0, "/path"))
}

// checkSteps checks the nodes that pathSteps has created, and those that it could not create.
func checkSteps() []step {
	steps := []step{connecting(0)}
	for _, path := range strangePaths() {
		steps = append(steps, doing(0, jute.OpCheck, &jute.CheckVersionRequest{Path: path, Version: 3}))
	}
	return steps
}

var changeScripts = []script{
	{"delete", []step{
		connecting(0),
		create(0, "/delete"), create(0, "/delete/a"), create(0, "/delete/a/b"),
		remove(0, "/delete/a", -1), remove(0, "/delete/a", 1), remove(0, "/delete/a/b", 1), remove(0, "/delete/a/b", 0),
		exists(0, "/delete/a"), remove(0, "/delete/a/b", -1), remove(0, "/delete/a", -2), remove(0, "/delete/a", -1),
		remove(0, "/delete/a", -1), remove(0, "/delete/x/y", -1), exists(0, "/delete"), create(0, "/delete/a"), exists(0, "/delete"),
		remove(0, "no path", -1),
	}},
	{"setData", []step{
		connecting(0),
		create(0, "/set"), set(0, "/set", "1", -1), set(0, "/set", "22", 1), set(0, "/set", "3", 1), set(0, "/set", "3", 0),
		set(0, "/set", "", 2), get(0, "/set"), set(0, "/none", "", -1), set(0, "/set", "x", -2), exists(0, "/set"),
		create(0, "/set/a"), create2(0, "/set/b", "", 1), get(0, "/set"), set(0, "/set/b", strings.Repeat("x", 1000), -1),
		set(0, "/", "root", -1), get(0, "/"), set(0, "/", "", -1),
	}},
	{"large data", []step{
		connecting(0),
		create2(0, "/large", strings.Repeat("x", 0xfffff-200), 0), get(0, "/large"), remove(0, "/large", -1),
		ending(0, jute.OpCreate, newNode("/large", strings.Repeat("x", 0xfffff), 0)),
		connecting(1),
		exists(1, "/large"),
		// Just as long as a request can be, which is 53 bytes more than its data.
		create2(1, "/large", strings.Repeat("x", 0xfffff-53), 0),
		remove(1, "/large", -1),
		ending(1, jute.OpCreate2, newNode("/large", strings.Repeat("x", 0xfffff-52), 0)),
	}},
}

var multiScripts = []script{
	{"multi", []step{
		connecting(0), connecting(1),
		multi(0), create(0, "/multi"),
		multi(0, checked("/multi", 0), created(1, "/multi/a", 0), created(15, "/multi/b", 0), written("/multi/a", "x", 0), removed("/multi/b", 0)),
		children(0, "/multi"), get(0, "/multi/a"),
		multi(0, checked("/multi", 0), created(1, "/multi/c", 0), created(1, "/multi/a", 0), removed("/multi/none", 0)), children(0, "/multi"),
		multi(0, checked("/multi", 1)), multi(0, checked("/none", -1)), multi(0, checked("bad", -1)), multi(0, checked("/multi", -1)),
		multi(0, created(1, "/multi/s-", 2), created(1, "/multi/s-", 2), removed("/multi/a", -1), created(15, "/multi/e-", 3)), children(0, "/multi"),
		multi(0, created(1, "/multi/s-", 2), checked("/none", 0)), create2(0, "/multi/s-", "", 2), exists(0, "/multi"),
		multi(0, removed("/multi", -1)), multi(0, removed("/multi/s-0000000004", -1), created(1, "/multi/s-0000000004", 0), checked("/multi/s-0000000004", 0), checked("/multi/s-0000000004", 1)),
		multi(0, written("/multi", "1", -1), written("/multi", "2", 1), written("/multi", "3", 2), checked("/multi", 3)), get(0, "/multi"),
		multi(0, written("/multi", "1", -1), checked("/multi", 3)), get(0, "/multi"),
		multi(0, removed("/multi/none", -1), removed("/multi/none", -1)), multi(0, created(1, "/multi/\x01", 0)), multi(0, created(1, "/multi/x", 9)),
		multi(0, removed("/", -1)), multi(0, multiOp{jute.OpCreate, &jute.CreateRequest{Path: "/multi/x"}}),
		multi(0, created(1, "/multi/deep", 0), created(1, "/multi/deep/deep", 0), created(1, "/multi/deep/deep/e", 1)), children(0, "/multi/deep"),
		multi(0, created(1, "/multi/deep/deep/e/f", 0)), onPath(0, jute.OpGetEphemerals, "/"),
		multi(0, removed("/multi/deep/deep/e", -1), checked("/none", -1)), onPath(0, jute.OpGetEphemerals, "/"),
		multi(0, removed("/multi/deep/deep/e", -1), removed("/multi/deep/deep", -1), removed("/multi/deep", -1)), onPath(0, jute.OpGetEphemerals, "/"),
	}},
	{"multi of containers and TTL nodes", []step{
		connecting(0),
		create(0, "/multi2"),
		multi(0, created(1, "/multi2/1-4", 4), created(15, "/multi2/15-4", 4), created(19, "/multi2/19-4", 4), created(19, "/multi2/19-0", 0), created(19, "/multi2/19-1", 1)),
		multi(0, multiOp{21, newTTL("/multi2/21-5", 5, 1000)}, multiOp{21, newTTL("/multi2/21-6-", 6, 1000)}),
		multi(0, multiOp{21, newTTL("/multi2/21-0", 0, 1000)}), multi(0, multiOp{21, newTTL("/multi2/21-5b", 5, 0)}), multi(0, multiOp{21, newTTL("/multi2/21-4", 4, 1000)}),
		multi(0, multiOp{21, newTTL("/multi2/21-9", 9, 1000)}),
		multi(0, created(1, "/multi2/1-5", 5)), multi(0, created(15, "/multi2/15-5", 5)), multi(0, created(1, "/multi2/ok", 0), created(1, "/multi2/1-6", 6)),
		children(0, "/multi2"), exists(0, "/multi2/19-1"), exists(0, "/multi2/21-4"),
	}},
	{"multi and permissions", []step{
		connecting(0), connecting(1),
		authenticate(0, "digest", "alice:secret"), createWith(0, "/multi3", acl(31, "auth", "")), create(0, "/multi3/a"),
		multi(1, checked("/multi3", 0)), multi(1, written("/multi3", "", 0)), multi(1, removed("/multi3/a", 0)), multi(1, created(1, "/multi3/b", 0)),
		multi(1, checked("/multi3/a", 0)), multi(1, written("/multi3/a", "", 0), checked("/multi3", 0)), multi(0, removed("/multi3/a", 0)),
	}},
	{"multi and watches", []step{
		connecting(0), connecting(1),
		create(0, "/multi4"), watchData(1, "/multi4"), watchChildren(1, "/multi4"), watchExists(1, "/multi4/a"), watchExists(1, "/multi4/b"),
		multi(0, written("/multi4", "", -1), created(1, "/multi4/a", 0), removed("/multi4/a", -1), created(1, "/multi4/b", 0)),
		watchData(1, "/multi4"), watchData(0, "/multi4"), multi(0, written("/multi4", "", -1), checked("/multi4", 0)), set(0, "/multi4", "", -1),
		watchExists(1, "/multi4/m"), multi(0, created(1, "/multi4/m", 0), removed("/multi4/m", 0), removed("/multi4/b", 0)),
		addWatch(1, "/multi4", 1), multi(0, created(1, "/multi4/a", 0), created(1, "/multi4/a/a", 0), written("/multi4/a", "", 0), removed("/multi4/a/a", 0)),
	}},
	{"malformed multis", []step{
		connecting(0),
		create(0, "/multi5"),
		doing(0, jute.OpMulti, rawclient.Raw{}), doing(0, jute.OpMulti, rawclient.Raw("garbage")),
		multi(0, created(1, "/multi5/a", 0), multiOp{99, rawclient.Raw{}}), multi(0, created(1, "/multi5/a", 0), multiOp{8, &jute.PathRequest{Path: "/"}}),
		multi(0, multiOp{4, &jute.PathWatchRequest{Path: "/multi5"}}), multi(0, created(1, "/multi5/a", 0), multiOp{7, &jute.SetACLRequest{Path: "/multi5", ACL: openACL}}),
		exists(0, "/multi5/a"), exists(0, "/multi5"),
		multi(0, multiOp{jute.OpGetData, &jute.PathWatchRequest{Path: "/multi5"}}, multiOp{jute.OpCreate, &jute.CreateRequest{Path: "/multi5/x"}}),
		multi(0, multiOp{jute.OpGetData, &jute.PathWatchRequest{Path: "/multi5"}}, created(1, "/multi5/x", 0), multiOp{jute.OpCreate, &jute.CreateRequest{Path: "/multi5/x"}}),
		exists(0, "/multi5"),
	}},
	{"multiRead", []step{
		connecting(0), connecting(1),
		authenticate(0, "digest", "alice:secret"), create2(0, "/read", "data", 0), create(0, "/read/a"), createWith(0, "/read/b", acl(31, "auth", "")),
		doing(1, jute.OpMultiRead, multiBody{}),
		doing(1, jute.OpMultiRead, multiBody{
			{jute.OpGetData, &jute.PathWatchRequest{Path: "/read", Watch: true}}, {jute.OpGetChildren, &jute.PathWatchRequest{Path: "/read", Watch: true}},
			{jute.OpGetData, &jute.PathWatchRequest{Path: "/none"}}, {jute.OpGetChildren, &jute.PathWatchRequest{Path: "/none"}},
			{jute.OpGetData, &jute.PathWatchRequest{Path: "/read/b"}}, {jute.OpGetData, &jute.PathWatchRequest{Path: "/read/a"}},
		}),
		set(0, "/read", "", -1),
		doing(1, jute.OpMultiRead, multiBody{{jute.OpExists, &jute.PathWatchRequest{Path: "/read"}}}),
		doing(1, jute.OpMultiRead, multiBody{{jute.OpGetChildren2, &jute.PathWatchRequest{Path: "/read"}}}),
		doing(1, jute.OpMultiRead, multiBody{checked("/read", 0)}),
	}},
}
