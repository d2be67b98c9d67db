package zkserver_test

import (
	"strings"

	"github.com/go-curator/curator/internal/jute"
)

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
