package zkserver_test

import (
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

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
