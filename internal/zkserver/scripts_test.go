package zkserver_test

import (
	"fmt"
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
		restoreScripts, multiScripts, sessionScripts, oddScripts,
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
		onPath(0, jute.OpGetAllChildrenNumber, "/"), onPath(0, jute.OpGetAllChildrenNumber, "/zookeeper"),
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
}

// pathSteps creates, and looks for, nodes with strange paths.
func pathSteps() []step {
	steps := []step{connecting(0), create(0, "/path")}
	for _, path := range []string{
		"", "/", "path", "//", "/path/", "/path//a", "/path/.", "/path/..", "/path/./a", "/path/../a", "/path/.a", "/path/..a",
		"/path/...", "/path/a.", "/path/a..", "/path/a/..", "/path/a\x00", "/path/\x01", "/path/\x1f", "/path/ ", "/path/\x7e", "/path/\x7f",
		"/path/\u009f", "/path/\u00a0", "/path/ä", "/path/\ud7ff", "/path/\ue000", "/path/\uf8ff", "/path/\uf900", "/path/\uffef", "/path/\ufff0", "/path/\ufffd",
		"/path/😀", "/path/\xff", "/path/\xc3", "/path/a\tb", "/path/a\\b", "/none/\x01", "/none/a\x00b",
	} {
		steps = append(steps,
			create(0, path), exists(0, path), get(0, path), set(0, path, "", 3), setACL(0, path, 3, openACL...),
			doing(0, jute.OpCheck, &jute.CheckVersionRequest{Path: path, Version: 3}),
			remove(0, path, 3), children(0, path), onPath(0, jute.OpGetACL, path))
	}
	return append(steps, children(0, "/path"))
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

var aclScripts = []script{
	{"ACL", []step{
		connecting(0), connecting(1), connecting(2),
		authenticate(0, "digest", "alice:secret"), authenticate(0, "digest", "alice:secret"), authenticate(1, "digest", "bob:x"),
		doing(0, jute.OpWhoAmI, nil), doing(2, jute.OpWhoAmI, nil),
		createWith(0, "/acl"), createWith(0, "/acl", acl(31, "nobody", "x")), createWith(0, "/acl", acl(31, "world", "x")),
		createWith(2, "/acl", acl(31, "auth", "")), createWith(0, "/acl", acl(31, "digest", "no colon")),
		createWith(0, "/acl", acl(31, "digest", "a:b:c")), createWith(0, "/acl", acl(31, "digest", "a:")),
		createWith(0, "/acl", acl(31, "digest", ":a")), createWith(0, "/acl", acl(31, "ip", "127.0.0.1/33")), createWith(0, "/acl", acl(31, "ip", "x")),
		createWith(0, "/acl/none", acl(31, "ip", "x")),
		createWith(0, "/acl", acl(31, "auth", ""), acl(1, "auth", "")), onPath(0, jute.OpGetACL, "/acl"), onPath(1, jute.OpGetACL, "/acl"),
		exists(2, "/acl"), get(2, "/acl"), children(2, "/acl"), read(2, jute.OpGetChildren, "/acl", true), set(2, "/acl", "", -1), create(2, "/acl/a"),
		onPath(2, jute.OpGetAllChildrenNumber, "/acl"),
		setACL(2, "/acl", -1, openACL...), setACL(2, "/acl", -1), remove(2, "/acl", -1), create(0, "/acl/a"), remove(2, "/acl/a", -1),
		remove(2, "/acl/none", -1), create(2, "/acl/\x01"), create(2, "/acl/none/none"), set(2, "/acl", "", 7),
		doing(2, jute.OpCheck, &jute.CheckVersionRequest{Path: "/acl", Version: 7}),
		setACL(0, "/acl", 7, openACL...), setACL(0, "/acl", 0, acl(31, "auth", "x"), acl(1, "world", "anyone"), acl(1, "world", "anyone")),
		onPath(2, jute.OpGetACL, "/acl"), onPath(0, jute.OpGetACL, "/acl"), get(2, "/acl"), set(2, "/acl", "", -1), exists(0, "/acl"),
		authenticate(2, "digest", "alice:secret"), set(2, "/acl", "x", -1), remove(2, "/acl/a", -1),
		setACL(0, "/none", -1, openACL...), setACL(0, "/acl", 3, openACL...), setACL(0, "/acl", 1, openACL...), exists(1, "/acl"),
		setACL(0, "/acl", -1, acl(jute.PermRead, "world", "anyone"), acl(jute.PermAdmin, "digest", "bob:zzz")),
		onPath(1, jute.OpGetACL, "/acl"), setACL(0, "/acl", -1, openACL...),
	}},
	{"ACL of addresses", []step{
		connecting(0),
		authenticate(0, "ip", ""), doing(0, jute.OpWhoAmI, nil),
		createWith(0, "/ip", acl(31, "ip", "127.0.0.1")), set(0, "/ip", "x", -1),
		createWith(0, "/ip/a", acl(31, "ip", "127.0.0.0/8")), set(0, "/ip/a", "x", -1),
		createWith(0, "/ip/b", acl(31, "ip", "10.0.0.0/8")), set(0, "/ip/b", "x", -1), get(0, "/ip/b"),
		createWith(0, "/ip/c", acl(31, "ip", "0.0.0.0/0")), set(0, "/ip/c", "x", -1),
		createWith(0, "/ip/d", acl(31, "ip", "127.0.0.2/31")), set(0, "/ip/d", "x", -1),
		createWith(0, "/ip/e", acl(31, "ip", "127.0.0")), createWith(0, "/ip/e", acl(31, "ip", "127.0.0.256")), createWith(0, "/ip/e", acl(31, "ip", "127.0.0.1/-1")),
		createWith(0, "/ip/e", acl(31, "ip", "127.0.0.1/x")), createWith(0, "/ip/e", acl(31, "ip", "")), createWith(0, "/ip/e", acl(31, "ip", "::1")),
	}},
	{"authentication that fails", []step{
		connecting(0), connecting(1), connecting(2), connecting(3),
		authenticate(0, "digest", "no colon"), doing(0, jute.OpWhoAmI, nil), authenticate(0, "digest", ""), doing(0, jute.OpWhoAmI, nil),
		authenticate(0, "digest", "a:b:c"), doing(0, jute.OpWhoAmI, nil), createWith(0, "/failing", acl(31, "auth", "")), onPath(0, jute.OpGetACL, "/failing"),
		ending(1, jute.OpAuth, &jute.AuthPacket{Scheme: "nobody", Auth: []byte("x")}),
		ending(2, jute.OpAuth, &jute.AuthPacket{Scheme: "world", Auth: []byte("anyone")}),
		ending(3, jute.OpAuth, &jute.AuthPacket{Scheme: "digest"}),
	}},
	{"watches without permission", []step{
		connecting(0), connecting(1),
		authenticate(0, "digest", "alice:secret"),
		createWith(0, "/hidden", acl(31, "auth", "")), watchExists(1, "/hidden"), addWatch(1, "/", 1), addWatch(1, "/hidden", 0),
		set(0, "/hidden", "x", -1), create(0, "/hidden/open"), set(0, "/hidden/open", "x", -1), remove(0, "/hidden/open", -1),
		watchExists(1, "/hidden"), remove(0, "/hidden", -1), createWith(0, "/hidden", acl(31, "auth", "")),
		watchExists(1, "/hidden"), setACL(0, "/hidden", -1, openACL...), set(0, "/hidden", "x", -1),
	}},
}

var watchScripts = []script{
	{"one-shot watches", []step{
		connecting(0), connecting(1),
		watchExists(1, "/watch"), watchData(1, "/watch"), watchChildren(1, "/watch"), watchChildren(1, "/"),
		create(0, "/watch"), create(0, "/watch/x"),
		watchExists(1, "/watch"), set(0, "/watch", "1", -1), set(0, "/watch", "2", -1),
		watchData(1, "/watch"), watchData(0, "/watch"), set(0, "/watch", "1", -1),
		watchChildren(1, "/watch"), create(0, "/watch/y"), create(0, "/watch/z"),
		watchChildren(1, "/watch"), read(1, jute.OpGetChildren2, "/watch", true), remove(0, "/watch/z", -1),
		watchChildren(1, "/watch"), set(0, "/watch/y", "", -1), set(0, "/watch", "", -1), remove(0, "/watch/y", -1),
		watchExists(1, "/watch"), watchData(1, "/watch"), watchChildren(1, "/watch"), watchChildren(1, "/"), remove(0, "/watch/x", -1),
		remove(0, "/watch", -1),
		watchExists(1, "/watch"), watchExists(0, "/watch"), create(0, "/watch"), setACL(0, "/watch", -1, openACL...),
		watchData(0, "/watch"), setACL(0, "/watch", -1, openACL...), set(0, "/watch", "", 9), set(0, "/watch", "", -1),
		watchChildren(0, "/watch"), watchExists(0, "/watch"), remove(0, "/watch", -1),
	}},
	{"watches of a session that ends", []step{
		connecting(0), connecting(1), connecting(2),
		create(0, "/ending"), create2(0, "/ending/e", "", 1), create2(0, "/ending/f", "", 1),
		watchExists(1, "/ending/e"), watchChildren(1, "/ending"), watchExists(0, "/ending/e"), watchData(0, "/ending/e"), watchChildren(0, "/ending"),
		remove(0, "/ending/f", -1), watchChildren(1, "/ending"),
		dropping(2),
		ending(0, jute.OpClose, nil),
		children(1, "/ending"), exists(1, "/ending/e"),
	}},
	{"checkWatches and removeWatches", []step{
		connecting(0), connecting(1),
		create(0, "/unwatch"), watchData(0, "/unwatch"), watchChildren(0, "/unwatch"), watchData(1, "/unwatch"),
		watches(0, jute.OpCheckWatches, "/unwatch", 1), watches(0, jute.OpCheckWatches, "/unwatch", 2), watches(0, jute.OpCheckWatches, "/unwatch", 3),
		watches(1, jute.OpCheckWatches, "/unwatch", 1), watches(1, jute.OpCheckWatches, "/unwatch", 2),
		watches(0, jute.OpCheckWatches, "/none", 3), watches(0, jute.OpCheckWatches, "/unwatch", 4), watches(0, jute.OpCheckWatches, "/unwatch", 0),
		watches(0, jute.OpCheckWatches, "/unwatch", 9), watches(0, jute.OpRemoveWatches, "/unwatch", 9),
		watches(0, jute.OpRemoveWatches, "/none", 3), watches(1, jute.OpRemoveWatches, "/unwatch", 1),
		watches(0, jute.OpRemoveWatches, "/unwatch", 2), watches(0, jute.OpRemoveWatches, "/unwatch", 2), set(0, "/unwatch", "", -1),
		create(0, "/unwatch/a"), watchChildren(0, "/unwatch"), watchExists(0, "/unwatch"), watches(0, jute.OpRemoveWatches, "/unwatch", 3),
		watches(0, jute.OpRemoveWatches, "/unwatch", 3), create(0, "/unwatch/b"),
		addWatch(0, "/unwatch", 0), watches(0, jute.OpRemoveWatches, "/unwatch", 1), set(0, "/unwatch", "", -1), create(0, "/unwatch/c"),
		watches(0, jute.OpRemoveWatches, "/unwatch", 2), set(0, "/unwatch", "", -1),
		addWatch(0, "/unwatch", 1), watches(0, jute.OpCheckWatches, "/unwatch/below", 3), watches(0, jute.OpCheckWatches, "/unwatch", 1),
		watches(0, jute.OpRemoveWatches, "/unwatch", 1), set(0, "/unwatch/a", "", -1), watches(0, jute.OpRemoveWatches, "/unwatch", 3), set(0, "/unwatch/a", "", -1),
		watches(0, jute.OpRemoveWatches, "/unwatch", 3),
	}},
}

var persistentScripts = []script{
	{"persistent watches", []step{
		connecting(0), connecting(1),
		addWatch(1, "/persistent", 0), addWatch(1, "/persistent", 2), addWatch(1, "/persistent", -1),
		create(0, "/persistent"), set(0, "/persistent", "", -1), set(0, "/persistent", "", -1), create(0, "/persistent/a"), create(0, "/persistent/a/b"),
		set(0, "/persistent/a", "", -1), remove(0, "/persistent/a/b", -1), remove(0, "/persistent/a", -1), remove(0, "/persistent", -1),
		create(0, "/persistent"), multi(0, written("/persistent", "1", -1), written("/persistent", "2", -1), created(1, "/persistent/x", 0), removed("/persistent/x", -1)),
	}},
	{"recursive watches", []step{
		connecting(0), connecting(1),
		addWatch(1, "/recursive", 1), create(0, "/recursive"), create(0, "/recursive/a"), create(0, "/recursive/a/b"),
		set(0, "/recursive/a/b", "", -1), set(0, "/recursive", "", -1), remove(0, "/recursive/a/b", -1), remove(0, "/recursive/a", -1),
		create(0, "/recursively"), watchData(1, "/recursive"), set(0, "/recursive", "", -1), set(0, "/recursive", "", -1),
		addWatch(1, "/", 1), create(0, "/recursive/b"), set(0, "/", "", -1),
		create2(1, "/recursive/c", "", 1), ending(1, jute.OpClose, nil), connecting(2), exists(2, "/recursive"),
	}},
	{"a watch replaces one of another kind", []step{
		connecting(0),
		create(0, "/replace"), addWatch(0, "/replace", 0), watchData(0, "/replace"), set(0, "/replace", "", -1), set(0, "/replace", "", -1),
		create(0, "/replace/a"), create(0, "/replace/b"), watchChildren(0, "/replace"), create(0, "/replace/c"), create(0, "/replace/d"),
		addWatch(0, "/replace", 1), watchChildren(0, "/replace"), create(0, "/replace/e"), set(0, "/replace/e", "", -1),
		watchExists(0, "/replace"), set(0, "/replace/e", "", -1), set(0, "/replace", "", -1), set(0, "/replace/e", "", -1),
		addWatch(0, "/replace", 0), addWatch(0, "/replace", 1), set(0, "/replace", "", -1), create(0, "/replace/f"),
		addWatch(0, "/replace", 0), set(0, "/replace", "", -1), create(0, "/replace/g"), set(0, "/replace/g", "", -1),
		watchData(0, "/replace"), addWatch(0, "/replace", 0), set(0, "/replace", "", -1), set(0, "/replace", "", -1),
	}},
}

// restoring puts watches back with setWatches, relative to the script's start.
func restoring(i int, zxid int64, data, exist, child []string) step {
	return func(p *player) {
		watches := jute.SetWatches{RelativeZxid: p.base + zxid, DataWatches: data, ExistWatches: exist, ChildWatches: child}
		shown := fmt.Sprintf("%+d, data %q, exist %q, child %q", zxid, data, exist, child)
		doing(i, jute.OpSetWatches, shownAs{&watches, shown})(p)
	}
}

// restoring2 puts watches back with setWatches2.
func restoring2(i int, zxid int64, watches jute.SetWatches2) step {
	return func(p *player) {
		shown := fmt.Sprintf("%+d, %+v", zxid, watches)
		watches := watches
		watches.RelativeZxid = p.base + zxid
		doing(i, jute.OpSetWatches2, shownAs{&watches, shown})(p)
	}
}

// shownAs is a body that a transcript shows in another way.
type shownAs struct {
	rawclient.Body
	text string
}

// String returns the text.
func (s shownAs) String() string { return s.text }

var restoreScripts = []script{
	{"setWatches", []step{
		connecting(0), connecting(1),
		create(0, "/restore"), create(0, "/restore/a"), set(0, "/restore", "", -1), // +3 to +5
		restoring(1, 5, []string{"/restore", "/none"}, []string{"/restore/a", "/restore/none"}, []string{"/restore", "/none"}),
		set(0, "/restore", "", -1), create(0, "/restore/none"),
		restoring(1, 5, []string{"/restore", "/restore/a"}, nil, []string{"/restore", "/restore/a"}),
		set(0, "/restore/a", "", -1), create(0, "/restore/a/b"),
		restoring(1, 1000, []string{"/restore"}, []string{"bad path"}, []string{"/restore"}), set(0, "/restore", "", -1), set(0, "/restore", "", -1),
		restoring(1, -1000, []string{"/restore"}, nil, []string{"/restore"}), set(0, "/restore", "", -1),
	}},
	{"setWatches2", []step{
		connecting(0), connecting(1),
		create(0, "/restore2"), create(0, "/restore2/a"),
		restoring2(1, 4, jute.SetWatches2{
			DataWatches: []string{"/restore2"}, ExistWatches: []string{"/restore2/none"}, ChildWatches: []string{"/restore2/a"},
			PersistentWatches: []string{"/restore2", "/restore2/p"}, PersistentRecursiveWatches: []string{"/restore2/r"},
		}),
		set(0, "/restore2", "", -1), set(0, "/restore2", "", -1), create(0, "/restore2/none"), create(0, "/restore2/p"), create(0, "/restore2/p/a"),
		create(0, "/restore2/r"), create(0, "/restore2/r/a"), create(0, "/restore2/r/a/b"), create(0, "/restore2/a/b"),
	}},
	{"watches end with the connection", []step{
		connecting(0), connecting(1),
		create(0, "/lost"), watchData(1, "/lost"), addWatch(1, "/lost", 0), addWatch(1, "/", 1),
		connectingWith(1, "its session", resuming(1)),
		set(0, "/lost", "", -1), create(0, "/lost/a"),
		watchData(1, "/lost"), set(0, "/lost", "", -1),
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

// resuming returns a handshake with the session of client i.
func resuming(i int) func(p *player) jute.ConnectRequest {
	var session jute.ConnectResponse
	return func(p *player) jute.ConnectRequest {
		if c := p.clients[i]; c != nil {
			session = c.Session
		}
		return jute.ConnectRequest{TimeOut: 10000, SessionID: session.SessionID, Passwd: session.Passwd}
	}
}

// asking returns a handshake for a new session with a timeout in milliseconds.
func asking(timeout int32) func(p *player) jute.ConnectRequest {
	return func(*player) jute.ConnectRequest { return jute.ConnectRequest{TimeOut: timeout} }
}

var sessionScripts = []script{
	{"timeouts", []step{
		connectingWith(0, "timeout 0", asking(0)), connectingWith(1, "timeout -5", asking(-5)), connectingWith(2, "timeout 999", asking(999)),
		connectingWith(3, "timeout 1001", asking(1001)), connectingWith(4, "timeout 10000", asking(10000)), connectingWith(5, "timeout 10001", asking(10001)),
		connectingWith(6, "timeout 2147483647", asking(1<<31-1)),
	}},
	{"a session moves", []step{
		connecting(0), connecting(1),
		create2(0, "/move", "", 1),
		connectingWith(2, "the session of c0", resuming(0)), closed(0),
		get(2, "/move"), doing(2, jute.OpWhoAmI, nil),
		connectingWith(3, "the session of c2 and a wrong password", func(p *player) jute.ConnectRequest {
			return jute.ConnectRequest{TimeOut: 10000, SessionID: p.clients[2].Session.SessionID, Passwd: make([]byte, 16)}
		}),
		closed(2),
		exists(1, "/move"),
		connectingWith(4, "an unknown session", func(p *player) jute.ConnectRequest {
			return jute.ConnectRequest{TimeOut: 10000, SessionID: 12345, Passwd: make([]byte, 16)}
		}),
		connectingWith(5, "no password", func(p *player) jute.ConnectRequest {
			return jute.ConnectRequest{TimeOut: 10000, SessionID: 12345}
		}),
		connectingWith(6, "a zxid of the future", func(p *player) jute.ConnectRequest {
			return jute.ConnectRequest{TimeOut: 10000, LastZxidSeen: p.base + 1000}
		}),
		exists(1, "/"),
	}},
	{"a session continues with another timeout", []step{
		connectingWith(0, "timeout 2000", asking(2000)),
		connectingWith(0, "its session and timeout 5000", func(p *player) jute.ConnectRequest {
			s := p.clients[0].Session
			return jute.ConnectRequest{TimeOut: 5000, SessionID: s.SessionID, Passwd: s.Passwd}
		}),
		exists(0, "/"),
	}},
	{"a session is closed", []step{
		connecting(0), connecting(1),
		create2(0, "/close", "", 1), watchExists(1, "/close"), connectingWith(0, "its session", resuming(0)),
		ending(0, jute.OpClose, nil), exists(1, "/close"),
	}},
}

var oddScripts = []script{
	{"operations that are none", []step{
		connecting(0), connecting(1), connecting(2), connecting(3), connecting(4),
		ending(0, 99, nil), ending(1, 10, &jute.PathRequest{Path: "/"}), ending(2, -1, nil), ending(3, 108, nil), doing(4, jute.OpReconfig, nil),
		doing(4, jute.OpReconfig, rawclient.Raw(jute.AppendInt64(jute.AppendString(jute.AppendString(jute.AppendString(nil, "a"), "b"), "c"), -1))),
		exists(4, "/"),
	}},
	{"check outside of a multi", []step{
		connecting(0),
		create(0, "/check"), doing(0, jute.OpCheck, &jute.CheckVersionRequest{Path: "/check", Version: 0}),
		doing(0, jute.OpCheck, &jute.CheckVersionRequest{Path: "/check", Version: 1}), doing(0, jute.OpCheck, &jute.CheckVersionRequest{Path: "/none", Version: 1}),
		exists(0, "/check"),
	}},
	{"malformed requests", malformedSteps()},
	{"requests in one write", []step{
		connecting(0), connecting(1), create(0, "/pipe"), watchChildren(1, "/pipe"),
		pipelining(0, created(15, "/pipe/lock-", 3), reading(12, "/pipe", true), reading(3, "/pipe/none", true), created(1, "/pipe/none", 0), reading(4, "/pipe/none", false)),
		pipelining(0, reading(8, "/pipe", true), reading(4, "/pipe", true), removed("/pipe/none", 0), written("/pipe", "x", 0), written("/pipe", "y", 0), written("/pipe", "y", 1), reading(4, "/pipe", false)),
		pipelining(0, multiOp{14, multiBody{created(1, "/pipe/m", 0), checked("/none", 0)}}, reading(3, "/pipe/m", false), created(1, "/pipe/m", 0), created(15, "/pipe/s-", 2), removed("/pipe", -1), reading(12, "/pipe", false)),
	}},
}

// malformedSteps sends requests whose bodies are missing, cut or too long.
func malformedSteps() []step {
	steps := []step{connecting(0), create(0, "/malformed")}
	for _, op := range []jute.Op{
		jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL, jute.OpDelete, jute.OpExists, jute.OpGetData, jute.OpSetData, jute.OpGetACL,
		jute.OpSetACL, jute.OpGetChildren, jute.OpGetChildren2, jute.OpSync, jute.OpCheck, jute.OpMulti, jute.OpMultiRead, jute.OpCheckWatches,
		jute.OpRemoveWatches, jute.OpSetWatches, jute.OpSetWatches2, jute.OpAddWatch, jute.OpGetEphemerals, jute.OpGetAllChildrenNumber,
	} {
		steps = append(steps, doing(0, op, nil),
			doing(0, op, rawclient.Raw("\x00\x00\x00\x06/malf")),
			doing(0, op, rawclient.Raw("\x7f\xff\xff\xff/malformed")),
			doing(0, op, rawclient.Raw("\x00\x00\x00\x0a/malformed\x7f\xff\xff\xff")))
	}
	return append(steps,
		doing(0, jute.OpExists, rawclient.Raw("\x00\x00\x00\x0a/malformed\x00 and more")),
		doing(0, jute.OpWhoAmI, rawclient.Raw("more")), exists(0, "/malformed"))
}
