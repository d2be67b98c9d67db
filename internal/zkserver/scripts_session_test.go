package zkserver_test

import (
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

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
	{"operations between servers", []step{
		connecting(0), connecting(1), connecting(2),
		doing(0, jute.OpCreateContainer, newNode("/between", "", 4)), doing(0, jute.OpDeleteContainer, &jute.PathRequest{Path: "/between"}),
		doing(0, jute.OpDeleteContainer, nil), exists(0, "/between"),
		ending(1, jute.OpNotification, &jute.PathRequest{Path: "/"}), ending(2, 23, nil), exists(0, "/"),
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
