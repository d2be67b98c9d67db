package curatortest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver"
)

// Direction is a direction of the network.
type Direction int

// The directions.
const (
	Both Direction = iota
	ToServer
	ToClient
)

// String returns the direction's name.
func (d Direction) String() string {
	switch d {
	case Both:
		return "Both"
	case ToServer:
		return "ToServer"
	case ToClient:
		return "ToClient"
	default:
		return fmt.Sprintf("Direction(%d)", int(d))
	}
}

// checkDirection fails the test and returns false if d is not one of the directions.
func checkDirection(tb TB, call string, d Direction) bool {
	if d >= Both && d <= ToClient {
		return true
	}
	tb.Helper()
	tb.Fatalf("%s: the direction is %v: it must be Both, ToServer or ToClient", call, d)
	return false
}

// Rule selects requests and says what happens to them.
type Rule struct {
	// Op is the operation, such as "create", "delete", "getData" or "multi". "create",
	// "getChildren" and "setWatches" also match their later forms, such as create2.
	// "createSession" is a client's handshake. "" matches all but createSession and ping.
	Op string
	// Path is a path, or a prefix with /** at its end, which matches all paths below. "" matches
	// every path. A multi matches if one of its operations does. A sequential create has the path
	// that the client sends, without the number.
	Path string
	// SessionID is the session; 0 matches every session.
	SessionID int64
	// Times is the number of requests; 0 is one request.
	Times int
	// Do is what happens to the requests.
	Do Fate
}

// Fate is what happens to a request.
type Fate struct {
	fate  zkserver.Fate
	fails bool
	err   error         // of Fail; Inject finds its code
	after time.Duration // of Delay
}

// Delay answers d later. Later messages on the connection wait for the answer.
func Delay(d time.Duration) Fate { return Fate{fate: zkserver.Delay(d), after: d} }

// Fail answers with err, an error of package framework, and does not apply the request.
func Fail(err error) Fate { return Fate{fails: true, err: err} }

// CutBefore closes the connection without applying the request.
func CutBefore() Fate { return Fate{fate: zkserver.CutBefore()} }

// CutAfter applies the request and closes the connection without answering.
func CutAfter() Fate { return Fate{fate: zkserver.CutAfter()} }

// mistake returns why no request can ever match the rule, or "".
func (r Rule) mistake() string {
	switch fate := r.Do; {
	case r.Op != "" && r.Op != "createSession" && !isOperation(r.Op):
		return fmt.Sprintf("Op is %q: there is no such operation", r.Op)
	case r.Path != "" && !strings.HasPrefix(r.Path, "/"):
		return fmt.Sprintf("Path is %q: it must begin with a slash", r.Path)
	case r.Times < 0:
		return fmt.Sprintf("Times is %d: it must not be below 0", r.Times)
	case fate.fails && fate.err == nil:
		return "Do is Fail(nil): there is no error to answer with"
	case fate.after < 0:
		return fmt.Sprintf("Do is Delay(%v): it must not be below 0", fate.after)
	}
	return ""
}

// isOperation reports whether there is an operation with the name.
func isOperation(name string) bool {
	for op := jute.OpClose; op <= jute.OpWhoAmI; op++ {
		if jute.OpName(op) == name {
			return op != jute.OpError
		}
	}
	return false
}

// untilEnd calls undo at the end of the test. It returns undo.
func (s *Server) untilEnd(undo func()) func() {
	s.tb.Cleanup(undo)
	return undo
}

// noSession reports whether id is 0, the id of a client without a session. A fault with this id does
// nothing. The test's log says so, because usually the client was not connected yet.
func noSession(tb TB, call string, id int64) bool {
	if id != 0 {
		return false
	}
	tb.Helper()
	tb.Logf("curatortest: %s(0) does nothing: this client has no session; wait for one with Client.BlockUntilConnected", call)
	return true
}

// ExpireSession ends a session now, as its timeout would. See framework.Client.SessionID. An
// unknown session, and an id of 0, are ignored; for 0 the test's log has a line.
func (s *Server) ExpireSession(id int64) {
	s.tb.Helper()
	if !noSession(s.tb, "ExpireSession", id) {
		s.zookeeper.ExpireSession(id)
	}
}

// Disconnect closes every connection, also while the server is paused; clients reconnect.
func (s *Server) Disconnect() { s.zookeeper.Disconnect(0) }

// DisconnectSession closes the connection of a session, if it has one. An id of 0 is ignored, as
// by ExpireSession.
func (s *Server) DisconnectSession(id int64) {
	s.tb.Helper()
	if !noSession(s.tb, "DisconnectSession", id) {
		s.zookeeper.Disconnect(id)
	}
}

// Refuse immediately closes new connections until accept is called or the test ends. Open
// connections stay.
func (s *Server) Refuse() (accept func()) { return s.untilEnd(s.zookeeper.Refuse()) }

// Partition lets nothing through in the given direction, without closing connections, until
// heal is called or the test ends. As in a real network, where lost packets are sent again,
// messages that were on their way arrive late.
func (s *Server) Partition(d Direction) (heal func()) {
	s.tb.Helper()
	if !checkDirection(s.tb, "Partition", d) {
		return func() {}
	}
	return s.untilEnd(s.zookeeper.Partition(d.netfault()))
}

// PartitionSession is Partition for one client: for the connections of a session, and for later
// connections that try to resume it, which are accepted and then get no answer. It does not end
// with the session: a client that is cut off does not learn of its end. See
// framework.Client.SessionID; an id of 0 is ignored, as by ExpireSession.
func (s *Server) PartitionSession(id int64, d Direction) (heal func()) {
	s.tb.Helper()
	if noSession(s.tb, "PartitionSession", id) || !checkDirection(s.tb, "PartitionSession", d) {
		return func() {}
	}
	return s.untilEnd(s.zookeeper.PartitionSession(id, d.netfault()))
}

// AdvanceClock moves the server's clock ahead by d. When it returns, sessions whose clients
// have sent nothing for their timeouts have ended, also those of connected clients, and due
// containers and TTL nodes are deleted. Later writes have later times. The clocks of clients,
// and delays, do not change.
//
// A session lives on if the clock is moved in steps that are shorter than its timeout, and its
// client sends a request between them. A bubble of testing/synctest does not need this method:
// there time advances for all, with pings in between.
func (s *Server) AdvanceClock(d time.Duration) {
	if d < 0 {
		s.tb.Helper()
		s.tb.Fatalf("advance the clock by %v: the clock cannot go back", d)
		return
	}
	s.zookeeper.AdvanceClock(d)
}

// Pause stops the server, as SIGSTOP would, until resume is called or the test ends.
// Connecting still succeeds, as it does to a stopped process. Time advances: a session whose
// timeout passes meanwhile may end at the resume, even if requests of its client wait. Stop and
// Restart end a pause.
func (s *Server) Pause() (resume func()) { return s.untilEnd(s.zookeeper.Pause()) }

// Stop stops the server until Start: its connections end, and dialing is refused. Data and
// sessions stay, and no session ends meanwhile; Get and the similar methods still read them. A
// server that listens keeps its port, so no other program gets it. It immediately closes
// connections to the port. Java: TestingServer.stop.
func (s *Server) Stop() { s.zookeeper.Stop() }

// Start starts the server again after Stop, with its data and sessions. Each session has its
// full timeout again. Watches are lost. It does nothing if the server is not stopped; a closed
// server stays closed, and the test fails. Java: TestingServer.restart.
func (s *Server) Start() {
	s.tb.Helper()
	if !s.zookeeper.Start() {
		s.tb.Fatalf("start: the server was closed")
	}
}

// Restart is Stop and Start. Java: TestingServer.restart.
func (s *Server) Restart() { s.zookeeper.Restart(true) }

// RestartEmpty stops the server and starts it again without its data and sessions, as if its
// disk had been lost. As with ZooKeeper, the server refuses clients that have seen a later zxid
// until it has reached that zxid.
func (s *Server) RestartEmpty() { s.zookeeper.Restart(false) }

// coded is an error with a code that a server can send.
type coded interface {
	error
	Code() int32
}

// Inject applies rule.Do to the next request that matches rule, or to the next rule.Times
// requests, and returns a function that reports whether this has happened. Rules are tried in
// the order in which they were injected. At the end of the test the rule is removed.
//
// A rule that no request can match, because there is no such operation, path or error, fails
// the test.
func (s *Server) Inject(rule Rule) (hit func() bool) {
	s.tb.Helper()
	if why := rule.mistake(); why != "" {
		s.tb.Fatalf("inject: %s", why)
		return func() bool { return false }
	}
	fate := rule.Do.fate
	if err := rule.Do.err; err != nil {
		var sent coded
		if !errors.As(err, &sent) {
			s.tb.Fatalf("inject: no server sends the error %q", err)
			return func() bool { return false }
		}
		fate = zkserver.Fail(sent.Code())
	}
	hits, remove := s.zookeeper.Inject(zkserver.Rule{
		Op:        rule.Op,
		Path:      rule.Path,
		SessionID: rule.SessionID,
		Times:     rule.Times,
		Do:        fate,
	})
	s.untilEnd(remove)
	return func() bool { return hits() > 0 }
}

// SetSequence sets the number that the next sequential child of a node gets, so a test can
// reach the end of the numbers, where ZooKeeper repeats the last one, 2147483647. The test
// fails if there is no such node.
func (s *Server) SetSequence(path string, next int32) {
	s.tb.Helper()
	if !s.zookeeper.SetSequence(path, next) {
		s.tb.Fatalf("set the sequence: no node %s", path)
	}
}
