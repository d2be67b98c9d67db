package zkserver_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

// player plays scripts on a server and writes down, line by line, what each client saw, in
// a form that does not depend on the server's clock, session ids and first zxid.
type player struct {
	t        failer
	dial     func() (net.Conn, error)
	clients  map[int]*rawclient.Client
	names    map[int64]string             // of sessions
	last     map[int]jute.ConnectResponse // the latest session of each client
	sessions []jute.ConnectResponse       // all that there were, as first granted
	times    map[int64]int64              // when the transactions were that Stats tell of
	base     int64                        // the zxid at the script's start
	lines    []string
}

// failer is what a player fails with.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newPlayer(t failer, dial func() (net.Conn, error)) *player {
	return &player{t: t, dial: dial, clients: map[int]*rawclient.Client{}, names: map[int64]string{}, times: map[int64]int64{}, last: map[int]jute.ConnectResponse{}}
}

// step is one action of a script.
type step func(p *player)

// script is a sequence of actions that begins with nobody connected.
type script struct {
	name  string
	steps []step
}

// play returns what the scripts do on the server that dial reaches.
func play(t testing.TB, dial func() (net.Conn, error), scripts []script) string {
	var all strings.Builder
	var left []jute.ConnectResponse
	touched := time.Now()
	for _, s := range scripts {
		p := newPlayer(t, dial)
		if time.Since(touched) > time.Second {
			left = p.touch(left)
			touched = time.Now()
		}
		p.begin()
		for _, step := range s.steps {
			step(p)
		}
		p.end()
		left = append(left, p.sessions...)
		fmt.Fprintf(&all, "=== %s\n%s\n", s.name, strings.Join(p.lines, "\n"))
	}
	return all.String()
}

// begin finds out the server's zxid.
func (p *player) begin() {
	c := p.mustConnect(jute.ConnectRequest{TimeOut: 10000})
	f, err := c.Do(jute.OpClose, nil)
	p.must(err)
	p.must(c.Conn.Close())
	p.base = f.Zxid
}

// touch keeps the sessions alive that earlier scripts have left without a connection: the nodes of them stay, as in
// the transcripts, also if the scripts take longer than their timeouts. It returns those that are not over.
func (p *player) touch(left []jute.ConnectResponse) []jute.ConnectResponse {
	return slices.DeleteFunc(left, func(s jute.ConnectResponse) bool {
		c, err := p.connect(jute.ConnectRequest{TimeOut: s.TimeOut, SessionID: s.SessionID, Passwd: s.Passwd})
		if err == nil {
			p.must(c.Conn.Close())
		}
		return err != nil
	})
}

// end ends all sessions that have a connection.
func (p *player) end() {
	for _, i := range p.order() {
		c := p.clients[i]
		_, err := c.Do(jute.OpClose, nil)
		p.must(err)
		p.must(c.Conn.Close())
	}
}

func (p *player) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%v; so far:\n%s", err, strings.Join(p.lines, "\n"))
	}
}

func (p *player) mustConnect(req jute.ConnectRequest) *rawclient.Client {
	c, err := p.connect(req)
	p.must(err)
	return c
}

func (p *player) connect(req jute.ConnectRequest) (*rawclient.Client, error) {
	return rawclient.Connect(p.mustDial(), req)
}

// mustDial returns a connection that lasts as long as a script may.
func (p *player) mustDial() net.Conn {
	conn, err := p.dial()
	p.must(err)
	p.must(conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// joined notes that client i has a session.
func (p *player) joined(i int, c *rawclient.Client) {
	id := c.Session.SessionID
	if _, known := p.names[id]; !known {
		p.names[id] = fmt.Sprintf("S%d", len(p.names))
		p.sessions = append(p.sessions, c.Session)
	}
	p.clients[i], p.last[i] = c, c.Session
}

// order returns the numbers of the clients.
func (p *player) order() []int {
	var order []int
	for i := range p.clients {
		order = append(order, i)
	}
	slices.Sort(order)
	return order
}

func (p *player) printf(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// connecting has client i connect with a new session.
func connecting(i int) step {
	return connectingWith(i, "a new session", func(*player) jute.ConnectRequest {
		return jute.ConnectRequest{TimeOut: 10000}
	})
}

// connectingWith has client i connect as request says.
func connectingWith(i int, what string, request func(p *player) jute.ConnectRequest) step {
	return func(p *player) {
		c, err := p.connect(request(p))
		if err != nil {
			p.printf("c%d connects with %s: %s", i, what, connectFailure(err))
			return
		}
		p.joined(i, c)
		p.printf("c%d connects with %s: %s for %d ms", i, what, p.session(c.Session.SessionID), c.Session.TimeOut)
	}
}

func connectFailure(err error) string {
	switch {
	case errors.Is(err, rawclient.ErrExpired):
		return "expired"
	case isClosed(err):
		return "closed"
	default:
		return err.Error()
	}
}

// isClosed tells whether the error is that of a connection which the server closed.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// dropping has client i close its connection, not its session, and the server notice it.
func dropping(i int) step {
	return func(p *player) {
		p.must(p.clients[i].Conn.Close())
		delete(p.clients, i)
		p.printf("c%d drops its connection", i)
	}
}

// closed expects that the server closes the connection of client i.
func closed(i int) step {
	return func(p *player) {
		for {
			f, err := p.clients[i].Receive()
			if err != nil {
				p.printf("c%d: %s", i, connectFailure(err))
				break
			}
			p.print(i, f, 0, "late ")
		}
		p.must(p.clients[i].Conn.Close())
		delete(p.clients, i)
	}
}

// doing has client i do a request, and everybody say what they were told meanwhile. The
// ping behind the request shows that there is no reply where there is none.
func doing(i int, op jute.Op, body rawclient.Body) step {
	return func(p *player) {
		p.printf("c%d %s", i, describe(op, body))
		p.exchange(i, op, body)
		for _, j := range p.order() {
			p.exchange(j, jute.OpPing, nil)
		}
	}
}

// ending is doing for a request after which the server closes the connection.
func ending(i int, op jute.Op, body rawclient.Body) step {
	return func(p *player) {
		p.printf("c%d %s", i, describe(op, body))
		if _, err := p.clients[i].Send(op, body); err != nil && !isClosed(err) {
			p.must(err)
		}
		from := len(p.lines)
		for {
			f, err := p.clients[i].Receive()
			if err != nil {
				p.sortEvents(from)
				p.printf("c%d: %s", i, connectFailure(err))
				break
			}
			p.print(i, f, op, "")
		}
		p.must(p.clients[i].Conn.Close())
		delete(p.clients, i)
		for _, j := range p.order() {
			from := len(p.lines)
			p.exchange(j, jute.OpPing, nil)
			p.sortEvents(from)
		}
	}
}

// sortEvents puts events next to each other in order. It is for those of the ephemeral
// nodes that end with a session, which come in any order.
func (p *player) sortEvents(from int) {
	to := from
	for to < len(p.lines) && strings.Contains(p.lines[to], ": event ") {
		to++
	}
	slices.Sort(p.lines[from:to])
}

// pipelining has client i send requests in one write and prints what comes back. The last
// one must be answered.
func pipelining(i int, ops ...multiOp) step {
	return func(p *player) {
		c := p.clients[i]
		sent := map[int32]jute.Op{}
		last := int32(0)
		for k, o := range ops {
			last = xidOf(o.op, k)
			sent[last] = o.op
			p.printf("c%d %s, without waiting", i, describe(o.op, o.body))
		}
		_, err := c.Conn.Write(pipeline(ops))
		p.must(err)
		for xid := int32(0); xid != last; {
			f, err := c.Receive()
			p.must(err)
			xid = f.Xid
			p.print(i, f, sent[xid], "")
		}
		for _, j := range p.order() {
			p.exchange(j, jute.OpPing, nil)
		}
	}
}

// exchange sends a request and a ping and prints what comes until the ping's answer.
func (p *player) exchange(i int, op jute.Op, body rawclient.Body) {
	c := p.clients[i]
	if op != jute.OpPing {
		_, err := c.Send(op, body)
		p.must(err)
	}
	if _, err := c.Send(jute.OpPing, nil); !isClosed(err) { // the request may have ended the connection
		p.must(err)
	}
	replied := op == jute.OpPing
	for {
		f, err := c.Receive()
		if isClosed(err) && replied {
			p.resume(i)
			return
		}
		p.must(err)
		if f.Xid == jute.XidPing {
			break
		}
		replied = replied || f.Xid != jute.XidNotification
		p.print(i, f, op, "")
	}
	if !replied {
		p.printf("  c%d: no reply", i)
	}
}

// resume has client i, whose connection the server has closed, connect with its session.
func (p *player) resume(i int) {
	p.printf("  c%d: closed", i)
	old := p.clients[i]
	p.must(old.Conn.Close())
	p.joined(i, p.mustConnect(jute.ConnectRequest{
		TimeOut: old.Session.TimeOut, SessionID: old.Session.SessionID, Passwd: old.Session.Passwd,
	}))
}

// print writes down a frame.
func (p *player) print(i int, f rawclient.Frame, op jute.Op, how string) {
	if event, ok := f.Event(); ok {
		p.printf("  c%d: %sevent %s %q, state %d, %s, err %d", i, how,
			eventNames[event.Type], event.Path, event.State, p.zxid(f.Zxid), f.Err)
		return
	}
	p.printf("  c%d: %s%s %s%s", i, how, codeName(f.Err), p.zxid(f.Zxid), p.body(op, f))
}

var eventNames = map[int32]string{
	jute.EventNodeCreated: "NodeCreated", jute.EventNodeDeleted: "NodeDeleted",
	jute.EventNodeDataChanged: "NodeDataChanged", jute.EventNodeChildrenChanged: "NodeChildrenChanged",
}

// zxid returns a zxid relative to the script's start. How many transactions there were before it depends
// on the release.
func (p *player) zxid(zxid int64) string {
	switch {
	case zxid <= 0:
		return fmt.Sprint("zxid ", zxid)
	case zxid < p.base:
		return "zxid earlier"
	}
	return fmt.Sprintf("zxid %+d", zxid-p.base)
}

// session returns the name of a session.
func (p *player) session(id int64) string {
	if name, ok := p.names[id]; ok {
		return name
	}
	if id == 0 {
		return "none"
	}
	return "unknown session"
}
