package zkconn_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// A call that is given up while a write before it is stuck says that it was not sent. So it
// never is, although the connection recovers.
func TestWithdrawnBehindAStuckWrite(t *testing.T) {
	virtual(t, func(t *fixture) {
		resume := make(chan struct{})
		var ops []jute.Op
		peer := &script{serve: func(_ int, c net.Conn) {
			c.Write(welcome())
			<-resume // nothing is read: a write does not return
			for {
				xid, op, err := request(c)
				if err != nil {
					return
				}
				ops = append(ops, op)
				c.Write(success(xid, op))
			}
		}}
		t.open(func(cfg *zkconn.Config) { cfg.Dial = peer.dial })
		first := make(chan error, 1)
		go func() { first <- t.conn.Do(t.Context(), 0, exists("/")) }()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		given := make(chan error, 1)
		made, _ := create("/a", 0)
		go func() { given <- t.conn.Do(ctx, 0, made) }()
		synctest.Wait()
		cancel(enough)
		err := <-given
		t.want(err, context.Canceled, enough)
		if sent(err) {
			t.Errorf("%v says that it may have been sent", err)
		}
		close(resume)
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		t.do(exists("/"))
		if slices.Contains(ops, jute.OpCreate2) {
			t.Errorf("it was sent: operations %v", ops)
		}
	})
}

// A session is given up while a server is just about to confirm it. The server's word comes
// too late: locks were lost already, and a session that is over does not come back.
func TestPresumedOverDuringHandshake(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) { cfg.LossPercent = 40 })
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		time.Sleep(timeout / 8)
		t.server.Inject(curatortest.Rule{Op: "createSession", SessionID: session, Do: curatortest.Delay(timeout * 5 / 16)})
		t.server.Disconnect()
		time.Sleep(time.Until(begin.Add(timeout * 2 / 5)))
		_, states := t.took()
		if want := []state.ConnectionState{state.Connected, state.Suspended, state.Lost}; !slices.Equal(states, want) {
			t.Fatalf("states %v, want %v", states, want)
		}
		time.Sleep(timeout)
		if _, ok := t.conn.Deadline(session); ok {
			t.Error("the session is believed in again")
		}
		made, res := create("/a", jute.FlagEphemeral)
		t.do(made)
		if id, _ := t.conn.Session(); id == 0 || id == session || res.Stat.EphemeralOwner != id {
			t.Errorf("session %x after %x, the node's owner is %x", id, session, res.Stat.EphemeralOwner)
		}
		kinds, states := t.took()
		if slices.Contains(kinds, zkconn.SessionEnded) || !slices.Equal(states, []state.ConnectionState{state.Reconnected}) {
			t.Errorf("events %v, states %v", kinds, states)
		}
	})
}

// The next connection is there before the end of the last one was noticed: that is
// a disconnect like any other, and the late notice does no harm.
func TestConnectionIsOvertaken(t *testing.T) {
	virtual(t, func(t *fixture) {
		peer := &script{serve: func(_ int, c net.Conn) { answer(c) }}
		t.open(func(cfg *zkconn.Config) {
			cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if peer.dials.Load() > 0 { // not a third connection as well
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return peer.dial(ctx, network, address)
			}
		})
		watching, events := read("/a")
		t.do(watching)
		session, _ := t.conn.Session()
		t.took()

		near, far := net.Pipe()
		go func() {
			defer far.Close()
			for { // the welcome is over
				xid, op, err := request(far)
				if err != nil {
					return
				}
				if _, err := far.Write(success(xid, op)); err != nil {
					return
				}
			}
		}()
		notice, err := t.conn.Overtake(near)
		if err != nil {
			t.Fatal(err)
		}
		if _, states := t.took(); !slices.Equal(states, []state.ConnectionState{state.Suspended, state.Reconnected}) {
			t.Errorf("states %v", states)
		}
		if again, err := t.conn.Connected(t.Context()); err != nil || again != session {
			t.Errorf("session %x, %v", again, err)
		}
		notice()
		if _, states := t.took(); len(states) != 0 || t.conn.State() != state.Reconnected {
			t.Errorf("states %v after the late notice", states)
		}
		if len(events) != 1 || <-events != zkconn.WatchReset {
			t.Error("a watch of the old connection was not told")
		}
	})
}

// Close comes in the middle of everything: of a handshake, of the end of a connection, of
// an attempt at the next. It always ends, and at once if there is nobody to say goodbye to.
func TestCloseInTheMiddle(t *testing.T) {
	defer bounded()()
	for _, meanwhile := range []func(t *fixture){
		func(*fixture) {},
		func(t *fixture) { synctest.Wait() },
		func(t *fixture) { t.do(exists("/")); t.server.Disconnect() },
		func(t *fixture) { t.do(exists("/")); t.server.Refuse(); t.server.Disconnect() },
		func(t *fixture) { t.do(exists("/")); go t.server.Disconnect() },
		func(t *fixture) { t.do(exists("/")); t.server.Pause() },
		func(t *fixture) { t.server.Pause(); synctest.Wait() },
	} {
		for range 50 {
			virtual(t, func(t *fixture) {
				t.open(nil)
				meanwhile(t)
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				begin := time.Now()
				if err := t.conn.Close(ctx); err != nil {
					t.want(err, zkconn.ErrConnectionLoss)
				}
				if took := time.Since(begin); took > 1500*time.Millisecond {
					t.Errorf("Close took %v", took)
				}
			})
		}
	}
}

// slowly is a context whose Done takes a while: what can happen meanwhile has happened before the caller waits.
type slowly struct {
	context.Context
	meanwhile func()
}

func (c slowly) Done() <-chan struct{} {
	c.meanwhile()
	return c.Context.Done()
}

// TestEndedContexts: a context has ended, and what was not sent by then never is, although there is a connection, or
// comes before the caller sees that the context has ended, and although a turn comes.
func TestEndedContexts(t *testing.T) {
	calls := map[string]func(ctx context.Context, conn *zkconn.Conn) error{
		"Do":         func(ctx context.Context, conn *zkconn.Conn) error { return conn.Do(ctx, 0, exists("/asked")) },
		"DoAtQuorum": func(ctx context.Context, conn *zkconn.Conn) error { return conn.DoAtQuorum(ctx, exists("/asked")) },
		"Subscribe": func(ctx context.Context, conn *zkconn.Conn) error {
			return conn.Subscribe(ctx, zkconn.NewSubscription("/asked", false, func(zkconn.WatchEvent) {}))
		},
		"Connected": func(ctx context.Context, conn *zkconn.Conn) error {
			_, err := conn.Connected(ctx)
			return err
		},
	}
	for _, c := range []struct {
		moment   string
		inFlight int
		of       []string
		begin    func(t *fixture, end func()) (meanwhile func())
	}{
		{moment: "before", of: []string{"Do", "DoAtQuorum", "Subscribe", "Connected"}, begin: func(_ *fixture, end func()) func() {
			end()
			return func() {}
		}},
		{moment: "when a connection comes", of: []string{"Do", "DoAtQuorum", "Subscribe", "Connected"}, begin: func(t *fixture, end func()) func() {
			accept := t.server.Refuse()
			t.server.Disconnect()
			return func() { end(); accept(); time.Sleep(timeout) }
		}},
		{moment: "when a turn comes", inFlight: 1, of: []string{"Subscribe"}, begin: func(t *fixture, end func()) func() {
			resume := t.server.Pause()
			go func() { _ = t.conn.Do(t.Context(), 0, exists("/")) }()
			return func() { end(); resume(); time.Sleep(timeout / 10) }
		}},
	} {
		for _, name := range c.of {
			t.Run(name+" "+c.moment, func(t *testing.T) {
				virtual(t, func(t *fixture) {
					t.open(func(cfg *zkconn.Config) { cfg.MaxInFlight = c.inFlight })
					t.connected()
					sent := t.server.Inject(curatortest.Rule{Path: "/asked", Do: curatortest.Delay(0)})
					for range 10 { // a select takes one of those that are ready at random
						ctx, end := context.WithCancel(t.Context())
						once := sync.OnceFunc(c.begin(t, end))
						synctest.Wait()
						meanwhile := func() {
							once()
							time.Sleep(time.Millisecond)
						}
						t.want(calls[name](slowly{ctx, meanwhile}, t.conn), context.Canceled)
					}
					synctest.Wait()
					if sent() {
						t.Error("it was sent")
					}
				})
			})
		}
	}
}

// TestCallsBelongToTheCaller: with the answer, or the error, a caller gets its list of calls and the calls back, and may
// use them again.
func TestCallsBelongToTheCaller(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) { cfg.MaxBuffer = 8000 }) // which counts ephemeral nodes
		made, _ := create("/large", 0)
		made.Req.(*jute.CreateRequest).Data = make([]byte, 5000) // an answer that would be too large for the driver
		t.do(made)
		for _, path := range []string{"/large", "/missing"} {
			calls := []*zkconn.Call{zkconn.GetData(path, nil)}
			answered := make(chan struct{})
			if _, queued := t.conn.Start(0, func(*zkconn.Flight) {
				*calls[0] = zkconn.Call{Op: jute.OpSetWatches2}
				clear(calls)
				close(answered)
			}, calls...); !queued {
				t.Fatal("there is no connection")
			}
			<-answered
			synctest.Wait()
		}
		if _, states := t.took(); !slices.Equal(states, []state.ConnectionState{state.Connected}) {
			t.Errorf("states %v: the connection has taken an answer for another one", states)
		}

		resume := t.server.Pause()
		ctx, cancel := context.WithTimeout(t.Context(), timeout/10)
		defer cancel()
		given, _ := create("/a", ephemeral)
		calls := []*zkconn.Call{given}
		t.want(t.conn.Do(ctx, 0, calls...), context.DeadlineExceeded)
		clear(calls)
		t.server.Disconnect()
		resume()
		time.Sleep(timeout / 4)
		t.do(exists("/"))
	})
}
