package zkconn_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

const ephemeral, sequential = jute.FlagEphemeral, jute.FlagSequential

// limited opens a connection that limits its ephemeral nodes.
func (t *fixture) limited(limit int) {
	t.Helper()
	t.open(func(cfg *zkconn.Config) { cfg.MaxBuffer = limit })
	t.connected()
}

// counted returns the client's count.
func (t *fixture) counted() int {
	synctest.Wait()
	return t.conn.Stats().Ephemerals
}

// listed returns the size of the session's ephemeral nodes. The client takes no count from the answer, because of the path.
func (t *fixture) listed() (size int) {
	t.Helper()
	call := zkconn.Ephemerals("")
	t.do(call)
	for _, path := range call.Names() {
		size += 4 + len(path)
	}
	return size
}

// wantCounted compares the client's count with the server's.
func (t *fixture) wantCounted(when string) {
	t.Helper()
	if count, size := t.counted(), t.listed(); count != size {
		t.Errorf("%s: counted %d bytes, and there are %d", when, count, size)
	}
}

// made creates a node and returns its path.
func (t *fixture) made(path string, flags int32) string {
	t.Helper()
	call, res := create(path, flags)
	t.do(call)
	return res.Path
}

// ask sends a call, which may be refused.
func (t *fixture) ask(conn *zkconn.Conn, call *zkconn.Call) {
	t.Helper()
	if err := conn.Do(t.Context(), 0, call); err != nil {
		t.Fatal(err)
	}
}

// told returns the events of a kind, and forgets all.
func (t *fixture) told(kind zkconn.EventKind) (events []zkconn.Event) {
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.events {
		if e.Kind == kind {
			events = append(events, e)
		}
	}
	t.events = nil
	return events
}

func createOp(path string, flags int32) zkconn.MultiOp {
	call, _ := create(path, flags)
	return zkconn.MultiOp{Op: jute.OpCreate, Req: call.Req}
}

// ephemeralStep is something that a client, or another one, does.
type ephemeralStep struct {
	name string
	do   func()
}

// ownSteps are what the client does.
func (t *fixture) ownSteps() []ephemeralStep {
	sequence := ""
	return []ephemeralStep{
		{"nothing", func() {}},
		{"a create", func() { t.made("/a", ephemeral) }},
		{"an old create", func() {
			call, _ := create("/old", ephemeral)
			call.Op, call.Res = jute.OpCreate, &jute.CreateResponse{}
			t.do(call)
		}},
		{"a sequential node", func() { sequence = t.made("/seq-", ephemeral|sequential) }},
		{"other kinds of nodes", func() {
			t.made("/persistent", 0)
			t.made("/numbered-", sequential)
			call, _ := create("/container", jute.FlagContainer)
			call.Op = jute.OpCreateContainer
			t.do(call)
		}},
		{"a create that is refused", func() {
			call, _ := create("/a", ephemeral)
			t.ask(t.conn, call)
			t.want(call.Err, zkconn.ErrNodeExists)
		}},
		{"a transaction", func() {
			t.do(zkconn.Multi(createOp("/m", ephemeral), zkconn.CheckOp("/", -1), createOp("/m-", ephemeral|sequential),
				createOp("/m2", 0), zkconn.DeleteOp("/a", -1), createOp("/b", ephemeral)))
		}},
		{"a transaction that makes way for itself", func() {
			t.do(zkconn.Multi(zkconn.DeleteOp("/b", -1), createOp("/b", ephemeral)))
		}},
		{"a transaction that is refused", func() {
			call := zkconn.Multi(createOp("/x", ephemeral), zkconn.DeleteOp("/m", -1), zkconn.CheckOp("/none", -1))
			t.ask(t.conn, call)
			t.want(call.Refused(), zkconn.ErrNoNode)
		}},
		{"several in one write", func() {
			first, _ := create("/w1", ephemeral)
			second, _ := create("/w2", ephemeral)
			t.do(first, second, remove("/w1"))
		}},
		{"deletes", func() { t.do(remove("/persistent"), remove(sequence), remove("/m")) }},
		{"a delete that finds nothing", func() {
			call := remove("/m")
			t.ask(t.conn, call)
			t.want(call.Err, zkconn.ErrNoNode)
		}},
	}
}

// stepsWith are what the client and another one do.
func (t *fixture) stepsWith(other *zkconn.Conn) []ephemeralStep {
	return append(t.ownSteps(), []ephemeralStep{
		{"somebody else's node", func() {
			call, _ := create("/theirs", ephemeral)
			t.ask(other, call)
			t.do(remove("/theirs"))
		}},
		{"somebody else deletes a node that is watched", func() {
			t.do(zkconn.Exists("/b", zkconn.NewWatch("/b", zkconn.WatchData, func(zkconn.WatchEvent) {})))
			t.ask(other, remove("/b"))
		}},
		{"somebody else deletes a node, and it is created again", func() {
			t.ask(other, remove("/w2"))
			t.made("/w2", ephemeral)
		}},
		{"somebody else deletes a node, and it is deleted again", func() {
			t.ask(other, remove("/w2"))
			call := remove("/w2")
			t.ask(t.conn, call)
			t.want(call.Err, zkconn.ErrNoNode)
		}},
		{"a reconnect", func() {
			t.server.Disconnect()
			synctest.Wait()
			t.do(exists("/"))
		}},
	}...)
}

// TestEphemeralsCounted creates and deletes nodes in every way, and compares the counts.
func TestEphemeralsCounted(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.limited(0xfffff)
		other := t.conn
		t.limited(0xfffff)
		for _, step := range t.stepsWith(other) {
			step.do()
			t.wantCounted(step.name)
		}
		if t.listed() == 0 {
			t.Error("nothing is left")
		}
		t.server.ExpireSession(t.connected())
		synctest.Wait()
		t.do(exists("/"))
		t.wantCounted("another session")
	})
}

// TestEphemeralsOfFewAreNotListed: who has few nodes at a time needs no request for the count, however many there are in
// all.
func TestEphemeralsOfFewAreNotListed(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.limited(80_000)
		listed := t.server.Inject(curatortest.Rule{Op: "getEphemerals", Do: curatortest.CutBefore()})
		var paths []string
		for i := range 5000 {
			paths = append(paths, t.made("/locks-", ephemeral|sequential))
			t.made(fmt.Sprintf("/persistent-%d", i), 0)
			t.do(remove(fmt.Sprintf("/persistent-%d", i)))
			if len(paths) == 256 {
				t.do(remove(paths[0]))
				paths = paths[1:]
			}
		}
		if count := t.counted(); count != 255*(4+len(paths[0])) || listed() {
			t.Errorf("counted %d bytes; listed: %t", count, listed())
		}
	})
}

// TestEphemeralsInDoubt: a node whose create was lost counts.
func TestEphemeralsInDoubt(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.limited(0xfffff)
		for _, fate := range []curatortest.Fate{curatortest.CutBefore(), curatortest.CutAfter()} {
			t.server.Inject(curatortest.Rule{Op: "create", Do: fate})
			call, _ := create("/a", ephemeral)
			if err := t.conn.Do(t.Context(), 0, call); !sent(err) {
				t.Fatalf("error %v, want one of a request that was sent", err)
			}
		}
		t.do(exists("/a"))
		t.wantCounted("the same node in doubt twice, of which the second is there")
		t.server.Inject(curatortest.Rule{Op: "create", Do: curatortest.CutBefore()})
		call, _ := create("/seq-", ephemeral|sequential)
		if err := t.conn.Do(t.Context(), 0, call); !sent(err) {
			t.Fatalf("error %v, want one of a request that was sent", err)
		}
		if count, size := t.counted(), t.listed(); count != size+4+len("/seq-0000000000") {
			t.Errorf("counted %d bytes, and there are %d and perhaps a node", count, size)
		}
	})
}

// TestEphemeralsRandom does random things: the count is never too low, and the client's own list makes it exact.
func TestEphemeralsRandom(t *testing.T) {
	for seed := range uint64(20) {
		virtual(t, func(t *fixture) {
			random := rand.New(rand.NewPCG(seed, 0))
			t.limited(40_000)
			other := t.conn
			t.limited(40_000)
			var paths []string
			doubt := func(err error) {
				if err != nil && !errors.Is(err, zkconn.ErrConnectionLoss) {
					t.Errorf("error %v", err)
				}
			}
			for range 400 {
				path := fmt.Sprintf("/%03d%s", random.IntN(500), strings.Repeat("x", random.IntN(30)))
				if n := len(paths); n > 0 && random.IntN(2) == 0 {
					path = paths[random.IntN(n)]
				}
				made, res := create(path, []int32{ephemeral, ephemeral, ephemeral | sequential, 0}[random.IntN(4)])
				if random.IntN(30) == 0 {
					t.server.Inject(curatortest.Rule{Do: []curatortest.Fate{curatortest.CutBefore(), curatortest.CutAfter()}[random.IntN(2)]})
				}
				switch random.IntN(8) {
				case 0:
					doubt(t.conn.Do(t.Context(), 0, remove(path)))
				case 1:
					doubt(other.Do(t.Context(), 0, remove(path)))
				case 2:
					doubt(t.conn.Do(t.Context(), 0, zkconn.Multi(createOp(path+"m", ephemeral), createOp(path, ephemeral), zkconn.DeleteOp(path+"m", -1))))
					res.Path = path
				default:
					doubt(t.conn.Do(t.Context(), 0, made))
				}
				if res.Path != "" {
					paths = append(paths, res.Path)
				}
			}
			for t.conn.Do(t.Context(), 0, exists("/")) != nil { // a fault is left
			}
			if count, size := t.counted(), t.listed(); count < size {
				t.Errorf("seed %d: counted %d bytes, and there are %d", seed, count, size)
			}
			t.do(&zkconn.Call{Op: jute.OpGetEphemerals, Req: &jute.PathRequest{Path: "/"}})
			t.wantCounted(fmt.Sprintf("seed %d, behind a list", seed))
		})
	}
}
