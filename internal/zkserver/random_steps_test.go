package zkserver_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// randomClients is how many clients play a random script.
const randomClients = 4

// step has a client do something by chance.
func (d *duel) step() {
	c := &chooser{d.t, d.root, d.arena.release}
	i := rapid.IntRange(0, randomClients-1).Draw(d.t, "client")
	if d.sides[0].clients[i] == nil {
		d.join(i, pick(c, newSession, newSession, sameSession, sameSession, sameSession, wrongPassword, future, unknownSession))
		return
	}
	switch n := rapid.IntRange(0, 99).Draw(d.t, "kind"); n { // rapid prefers what is near the ends
	default:
		d.request(i, c.request())
	case 10, 11, 12, 13, 14, 15, 16, 17:
		d.request(i, c.several()...)
	case 30, 31, 32:
		d.flush()
	case 40, 41, 42:
		d.request(i, c.authentication())
	case 50, 51:
		d.drop(i)
	case 60, 61, 62:
		d.join(i, pick(c, sameSession, sameSession, sameSession, wrongPassword, future, unknownSession))
	case 70, 71:
		d.close(i)
	}
}

// prepare makes some nodes, so that requests find something.
func (d *duel) prepare() {
	for i := range randomClients {
		d.join(i, newSession)
	}
	for i, path := range []string{"/a", "/a/x", "/b"} {
		d.request(i, multiOp{jute.OpCreate, newNode(d.root+path, "", 0)})
	}
	d.request(3, multiOp{jute.OpCreate, newNode(d.root+"/ephemeral", "", jute.FlagEphemeral)})
	d.request(0, multiOp{jute.OpCreateContainer, newNode(d.root+"/container", "", jute.FlagContainer)})
	d.request(0, multiOp{jute.OpCreateTTL, newTTL(d.root+"/ttl", jute.FlagTTL, 60_000)})
}

// several returns requests to be sent in one write.
func (c *chooser) several() []multiOp {
	var ops []multiOp
	for range pick(c, 2, 3, 4, 6) {
		o := c.request()
		for c.leavesDoubt(o) {
			o = c.change()
		}
		ops = append(ops, o)
	}
	return ops
}

// leavesDoubt tells whether a request is one after which ZooKeeper, until it is done with
// it, takes nodes for others than they are: with the ACL from before, for ephemeral, or as
// if a multi had been done that has failed in the midst of its creates. Another is a check that ends the
// connection: requests after it may still be done.
func (c *chooser) leavesDoubt(o multiOp) bool {
	switch b := o.body.(type) {
	case *jute.CheckVersionRequest:
		return c.release > tree.Release380
	case *jute.SetACLRequest:
		return true
	case *jute.CreateRequest:
		return o.op == jute.OpCreateContainer && b.Flags != jute.FlagContainer
	case multiBody:
		return slices.ContainsFunc(b, func(o multiOp) bool {
			create, ok := o.body.(*jute.CreateRequest)
			return ok && (create.Flags == jute.FlagTTL || create.Flags == jute.FlagSequentialTTL)
		})
	}
	return false
}

// authentication returns a proof of who the client is, which may fail.
func (c *chooser) authentication() multiOp {
	if c.chance(20) {
		return pick(c, multiOp{jute.OpAuth, &jute.AuthPacket{Scheme: "world", Auth: []byte("anyone")}},
			multiOp{jute.OpAuth, &jute.AuthPacket{Scheme: "nobody", Auth: []byte("x")}},
			multiOp{jute.OpAuth, &jute.AuthPacket{Scheme: "digest"}})
	}
	return pick(c, multiOp{jute.OpAuth, &jute.AuthPacket{Scheme: "digest", Auth: []byte("alice:secret")}},
		multiOp{jute.OpAuth, &jute.AuthPacket{Scheme: "digest", Auth: []byte("bob:x")}},
		multiOp{jute.OpAuth, &jute.AuthPacket{Scheme: "ip", Auth: []byte("127.0.0.1")}})
}

// request has client i send requests in one write.
func (d *duel) request(i int, ops ...multiOp) {
	d.arena.operations += len(ops)
	sent := ops
	if len(ops) > 1 || ops[0].op == jute.OpCheck && d.arena.release == tree.Release380 {
		sent = append(slices.Clip(ops), multiOp{jute.OpPing, rawclient.Raw{}}) // it shows that there was no reply
	}
	d.do(func() string {
		var all []string
		for _, o := range ops {
			all = append(all, fmt.Sprintf("c%d %s", i, describe(o.op, o.body)))
		}
		return strings.Join(all, "\n")
	}, requesting(i, sent...))
}

// requesting has client i send requests in one write, and prints what comes until they are
// answered, and until the connection ends if the last one is unknown to the server.
func requesting(i int, ops ...multiOp) step {
	return func(p *player) {
		moved := make([]multiOp, len(ops))
		sent := map[int32]jute.Op{}
		for k, o := range ops {
			moved[k] = o
			if r, ok := o.body.(relative); ok {
				moved[k].body = r.from(p.base)
			}
			sent[xidOf(o.op, k)] = o.op
		}
		last := xidOf(ops[len(ops)-1].op, len(ops)-1)
		c := p.clients[i]
		if _, err := c.Conn.Write(pipeline(moved)); err != nil && !isClosed(err) {
			p.must(err)
		}
		for {
			f, err := c.Receive()
			if err != nil {
				p.printf("  c%d: %s", i, connectFailure(err))
				p.must(c.Conn.Close())
				delete(p.clients, i)
				return
			}
			p.print(i, f, sent[f.Xid], "")
			if f.Xid == last && f.Err != jute.CodeUnimplemented {
				return
			}
		}
	}
}

// flush has every client say what it has been told. Those whose connection has ended learn
// of it.
func (d *duel) flush() {
	d.do(func() string { return "everybody pings" }, func(p *player) {
		for _, i := range p.order() {
			requesting(i, multiOp{jute.OpPing, rawclient.Raw{}})(p)
		}
	})
}

// close has client i close its session. The nodes of the session end in any order.
func (d *duel) close(i int) {
	d.arena.operations++
	if d.flush(); d.sides[0].clients[i] == nil {
		return
	}
	d.do(func() string { return fmt.Sprintf("c%d closes its session", i) }, ending(i, jute.OpClose, nil))
}

// canary is a path that only those watch who are about to drop their connection.
const canary = "/canary"

// drop has client i close its connection, and waits until the servers have noticed: its
// watches are gone.
func (d *duel) drop(i int) {
	if d.flush(); d.sides[0].clients[i] == nil {
		return
	}
	for k, p := range d.sides {
		_, err := p.clients[i].Do(jute.OpAddWatch, &jute.AddWatchRequest{Path: canary})
		p.must(err)
		p.must(p.clients[i].Conn.Close())
		delete(p.clients, i)
		server := d.arena.servers[k]
		for end, alive := time.Now().Add(patience), true; alive; {
			f, err := server.janitor.Do(jute.OpCheckWatches, &jute.WatchesRequest{Path: canary, Type: jute.WatcherChildren})
			p.must(err)
			if alive = f.Err != jute.CodeNoWatcher; alive && time.Now().After(end) {
				d.Fatalf("%s has not noticed the end of a connection", server.name)
			}
		}
	}
	d.log = append(d.log, exchange{what: func() string { return fmt.Sprintf("c%d drops its connection", i) }})
}

// handshake is a way to connect.
type handshake int

const (
	newSession handshake = iota
	sameSession
	wrongPassword
	future // a zxid that the server has not reached
	unknownSession
)

// join has client i connect, maybe while it has a connection, which ends with it.
func (d *duel) join(i int, h handshake) {
	d.arena.operations++
	d.flush()
	what := func() string {
		return fmt.Sprintf("c%d connects, with %s", i, [...]string{"a new session", "its session", "a wrong password", "a zxid of the future", "an unknown session"}[h])
	}
	d.do(what, func(p *player) {
		old := p.clients[i]
		c, err := p.connect(h.request(p, i))
		if old != nil && (h == sameSession || h == wrongPassword) {
			closed(i)(p)
		}
		if err != nil {
			p.printf("  c%d: %s", i, connectFailure(err))
			return
		}
		p.joined(i, c)
		p.printf("  c%d: %s for %d ms", i, p.session(c.Session.SessionID), c.Session.TimeOut)
	})
}

func (h handshake) request(p *player, i int) jute.ConnectRequest {
	session := p.last[i]
	req := jute.ConnectRequest{TimeOut: 60_000, SessionID: session.SessionID, Passwd: session.Passwd, LastZxidSeen: p.base}
	switch h {
	case newSession:
		req.SessionID, req.Passwd = 0, make([]byte, 16)
	case wrongPassword:
		req.Passwd = make([]byte, 16)
	case future:
		req.LastZxidSeen = p.base + 1000
	case unknownSession:
		req.SessionID = 12345
	}
	return req
}

// xidOf returns the xid of request k of those in one write.
func xidOf(op jute.Op, k int) int32 {
	switch op {
	case jute.OpPing:
		return jute.XidPing
	case jute.OpAuth:
		return jute.XidAuth
	case jute.OpSetWatches, jute.OpSetWatches2:
		return jute.XidSetWatches
	default:
		return int32(1_000_000 + k)
	}
}

// pipeline returns the frames of requests.
func pipeline(ops []multiOp) []byte {
	var frames []byte
	for k, o := range ops {
		frame := o.body.Append((&jute.RequestHeader{Xid: xidOf(o.op, k), Op: o.op}).Append(nil))
		frames = append(jute.AppendInt32(frames, int32(len(frame))), frame...)
	}
	return frames
}
