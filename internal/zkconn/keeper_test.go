package zkconn_test

import (
	"context"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/internal/zkserver"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// onKeeper is virtual on a server that does as ClickHouse Keeper.
func onKeeper(t *testing.T, test func(t *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(200*time.Millisecond), curatortest.WithKeeper())
		test(&fixture{T: t, server: server})
	})
}

// wantStates wants these states since the last call.
func (t *fixture) wantStates(want ...state.ConnectionState) {
	t.Helper()
	if _, states := t.took(); !slices.Equal(states, want) {
		t.Fatalf("states %v, want %v", states, want)
	}
}

// made returns a call that creates an ephemeral node.
func made(path string) (*zkconn.Call, *jute.Create2Response) { return create(path, jute.FlagEphemeral) }

// A server that grants another session than the one that it was asked for ends the old one, although it does not say so,
// and although it keeps its nodes.
func TestAnotherSessionIsGranted(t *testing.T) {
	onKeeper(t, func(t *fixture) {
		t.open(nil)
		node, _ := made("/a")
		t.do(node)
		t.wantStates(state.Connected)
		old, _ := t.conn.Session()
		var told []zkconn.EventType
		t.do(zkconn.Exists("/a", new(zkconn.Watch).Init("/a", zkconn.WatchData, func(e zkconn.WatchEvent) { told = append(told, e.Type) })))
		t.server.DisconnectSession(old)
		time.Sleep(time.Second)
		synctest.Wait()
		t.mu.Lock()
		presumed := slices.ContainsFunc(t.events, func(e zkconn.Event) bool {
			return e.Kind == zkconn.SessionEnded && e.Session == old && e.Presumed
		})
		t.mu.Unlock()
		t.wantStates(state.Suspended, state.Lost, state.Reconnected)
		now, _ := t.conn.Session()
		if now == old || now == 0 || !presumed {
			t.Errorf("session %d after %d; presumed over: %t", now, old, presumed)
		}
		if !slices.Equal(told, []zkconn.EventType{zkconn.WatchSessionLost}) {
			t.Errorf("the watch was told %v", told)
		}
		if _, ok := t.conn.Deadline(old); ok {
			t.Error("the old session still has a deadline")
		}
		if end := t.conn.SessionEnd(t.Context(), old, false); end != zkconn.SessionMayLive {
			t.Errorf("the old session's end is %d", end)
		}
		bound := exists("/a")
		if err := t.conn.Do(t.Context(), old, bound); sent(err) {
			t.Error("a request of the old session was sent")
		} else {
			t.want(err, zkconn.ErrSessionExpired)
		}
		if _, there := t.server.Get("/a"); !there {
			t.Error("the old session's node is gone before its timeout")
		}
		time.Sleep(2 * timeout)
		if _, there := t.server.Get("/a"); there {
			t.Error("the old session's node is there after its timeout")
		}
	})
}

// A Keeper that has lost its data counts its sessions anew: the new session may have the id of the old one.
func TestAnotherSessionHasTheSameID(t *testing.T) {
	onKeeper(t, func(t *fixture) {
		t.open(nil)
		node, _ := made("/a")
		t.do(node)
		t.wantStates(state.Connected)
		old, _ := t.conn.Session()
		t.server.RestartEmpty()
		synctest.Wait()
		time.Sleep(time.Second)
		t.wantStates(state.Suspended, state.Lost, state.Reconnected)
		if now, _ := t.conn.Session(); now == old {
			t.Errorf("session %d is believed in", now)
		}
		again, _ := made("/a")
		t.do(again)
	})
}

// A Keeper's answer that a session has expired is not certain: it comes also when the server ends.
func TestKeepersExpirationIsPresumed(t *testing.T) {
	onKeeper(t, func(t *fixture) {
		t.open(nil)
		t.do(exists("/"))
		old, _ := t.conn.Session()
		t.server.Inject(curatortest.Rule{Op: "exists", Do: curatortest.Fail(zkconn.ErrSessionExpired)})
		call := exists("/")
		if err := t.conn.Do(t.Context(), 0, call); err != nil {
			t.Fatal(err)
		}
		t.want(call.Err, zkconn.ErrSessionExpired)
		if end := t.conn.SessionEnd(t.Context(), old, false); end != zkconn.SessionMayLive {
			t.Errorf("the session's end is %d", end)
		}
	})
}

// A Keeper without a leader answers the handshake with what looks like a session, and hangs up.
func TestKeeperRejects(t *testing.T) {
	onKeeper(t, func(t *fixture) {
		rejects := hijack(func(c net.Conn) {
			r := jute.ConnectResponse{ProtocolVersion: 42, TimeOut: int32(timeout / time.Millisecond), SessionID: -1, Passwd: make([]byte, 16)}
			c.Write(frame(r.Append(nil)))
		})
		good := t.server.DialContext
		dials := 0
		t.connect("a:1", func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials++; dials <= 3 {
				return rejects(ctx, network, address)
			}
			return good(ctx, network, address)
		}, nil)
		t.do(exists("/"))
		t.wantStates(state.Connected)
		if id, _ := t.conn.Session(); id != 1 || dials != 4 {
			t.Errorf("session %d after %d dials", id, dials)
		}
	})
}

// What a Keeper may not know is not sent to it: it would end the connection.
func TestKeeperIsSpared(t *testing.T) {
	onKeeper(t, func(t *fixture) {
		t.open(nil)
		node, res := create("/a-", jute.FlagEphemeral|jute.FlagSequential)
		t.do(node)
		session, _ := t.conn.Session()
		if s := res.Stat; res.Path != "/a-0000000000" || s.Czxid != node.Zxid || s.Mzxid != s.Czxid || s.EphemeralOwner != session {
			t.Errorf("%q, %+v", res.Path, s)
		}
		read := zkconn.Exists(res.Path, nil)
		t.do(read)
		if read.Stat().Czxid != res.Stat.Czxid || read.Stat().EphemeralOwner != session {
			t.Errorf("it is %+v", read.Stat())
		}
		watch := new(zkconn.Watch).Init(res.Path, zkconn.WatchData, func(zkconn.WatchEvent) {})
		t.do(zkconn.Exists(res.Path, watch))
		t.conn.Unwatch(watch)
		several := zkconn.SetWatches(node.Zxid, []*zkconn.Watch{new(zkconn.Watch).Init("/a", zkconn.WatchData, func(zkconn.WatchEvent) {})}, nil)
		err := t.conn.Do(t.Context(), 0, several)
		t.want(err, zkconn.ErrUnimplemented)
		t.do(exists("/"))
		t.wantStates(state.Connected)
		if n := t.unknown(); n != 1 {
			t.Errorf("it is said %d times", n)
		}
	})
}

// unknown returns how often it was said that the servers do not know all requests.
func (t *fixture) unknown() (n int) {
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.all {
		if e.Kind == zkconn.Unknown {
			n++
		}
	}
	return n
}

// A persistent watch ends two connections of a Keeper that does not know it, and no third one.
func TestPersistentWatchOfKeeper(t *testing.T) {
	onKeeper(t, func(t *fixture) {
		t.open(nil)
		t.do(exists("/"))
		for i := range 3 {
			err := t.conn.Subscribe(t.Context(), subscription())
			if want := zkconn.ErrConnectionLoss; i < 2 {
				t.want(err, want)
			} else {
				t.want(err, zkconn.ErrUnimplemented)
			}
			t.do(exists("/"))
		}
		t.wantStates(state.Connected, state.Suspended, state.Lost, state.Reconnected, state.Suspended, state.Lost, state.Reconnected)
		if n := t.unknown(); n != 2 { // that it is a Keeper, and this
			t.Errorf("it is said %d times", n)
		}
	})
}

// dropping is a server that resumes sessions, and ends connections at create2.
func dropping(t *fixture) {
	server := zkserver.New(zkserver.Config{TickTime: 200 * time.Millisecond, Keeper: zkserver.Keeper{DropUnknown: true}})
	t.Cleanup(func() { _ = server.Close() })
	t.connect("dropping:1", func(context.Context, string, string) (net.Conn, error) {
		client, conn := net.Pipe()
		go server.ServeConn(conn)
		return client, nil
	}, nil)
}

// Two connections that end at create2 are enough: then create is sent in its place.
func TestCreate2EndsConnections(t *testing.T) {
	virtual(t, func(t *fixture) {
		dropping(t)
		t.do(exists("/"))
		for i := range 5 {
			t.do(exists("/"))
			synctest.Wait() // nothing waits for an answer but what follows
			node, res := create("/a", 0)
			err := t.conn.Do(t.Context(), 0, node, exists("/"))
			if i < 2 {
				t.want(err, zkconn.ErrConnectionLoss)
				continue
			}
			if err != nil || (node.Err != nil) != (i > 2) {
				t.Fatal(i, err, node.Err)
			}
			if i == 2 && (res.Path != "/a" || res.Stat.Czxid != node.Zxid) {
				t.Errorf("%+v", res)
			}
		}
		t.wantStates(state.Connected, state.Suspended, state.Reconnected, state.Suspended, state.Reconnected)
		if n := t.unknown(); n != 1 {
			t.Errorf("it is said %d times", n)
		}
	})
}

// A connection that is lost while create2 waits for its answer shows nothing, if a server has answered create2 before.
func TestLossIsNoUnknownRequest(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		first, _ := create("/a", 0)
		t.do(first)
		for range 5 {
			hit := t.server.Inject(curatortest.Rule{Op: "create2", Do: curatortest.CutBefore()})
			node, _ := create("/b", 0)
			t.want(t.conn.Do(t.Context(), 0, node), zkconn.ErrConnectionLoss)
			if !hit() {
				t.Fatal("create2 is not sent any more")
			}
		}
		node, res := create("/b", 0)
		if t.do(node); res.Stat.Ctime == 0 || t.unknown() != 0 {
			t.Errorf("%+v", res.Stat)
		}
	})
}

// Losses ahead of the first answer to create2 have create tried. If that is lost, too, create2 is sent again.
func TestLossesEndTheTrial(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		t.do(exists("/"))
		for _, op := range []string{"create2", "create2", "create"} {
			hit := t.server.Inject(curatortest.Rule{Op: op, Do: curatortest.CutBefore()})
			node, _ := create("/a", 0)
			t.want(t.conn.Do(t.Context(), 0, node), zkconn.ErrConnectionLoss)
			if !hit() {
				t.Fatalf("%s was not sent", op)
			}
		}
		node, res := create("/a", 0)
		if t.do(node); res.Stat.Ctime == 0 || t.unknown() != 0 {
			t.Errorf("%+v", res.Stat)
		}
	})
}

// Timeouts are no ends that a server has made.
func TestSilenceIsNoUnknownRequest(t *testing.T) {
	virtual(t, func(t *fixture) {
		creates := 0
		peer := &script{serve: func(_ int, c net.Conn) {
			c.Write(welcome())
			for {
				xid, op, err := request(c)
				switch {
				case err != nil:
					return
				case op == jute.OpCreate2:
					creates++
					io.Copy(io.Discard, c)
					return
				}
				c.Write(success(xid, op))
			}
		}}
		t.open(func(cfg *zkconn.Config) { cfg.Dial = peer.dial })
		for range 4 {
			node, _ := create("/a", 0)
			t.want(t.conn.Do(t.Context(), 0, node), zkconn.ErrConnectionLoss)
		}
		if creates != 4 {
			t.Errorf("create2 was sent %d times", creates)
		}
	})
}

// A create2 behind a request that was not answered either shows nothing about create2: these are ordinary losses.
func TestLossAheadIsNoUnknownRequest(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		t.do(exists("/"))
		for range 2 {
			hit := t.server.Inject(curatortest.Rule{Op: "exists", Path: "/x", Do: curatortest.CutBefore()})
			node, _ := create("/a", 0)
			t.want(t.conn.Do(t.Context(), 0, exists("/x"), node), zkconn.ErrConnectionLoss)
			if !hit() {
				t.Fatal("the connection has ended at another request")
			}
		}
		node, res := create("/a", 0)
		if t.do(node); res.Stat.Ctime == 0 || t.unknown() != 0 {
			t.Errorf("%+v; said %d times", res.Stat, t.unknown())
		}
	})
}

// A Keeper that has answered addWatch has setWatches2, too: connections that end ahead of that answer are ordinary losses,
// behind which subscriptions are set again.
func TestSubscriptionsOutliveLossesOfKeeper(t *testing.T) {
	virtual(t, func(t *fixture) {
		var set atomic.Int32
		keeper := &script{serve: func(n int, c net.Conn) {
			r := jute.ConnectResponse{TimeOut: int32(timeout / time.Millisecond), SessionID: int64(n + 1), Passwd: make([]byte, 16)}
			c.Write(frame(jute.AppendBool(r.Append(nil), false)))
			for {
				xid, op, err := request(c)
				if op == jute.OpSetWatches2 {
					set.Add(1)
				}
				if err != nil || op == jute.OpExists && n == 0 || op == jute.OpSetWatches2 && n < 3 {
					return
				}
				c.Write(success(xid, op))
			}
		}}
		t.open(func(cfg *zkconn.Config) { cfg.Dial = keeper.dial })
		if err := t.conn.Subscribe(t.Context(), subscription()); err != nil {
			t.Fatal(err)
		}
		t.want(t.conn.Do(t.Context(), 0, exists("/")), zkconn.ErrConnectionLoss)
		time.Sleep(2 * timeout)
		t.do(exists("/"))
		if n, dials := set.Load(), keeper.dials.Load(); n != 3 || dials != 4 {
			t.Errorf("the subscription was set again %d times on %d connections", n, dials-1)
		}
	})
}
