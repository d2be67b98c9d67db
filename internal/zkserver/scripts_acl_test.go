package zkserver_test

import (
	"github.com/go-curator/curator/internal/jute"
)

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
