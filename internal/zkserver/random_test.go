package zkserver_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/internal/zkserver/tree"
	"github.com/go-curator/curator/tools/curatortest"
)

var randomOperations = flag.Int("differential.operations", 3000, "about how many random operations to compare")

// stepsPerScript is how many steps a random script has on average.
const stepsPerScript = 100

// usualSeed is where the scripts come from unless -rapid.seed says otherwise: so that a change is judged
// by itself, and not by its luck.
const usualSeed = 11

// randomTick is long, so that no session ends while a script is played.
const randomTick = 4 * time.Second

// TestRandomDifferential has a real server, an embedded one and the state of an embedded one by
// itself do the same by chance, and compares every reply, Stat, event and error. To play a
// million operations, from another seed:
//
//	go test ./internal/zkserver -run TestRandomDifferential -v -timeout 0 -differential.operations=1000000 -rapid.seed=12
func TestRandomDifferential(t *testing.T) {
	options := []curatortest.Option{curatortest.WithTickTime(randomTick), curatortest.WithContainerCheckInterval(time.Hour)}
	real := directAddress(t, curatortest.Real(t, options...).ConnectString())
	release := releaseOf(t, real)
	embedded := curatortest.Start(t, append(options, answeringAs(release))...)
	arena := &arena{release: release, servers: []contender{
		newContender(t, "ZooKeeper", dialBuffered(real)),
		newContender(t, "embedded", dialBuffered(embedded.ConnectString())),
		newContender(t, "state of the embedded", newTreeAlone(randomTick, release).dial),
	}}
	setFlag(t, "rapid.steps", stepsPerScript)
	setFlag(t, "rapid.checks", max(1, *randomOperations/stepsPerScript))
	if flag.Lookup("rapid.seed").Value.String() == "0" {
		setFlag(t, "rapid.seed", usualSeed)
	}
	start := time.Now()
	rapid.Check(t, arena.play)
	t.Logf("ZooKeeper %v: %d operations compared in %d scripts, in %v", release, arena.operations, arena.scripts, time.Since(start).Round(time.Second))
}

// setFlag sets a flag for the time of a test.
func setFlag(t *testing.T, name string, value int) {
	t.Helper()
	before := flag.Lookup(name).Value.String()
	if err := flag.Set(name, strconv.Itoa(value)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { flag.Set(name, before) }) // it was set to this before
}

// directAddress returns where a real server listens itself: the way through its proxy
// takes longer.
func directAddress(t *testing.T, server string) string {
	t.Helper()
	_, rest, _ := strings.Cut(ask(t, server, "conf"), "clientPort=")
	port, _, ok := strings.Cut(rest, "\n")
	if !ok {
		t.Fatal("conf has no clientPort")
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// bufferedConn is a connection that is read in large pieces.
type bufferedConn struct {
	net.Conn
	reader *bufio.Reader
}

func (c *bufferedConn) Read(b []byte) (int, error) { return c.reader.Read(b) }

// dialBuffered returns how to connect to an address.
func dialBuffered(address string) func() (net.Conn, error) {
	return func() (net.Conn, error) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		return &bufferedConn{conn, bufio.NewReader(conn)}, nil
	}
}

// arena is where random scripts are played. A script has a root of its own.
type arena struct {
	release    tree.Release
	servers    []contender
	scripts    int
	operations int
}

// play plays one random script.
func (a *arena) play(t *rapid.T) {
	a.scripts++
	d := &duel{t: t, arena: a, root: fmt.Sprintf("/random%07d", a.scripts)}
	for _, server := range a.servers {
		d.sides = append(d.sides, server.begin(t, d.root))
	}
	defer func() {
		for i, server := range a.servers {
			server.end(d.sides[i], d.root)
		}
	}()
	d.prepare()
	t.Repeat(map[string]func(*rapid.T){"step": func(t *rapid.T) {
		d.t = t
		d.step()
	}})
	d.flush()
}

// contender is a server that plays random scripts, and a client who may do everything there.
type contender struct {
	name    string
	dial    func() (net.Conn, error)
	janitor *rawclient.Client
}

func newContender(t *testing.T, name string, dial func() (net.Conn, error)) contender {
	t.Helper()
	conn, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	janitor, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: 1<<31 - 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, credentials := range []string{"alice:secret", "bob:x"} {
		do(t, janitor, jute.OpAuth, &jute.AuthPacket{Scheme: "digest", Auth: []byte(credentials)})
	}
	return contender{name, dial, janitor}
}

// begin makes the root of a script and returns who plays it.
func (c contender) begin(t failer, root string) *player {
	p := newPlayer(t, c.dial)
	f, err := c.janitor.Do(jute.OpCreate, newNode(root, "", 0))
	p.must(err)
	if f.Err != jute.CodeOK {
		p.t.Fatalf("create %s: code %d", root, f.Err)
	}
	p.base = f.Zxid
	return p
}

// end ends the sessions of a script, those without a connection too, and removes its nodes.
func (c contender) end(p *player, root string) {
	for _, session := range p.sessions {
		conn, err := rawclient.Connect(p.mustDial(), jute.ConnectRequest{
			TimeOut: session.TimeOut, SessionID: session.SessionID, Passwd: session.Passwd,
		})
		if err != nil {
			continue // it was closed
		}
		_, err = conn.Do(jute.OpClose, nil)
		p.must(err)
		p.must(conn.Conn.Close())
	}
	for _, client := range p.clients {
		client.Conn.Close() // its session has moved away
	}
	c.clean(p, root)
}

// clean removes a node and all below it.
func (c contender) clean(p *player, root string) {
	all := []string{root}
	for level := all; len(level) > 0; {
		var below []string
		for i, f := range c.doAll(p, jute.OpGetChildren, level, func(path string) rawclient.Body {
			return &jute.PathWatchRequest{Path: path}
		}) {
			if f.Err == jute.CodeNoNode {
				return // a client has removed the root
			}
			var names jute.GetChildrenResponse
			p.must(jute.Decode(f.Body, &names))
			for _, name := range names.Children {
				below = append(below, level[i]+"/"+name)
			}
		}
		all = append(all, below...)
		level = below
	}
	slices.Reverse(all)
	for i, f := range c.doAll(p, jute.OpDelete, all, func(path string) rawclient.Body {
		return &jute.DeleteRequest{Path: path, Version: -1}
	}) {
		if f.Err != jute.CodeOK {
			p.t.Fatalf("%s: delete %q: code %d", c.name, all[i], f.Err)
		}
	}
}

// doAll has the janitor send a request for each path at once, and returns the replies.
func (c contender) doAll(p *player, op jute.Op, paths []string, body func(path string) rawclient.Body) []rawclient.Frame {
	var ops []multiOp
	for _, path := range paths {
		ops = append(ops, multiOp{op, body(path)})
	}
	_, err := c.janitor.Conn.Write(pipeline(ops))
	p.must(err)
	var replies []rawclient.Frame
	for range ops {
		f, err := c.janitor.Receive()
		p.must(err)
		replies = append(replies, f)
	}
	return replies
}

// duel is a random script being played on every server.
type duel struct {
	t     *rapid.T
	arena *arena
	root  string
	sides []*player
	log   []exchange
}

// exchange is a step and what the clients saw in it.
type exchange struct {
	what  func() string
	lines []string
}

// do has every server do a step, and fails unless they all do the same.
func (d *duel) do(what func() string, s step) {
	d.log = append(d.log, exchange{what: what})
	for _, p := range d.sides {
		p.t, p.lines = d, nil
		s(p)
	}
	want := d.sides[0].lines
	for i, p := range d.sides[1:] {
		if !slices.Equal(want, p.lines) {
			d.Fatalf("%s:\n%s\n%s:\n%s", d.arena.servers[0].name, strings.Join(want, "\n"),
				d.arena.servers[i+1].name, strings.Join(p.lines, "\n"))
		}
	}
	d.log[len(d.log)-1].lines = want
}

// Helper makes a duel what its players fail with.
func (d *duel) Helper() { d.t.Helper() }

// Fatalf fails, and tells what was done until now. It always fails alike: rapid takes what
// fails in another way for another failure, and does not look for a shorter script.
func (d *duel) Fatalf(format string, args ...any) {
	d.t.Helper()
	var b strings.Builder
	for _, e := range d.log {
		fmt.Fprintln(&b, e.what())
		for _, line := range e.lines {
			fmt.Fprintln(&b, line)
		}
	}
	fmt.Fprintf(&b, format, args...)
	d.t.Log(b.String())
	d.t.Fatalf("script failed")
}

// ask returns the answer to a four-letter word.
func ask(t failer, address, word string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, word); err != nil {
		t.Fatalf("%s: %v", word, err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%s: %v", word, err)
	}
	return string(answer)
}
