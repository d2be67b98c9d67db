package zkconn_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// A real server answers credentials at once, ahead of writes that it has yet to log. What was
// sent before does not have them, what is sent behind does.
func TestAddAuthBetweenRequests(t *testing.T) {
	server := curatortest.Real(t)
	f := &fixture{T: t}
	f.connect(server.ConnectString(), new(net.Dialer).DialContext, func(c *zkconn.Config) {
		c.SessionTimeout, c.ConnectionTimeout = 20*time.Second, 20*time.Second
	})
	creator := []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "auth"}}}
	create := func(i int) *zkconn.Call {
		return &zkconn.Call{Op: jute.OpCreate, Res: &jute.CreateResponse{}, Req: &jute.CreateRequest{
			Path: fmt.Sprint("/auth", i), ACL: creator,
		}}
	}
	if _, err := f.conn.Connected(t.Context()); err != nil {
		t.Fatal(err)
	}
	var before []*zkconn.Call
	for i := range 100 {
		before = append(before, create(i))
	}
	flight, queued := f.conn.Start(0, nil, before...)
	if err := f.conn.AddAuth(t.Context(), zkconn.Auth{Scheme: "digest", Auth: []byte("a:b")}); err != nil || !queued {
		t.Fatal(err)
	}
	behind := create(100)
	if err := f.conn.Do(t.Context(), 0, behind); err != nil || behind.Err != nil {
		t.Errorf("create with a credential: %v, %v", err, behind.Err)
	}
	if err := flight.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, call := range before {
		f.want(call.Err, zkconn.ErrInvalidACL)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.events {
		if e.State == state.Suspended {
			t.Error("the connection was lost")
		}
	}
}

// The answer to a credential may be early; that to anything else may not.
func TestEarlyAnswers(t *testing.T) {
	for _, early := range []jute.Op{jute.OpAuth, jute.OpExists} {
		virtual(t, func(t *fixture) {
			t.open(func(cfg *zkconn.Config) {
				cfg.Dial = hijack(func(c net.Conn) {
					c.Write(welcome())
					var xids []int32
					for len(xids) < 3 {
						request, err := readFrame(c)
						if err != nil {
							return
						}
						d := jute.NewDecoder(request)
						if xids = append(xids, d.Int32()); len(xids) == 3 {
							xids = []int32{xids[2], xids[0], xids[1]}
						}
					}
					for _, xid := range xids {
						c.Write(frame(append((&jute.ReplyHeader{Xid: xid}).Append(nil), make([]byte, 80)...)))
					}
					io.Copy(io.Discard, c)
				})
			})
			if _, err := t.conn.Connected(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.conn.Unuse() // no beats between
			flight, _ := t.conn.Start(0, nil, exists("/a"), exists("/b"))
			if early == jute.OpAuth {
				if err := t.conn.AddAuth(t.Context(), zkconn.Auth{Scheme: "digest"}); err != nil {
					t.Error(err)
				}
				if err := flight.Wait(t.Context()); err != nil {
					t.Error(err)
				}
				return
			}
			t.want(t.conn.Do(t.Context(), 0, exists("/c")), zkconn.ErrConnectionLoss)
			t.want(flight.Wait(t.Context()), zkconn.ErrConnectionLoss)
		})
	}
}

// What is formatted or logged does not tell a credential.
func TestAuthIsNotShown(t *testing.T) {
	a := zkconn.Auth{Scheme: "digest", Auth: []byte("s3cret")}
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("config", "auth", a, "config", zkconn.Config{Auth: []zkconn.Auth{a}})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, v := range []any{a, &a, []zkconn.Auth{a}, zkconn.Config{Auth: []zkconn.Auth{a}}} {
			fmt.Fprintf(&log, verb+"\n", v)
		}
	}
	for _, shown := range []string{"s3cret", fmt.Sprintf("%x", "s3cret"), fmt.Sprintf("%X", "s3cret"), fmt.Sprintf("%d", []byte("s3cret"))} {
		if strings.Contains(log.String(), shown) {
			t.Errorf("it shows %s:\n%s", shown, &log)
		}
	}
}

// Servers answer credentials by themselves, and do not take them for a sign of life: the session
// is lost although they are answered.
func TestCredentialsDoNotRenew(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) {
			cfg.Dial = hijack(func(c net.Conn) {
				c.Write(welcome())
				for {
					request, err := readFrame(c)
					if err != nil {
						return
					}
					d := jute.NewDecoder(request)
					if xid, op := d.Int32(), d.Int32(); op == jute.OpAuth {
						c.Write(frame((&jute.ReplyHeader{Xid: xid}).Append(nil)))
					}
				}
			})
		})
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		deadline, _ := t.conn.Deadline(session)
		for i := range 7 {
			if err := t.conn.AddAuth(t.Context(), zkconn.Auth{Scheme: "digest", Auth: []byte{byte(i)}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(timeout / 8)
		}
		if now, _ := t.conn.Deadline(session); !now.Equal(deadline) {
			t.Errorf("the deadline moved from %v to %v", deadline, now)
		}
		time.Sleep(timeout/8 + time.Millisecond)
		if _, states := t.took(); len(states) < 3 || states[2] != state.Lost {
			t.Errorf("states %v", states)
		}
	})
}

// An answer to credentials that is neither yes nor no ends the connection, and not the client.
func TestCredentialsNotTaken(t *testing.T) {
	virtual(t, func(t *fixture) {
		peer := &script{serve: func(n int, c net.Conn) {
			if n > 0 {
				answer(c)
				return
			}
			c.Write(welcome())
			if xid, _, err := request(c); err == nil {
				c.Write(frame((&jute.ReplyHeader{Xid: xid, Err: jute.CodeSystemError}).Append(nil)))
			}
			io.Copy(io.Discard, c)
		}}
		t.open(func(cfg *zkconn.Config) {
			cfg.Dial = peer.dial
			cfg.Auth = []zkconn.Auth{{Scheme: "digest", Auth: []byte("user:password")}}
		})
		time.Sleep(timeout)
		t.do(exists("/"))
	})
}

func TestCredentialsRejected(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) { cfg.Auth = []zkconn.Auth{{Scheme: "nonsense"}} })
		for range 2 { // after three refusals, for ever
			t.want(t.outcome(), zkconn.ErrAuthFailed)
			time.Sleep(timeout)
		}
	})
}
