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
