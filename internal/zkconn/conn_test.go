package zkconn_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

const timeout = 4 * time.Second

// fixture is a connection to a virtual server.
type fixture struct {
	*testing.T
	server *curatortest.Server
	conn   *zkconn.Conn

	mu     sync.Mutex
	events []zkconn.Event
	all    []zkconn.Event // also those that took has returned
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// virtual runs test in virtual time, in which everything that can happen has happened
// when synctest.Wait returns.
func virtual(t *testing.T, test func(t *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t, server: curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(200*time.Millisecond))}
		test(f)
	})
}

func (t *fixture) open(change func(*zkconn.Config)) {
	t.Helper()
	t.connect(t.server.ConnectString(), t.server.DialContext, change)
}

func (t *fixture) connect(server string, dial dialFunc, change func(*zkconn.Config)) {
	t.Helper()
	cfg := zkconn.Config{
		Servers: []string{server}, SessionTimeout: timeout, ConnectionTimeout: 2 * timeout,
		LossPercent: 100, MaxRequest: 1 << 20, MaxReply: 16 << 20, Dial: dial,
		Logger: slog.New(slog.DiscardHandler),
		OnEvent: func(e zkconn.Event) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.events, t.all = append(t.events, e), append(t.all, e)
		},
	}
	if change != nil {
		change(&cfg)
	}
	conn, err := zkconn.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.conn = conn
	conn.Use() // as one that holds a lock
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // what it says is the business of the tests of Close
	})
}

// took returns the events so far, and forgets them.
func (t *fixture) took() (kinds []zkconn.EventKind, states []state.ConnectionState) {
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.events {
		if e.Kind == zkconn.Asked {
			continue
		}
		kinds = append(kinds, e.Kind)
		if e.Kind == zkconn.StateChanged {
			states = append(states, e.State)
		}
	}
	t.events = nil
	return kinds, states
}

func (t *fixture) want(err error, wants ...error) {
	t.Helper()
	for _, want := range wants {
		if !errors.Is(err, want) {
			t.Fatalf("error %v, want one that matches %v", err, want)
		}
	}
}

func sent(err error) bool {
	var transport *zkconn.TransportError
	return errors.As(err, &transport) && transport.Sent
}

func exists(path string) *zkconn.Call {
	return &zkconn.Call{Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: path}, Res: &jute.StatResponse{}}
}

func create(path string, flags int32) (*zkconn.Call, *jute.Create2Response) {
	res := &jute.Create2Response{}
	return &zkconn.Call{Op: jute.OpCreate2, Res: res, Req: &jute.CreateRequest{
		Path: path, Flags: flags, ACL: []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "world", ID: "anyone"}}},
	}}, res
}

// Several requests travel in one write and see each other.
func TestPipeline(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		made, res := create("/a-", jute.FlagEphemeral|jute.FlagSequential)
		var children jute.GetChildren2Response
		list := &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: "/"}, Res: &children}
		missing := exists("/missing")
		if err := t.conn.Do(t.Context(), 0, made, list, missing); err != nil {
			t.Fatal(err)
		}
		session, negotiated := t.conn.Session()
		if res.Stat.EphemeralOwner != session || made.Session != session || negotiated != timeout {
			t.Fatalf("owner %x, session %x, timeout %v", res.Stat.EphemeralOwner, session, negotiated)
		}
		if len(children.Children) != 2 || list.Zxid != made.Zxid {
			t.Fatalf("children %q", children.Children)
		}
		t.want(missing.Err, zkconn.ErrNoNode, zk.ErrNoNode)
	})
}

// The state machine's events, in order, for what befalls a session.
func TestStates(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		check := func(what string, want ...state.ConnectionState) {
			t.Helper()
			_, states := t.took()
			if len(states) != len(want) {
				t.Fatalf("%s: %v, want %v", what, states, want)
			}
			for i := range want {
				if states[i] != want[i] {
					t.Fatalf("%s: %v, want %v", what, states, want)
				}
			}
		}
		check("connected", state.Connected)
		t.server.Disconnect()
		time.Sleep(time.Second)
		check("disconnected", state.Suspended, state.Reconnected)
		first, _ := t.conn.Session()
		t.server.ExpireSession(first)
		time.Sleep(time.Second)
		check("expired", state.Suspended, state.Lost, state.Reconnected)
		accept := t.server.Refuse()
		t.server.Disconnect()
		time.Sleep(10 * timeout)
		check("no server for long", state.Suspended, state.Lost)
		accept()
		time.Sleep(5 * time.Second)
		check("a server again", state.Reconnected)
		if second, _ := t.conn.Session(); second == first || second == 0 {
			t.Fatalf("session %x after %x", second, first)
		}
		time.Sleep(10 * time.Minute)
		check("ten minutes of nothing")
	})
}

// A call for one session never acts on the next.
func TestSessionBinding(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		accept := t.server.Refuse()
		t.server.ExpireSession(session)
		synctest.Wait()
		done := make(chan error, 1)
		made, _ := create("/late", 0)
		go func() { done <- t.conn.Do(t.Context(), session, made) }() // queued before the end is known
		synctest.Wait()
		accept()
		err = <-done
		t.want(err, zkconn.ErrSessionExpired)
		if sent(err) || t.server.Children("/late") != nil || made.Session != 0 {
			t.Fatalf("it was sent: %v", err)
		}
		if _, ok := t.server.Get("/late"); ok {
			t.Fatal("it was applied")
		}
	})
}

// A context that ends before the call is sent leaves nothing behind; one that ends later
// leaves a doubt.
func TestContexts(t *testing.T) {
	virtual(t, func(t *fixture) {
		accept := t.server.Refuse()
		t.open(nil)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		made, _ := create("/a", 0)
		err := t.conn.Do(ctx, 0, made)
		t.want(err, context.DeadlineExceeded)
		if sent(err) {
			t.Fatalf("%v was sent", err)
		}
		accept()
		time.Sleep(timeout)
		if _, ok := t.server.Get("/a"); ok {
			t.Fatal("a call that was given up has acted")
		}

		resume := t.server.Pause()
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		made, _ = create("/a", 0)
		err = t.conn.Do(ctx, 0, made)
		t.want(err, context.DeadlineExceeded)
		if !sent(err) {
			t.Fatalf("%v was not sent", err)
		}
		resume()
		synctest.Wait()
		if _, ok := t.server.Get("/a"); !ok {
			t.Fatal("the call did not arrive")
		}
		err = t.conn.Do(ctx, 0, exists("/")) // one that has ended already sends nothing
		t.want(err, context.DeadlineExceeded)
	})
}

func TestLostReplies(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		for _, c := range []struct {
			fate    curatortest.Fate
			applied bool
		}{{curatortest.CutBefore(), false}, {curatortest.CutAfter(), true}} {
			hit := t.server.Inject(curatortest.Rule{Op: "create", Do: c.fate})
			made, _ := create("/a", 0)
			err := t.conn.Do(t.Context(), 0, made)
			t.want(err, zkconn.ErrConnectionLoss, zk.ErrConnectionClosed)
			if _, ok := t.server.Get("/a"); !hit() || !sent(err) || ok != c.applied {
				t.Fatalf("hit %t, sent %t, applied %t", hit(), sent(err), ok)
			}
		}
	})
}

// What is too large is refused here: the server would drop everybody's connection.
func TestTooLarge(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		big := &zkconn.Call{Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: "/", Data: make([]byte, 1<<20)}}
		err := t.conn.Do(t.Context(), 0, exists("/"), big)
		t.want(err, zkconn.ErrTooLarge)
		if _, states := t.took(); len(states) != 1 {
			t.Fatalf("states %v: the connection was lost", states)
		}
	})
}

// Neither answers to reads nor events that the server pushes move the deadline (S4), which is
// reported when it passes.
func TestDeadline(t *testing.T) {
	virtual(t, func(t *fixture) {
		var mute atomic.Bool
		t.open(func(cfg *zkconn.Config) {
			cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := t.server.DialContext(ctx, network, address)
				return mutable{c, &mute}, err
			}
		})
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		other := t.server.Client(t)
		watched := make(chan zkconn.WatchEvent, 1)
		call := exists("/pushed")
		call.Req = &jute.PathWatchRequest{Path: "/pushed", Watch: true}
		call.Watch = zkconn.NewWatch("/pushed", zkconn.WatchData, func(e zkconn.WatchEvent) { watched <- e })
		created := time.Now()
		time.Sleep(timeout / 8)
		if err := t.conn.Do(t.Context(), session, call); err != nil {
			t.Fatal(err)
		}
		t.took()
		deadline, ok := t.conn.Deadline(session)
		if want := created.Add(timeout * 7 / 8); !ok || !deadline.Equal(want) {
			t.Fatalf("deadline %v, want %v", deadline, want)
		}
		// Nothing reaches the server from now on, but it still reaches us.
		mute.Store(true)
		time.Sleep(timeout / 4)
		if _, err := other.Create().ForPath(t.Context(), "/pushed"); err != nil {
			t.Fatal(err)
		}
		<-watched
		if again, _ := t.conn.Deadline(session); !again.Equal(deadline) {
			t.Fatalf("an event moved the deadline to %v", again)
		}
		time.Sleep(time.Until(deadline) - time.Millisecond)
		if kinds, _ := t.took(); len(kinds) != 0 {
			t.Fatalf("events %v before the deadline", kinds)
		}
		time.Sleep(time.Millisecond)
		if kinds, _ := t.took(); len(kinds) == 0 || kinds[0] != zkconn.DeadlinePassed {
			t.Fatalf("events %v at the deadline", kinds)
		}
	})
}

// mutable is a connection whose writes can be lost.
type mutable struct {
	net.Conn
	mute *atomic.Bool
}

func (m mutable) Write(p []byte) (int, error) {
	if m.mute.Load() && len(p) > 0 {
		return len(p), nil
	}
	return m.Conn.Write(p)
}

// hijack answers handshakes by itself, and then does as serve says.
func hijack(serve func(c net.Conn)) dialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			if _, err := readFrame(server); err == nil {
				serve(server)
			}
		}()
		return client, nil
	}
}

func readFrame(r io.Reader) ([]byte, error) {
	frame := make([]byte, 4)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, err
	}
	frame = make([]byte, binary.BigEndian.Uint32(frame))
	_, err := io.ReadFull(r, frame)
	return frame, err
}

func frame(payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...)
}

// password is what ZooKeeper's sessions have, and ClickHouse Keeper's have not.
var password = []byte("a password of 16")

func welcome() []byte { return welcomeWith(password) }

func welcomeWith(password []byte) []byte {
	r := jute.ConnectResponse{TimeOut: int32(timeout / time.Millisecond), SessionID: 7, Passwd: password}
	return frame(jute.AppendBool(r.Append(nil), false))
}

// The driver crashes the process on a frame shorter than a header.
func TestShortFrame(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) {
			cfg.Dial = hijack(func(c net.Conn) {
				c.Write(welcome())
				readFrame(c)
				c.Write(frame(make([]byte, 8)))
				io.Copy(io.Discard, c)
			})
		})
		err := t.conn.Do(t.Context(), 0, exists("/"))
		t.want(err, zkconn.ErrConnectionLoss)
	})
}

// The driver waits for ever for a server that begins its greeting and stalls, and for
// several session timeouts for one that says nothing.
func TestHandshakeStall(t *testing.T) {
	for name, say := range map[string][]byte{"silent": nil, "stalls": {0, 0, 0, 37}} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				good := t.server.DialContext
				bad := hijack(func(c net.Conn) {
					c.Write(say)
					io.Copy(io.Discard, c)
				})
				t.open(func(cfg *zkconn.Config) {
					cfg.Servers = []string{"bad:1", "good:1"}
					cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
						if address == "bad:1" {
							return bad(ctx, network, address)
						}
						return good(ctx, network, address)
					}
				})
				begin := time.Now()
				if err := t.conn.Do(t.Context(), 0, exists("/")); err != nil {
					t.Fatal(err)
				}
				if d := time.Since(begin); d > timeout/3 {
					t.Fatalf("it took %v", d)
				}
			})
		})
	}
}

// Something else answers on the port.
func TestNotZooKeeper(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) {
			cfg.ConnectionTimeout = time.Second
			cfg.Dial = hijack(func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") })
		})
		err := t.conn.Do(t.Context(), 0, exists("/"))
		t.want(err, zkconn.ErrConnectionLoss)
		if sent(err) || !strings.Contains(err.Error(), "does not answer as ZooKeeper does") {
			t.Fatalf("error %v", err)
		}
	})
}

// An answer out of order means that the stream cannot be relied upon.
func TestAnswerOutOfOrder(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) {
			cfg.Dial = hijack(func(c net.Conn) {
				c.Write(welcome())
				readFrame(c)
				c.Write(frame((&jute.ReplyHeader{Xid: -9999}).Append(nil)))
				io.Copy(io.Discard, c)
			})
		})
		err := t.conn.Do(t.Context(), 0, exists("/"))
		t.want(err, zkconn.ErrConnectionLoss)
	})
}
