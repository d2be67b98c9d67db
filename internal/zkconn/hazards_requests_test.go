package zkconn_test

import (
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestA6RequestCrossesSessions: a request that waits for a connection when its session ends
// is sent on the next one. An ephemeral node belongs to a session then that nobody meant.
func TestA6RequestCrossesSessions(t *testing.T) {
	bare(t, func(t *testing.T, server *curatortest.Server) {
		release := make(chan struct{})
		conn, _ := driver(t, timeout, heldUp(server.DialContext, release))
		first := withSession(conn)
		server.Disconnect()
		synctest.Wait()
		done := make(chan error, 1)
		go func() {
			_, err := conn.Create("/mine", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			done <- err
		}()
		synctest.Wait()
		server.ExpireSession(first)
		close(release)
		if err := <-done; err != nil || withSession(conn) == first {
			t.Fatalf("error %v, session %x after %x", err, conn.SessionID(), first)
		}
		if _, ok := server.Get("/mine"); !ok {
			t.Fatal("the create was not sent on the next session")
		}
	})
	ours(t, func(t *fixture) {
		release := make(chan struct{})
		t.open(func(cfg *zkconn.Config) { cfg.Dial = heldUp(t.server.DialContext, release) })
		first, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.server.Disconnect()
		synctest.Wait()
		done := make(chan error, 1)
		made, _ := create("/mine", jute.FlagEphemeral)
		go func() { done <- t.conn.Do(t.Context(), first, made) }()
		synctest.Wait()
		t.server.ExpireSession(first)
		close(release)
		t.want(<-done, zkconn.ErrSessionExpired)
		t.do(exists("/"))
		if _, ok := t.server.Get("/mine"); ok {
			t.Fatal("the create was sent on the next session")
		}
	})
}

// TestA7ReadOvertakesWatches: on a new connection the driver sends the reads that wait
// ahead of the request that puts the watches back. Such a read sees new data before the
// watch tells of it, which ZooKeeper promises not to happen. Ours says first that the watch
// is gone.
func TestA7ReadOvertakesWatches(t *testing.T) {
	t.Run("driver", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var ops []jute.Op // of the second connection
			release, cut := make(chan struct{}), make(chan struct{})
			peer := &script{serve: func(n int, c net.Conn) {
				if n == 0 {
					go func() { <-cut; c.Close() }()
					answer(c)
					return
				}
				c.Write(welcome())
				var replies []byte
				for range 2 { // the driver has a data race if the first is answered before the second is sent
					xid, op, err := request(c)
					if err != nil {
						return
					}
					ops = append(ops, op)
					replies = append(replies, success(xid, op)...)
				}
				c.Write(replies)
				io.Copy(io.Discard, c)
			}}
			conn, _ := driver(t, timeout, heldUp(peer.dial, release))
			if _, _, _, err := conn.GetW("/a"); err != nil {
				t.Fatal(err)
			}
			close(cut)
			synctest.Wait()
			done := make(chan error, 1)
			go func() {
				_, _, err := conn.Get("/a")
				done <- err
			}()
			synctest.Wait()
			close(release)
			if err := <-done; err != nil || !slices.Equal(ops, []jute.Op{jute.OpGetData, jute.OpSetWatches}) {
				t.Fatalf("error %v, operations %v", err, ops)
			}
		})
	})
	ours(t, func(t *fixture) {
		release := make(chan struct{})
		t.open(func(cfg *zkconn.Config) { cfg.Dial = heldUp(t.server.DialContext, release) })
		made, _ := create("/a", 0)
		watching, events := read("/a")
		t.do(made, watching)
		t.server.Disconnect()
		synctest.Wait()
		done := make(chan int, 1)
		go func() {
			t.do(exists("/a"))
			done <- len(events) // what was told when the answer came
		}()
		synctest.Wait()
		close(release)
		if told := <-done; told != 1 || <-events != zkconn.WatchReset {
			t.Fatalf("%d events were told before the read was answered", told)
		}
	})
}

// TestA8ProtectedCreatePanics: the driver's search for a node whose create was not answered
// panics, in the caller, if a sibling's name begins as a protected one does and is short.
func TestA8ProtectedCreatePanics(t *testing.T) {
	bare(t, func(t *testing.T, server *curatortest.Server) {
		conn, _ := driver(t, timeout, server.DialContext)
		for _, path := range []string{"/lock", "/lock/_c_short"} {
			if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				t.Fatal(err)
			}
		}
		server.Inject(curatortest.Rule{Op: "create", Do: curatortest.CutBefore()})
		defer func() {
			if p := recover(); p == nil {
				t.Error("the driver has found its way")
			}
			withSession(conn)
		}()
		conn.CreateProtectedEphemeralSequential("/lock/lock-", nil, zk.WorldACL(zk.PermAll))
	})
}

// TestA10LockIsGrantedTwice: the driver's lock compares the server's numbers as if they
// had no end. Behind the last one it lets a second holder in.
func TestA10LockIsGrantedTwice(t *testing.T) {
	bare(t, func(t *testing.T, server *curatortest.Server) {
		conn, _ := driver(t, timeout, server.DialContext)
		holder := "/lock/_c_0123456789abcdef0123456789abcdef-lock-2147483647"
		for _, path := range []string{"/lock", holder} {
			if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				t.Fatal(err)
			}
		}
		server.SetSequence("/lock", -1<<31)
		lock := zk.NewLock(conn, "/lock", zk.WorldACL(zk.PermAll))
		if err := lock.Lock(); err != nil {
			t.Fatalf("the lock was refused: %v", err)
		}
		if _, held := server.Get(holder); !held {
			t.Fatal("the first holder is gone")
		}
	})
}

// TestA11LargeRequest: the driver sends a request that the server does not take. The server
// closes the connection, and the requests of everybody else fail with it.
func TestA11LargeRequest(t *testing.T) {
	large := make([]byte, 1<<20+1)
	slow := curatortest.Rule{Op: "exists", Do: curatortest.Delay(time.Second)}
	bare(t, func(t *testing.T, server *curatortest.Server) {
		conn, _ := driver(t, timeout, server.DialContext)
		withSession(conn)
		server.Inject(slow)
		neighbour := make(chan error, 1)
		go func() {
			_, _, err := conn.Exists("/")
			neighbour <- err
		}()
		synctest.Wait()
		if _, err := conn.Create("/large", large, 0, zk.WorldACL(zk.PermAll)); err == nil {
			t.Error("the server has taken it")
		}
		if err := <-neighbour; !errors.Is(err, zk.ErrConnectionClosed) {
			t.Errorf("the neighbour's error is %v", err)
		}
		withSession(conn)
	})
	ours(t, func(t *fixture) {
		t.open(nil)
		t.do(exists("/"))
		t.server.Inject(slow)
		neighbour := make(chan error, 1)
		go func() { neighbour <- t.conn.Do(t.Context(), 0, exists("/")) }()
		synctest.Wait()
		begin := time.Now()
		err := t.conn.Do(t.Context(), 0, &zkconn.Call{Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: "/", Data: large}})
		t.want(err, zkconn.ErrTooLarge)
		if err := <-neighbour; err != nil || sent(err) || time.Since(begin) != time.Second {
			t.Errorf("the neighbour's error is %v, after %v", err, time.Since(begin))
		}
		if _, states := t.took(); !slices.Equal(states, []state.ConnectionState{state.Connected}) {
			t.Errorf("states %v", states)
		}
	})
}
