package zkconn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// verdict is what a server does with a client.
type verdict int

const (
	accepts verdict = iota
	refuses
	unreachable
	silent // it answers the connect request, and then nothing
)

// panel is several servers, each with a verdict of its own. They are numbered in the order in which the
// client dials them first.
type panel struct {
	size    int
	refuse  func(c net.Conn)               // serves a connection that is welcome, up to the refusal
	verdict func(server, dial int) verdict // for the nth connection to a server, counted from zero

	sessions atomic.Int64

	mu    sync.Mutex
	order []string // the addresses, as they are numbered
	dials map[string]int
	inUse []net.Conn
}

func (p *panel) addresses() (all []string) {
	for i := range p.size {
		all = append(all, fmt.Sprintf("zk%d:2181", i+1))
	}
	return all
}

func (p *panel) dial(_ context.Context, _, address string) (net.Conn, error) {
	p.mu.Lock()
	if !slices.Contains(p.order, address) {
		p.order = append(p.order, address)
	}
	server, n := slices.Index(p.order, address), p.dials[address]
	p.dials[address]++
	v := p.verdict(server, n)
	p.mu.Unlock()
	if v == unreachable {
		return nil, syscall.ECONNREFUSED
	}
	client, raw := net.Pipe()
	p.mu.Lock()
	p.inUse = append(p.inUse, raw)
	p.mu.Unlock()
	go func() {
		defer raw.Close()
		request, err := readFrame(raw)
		if err != nil {
			return
		}
		if _, err := raw.Write(p.welcome(request)); err != nil {
			return
		}
		switch v {
		case refuses:
			p.refuse(raw)
		case silent:
			for _, err := readFrame(raw); err == nil; {
				_, err = readFrame(raw)
			}
		default:
			serveAll(raw)
		}
	}()
	return client, nil
}

// welcome resumes the session of a connect request, or makes a new one.
func (p *panel) welcome(request []byte) []byte {
	var r jute.ConnectRequest
	r.Decode(jute.NewDecoder(request))
	if r.SessionID == 0 {
		r.SessionID = p.sessions.Add(1)
	}
	res := jute.ConnectResponse{TimeOut: int32(timeout / time.Millisecond), SessionID: r.SessionID, Passwd: password}
	return frame(jute.AppendBool(res.Append(nil), false))
}

// cut ends all connections.
func (p *panel) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.inUse {
		c.Close()
	}
	p.inUse = nil
}

// total returns how often the servers were dialed.
func (p *panel) total() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.dials {
		n += d
	}
	return n
}

// serveAll accepts a token, and answers all other requests with success.
func serveAll(c net.Conn) {
	for {
		xid, op, err := request(c)
		if err != nil {
			return
		}
		reply := success(xid, op)
		if op == jute.OpSASL {
			reply = frame(jute.AppendBuffer((&jute.ReplyHeader{Xid: xid}).Append(nil), []byte("fine")))
		}
		if _, err := c.Write(reply); err != nil {
			return
		}
	}
}

// untilOp answers the requests that come before the first of an operation, any if it is zero, and that one
// with answer.
func untilOp(c net.Conn, op jute.Op, answer func(xid int32) []byte) {
	for {
		xid, got, err := request(c)
		if err != nil {
			return
		}
		if op == 0 || got == op {
			c.Write(frame(answer(xid)))
			io.Copy(io.Discard, c) // the client is to end the connection
			return
		}
		c.Write(success(xid, got))
	}
}

func refusal(code jute.Code) func(xid int32) []byte {
	return func(xid int32) []byte { return (&jute.ReplyHeader{Xid: xid, Err: code}).Append(nil) }
}

// careful is a mechanism that sends a token, and looks at the server's.
func careful(_ context.Context, challenge []byte) ([]byte, bool, error) {
	switch {
	case challenge == nil:
		return []byte("token"), false, nil
	case string(challenge) == "fine":
		return nil, true, nil
	}
	return nil, false, fmt.Errorf("the challenge %q: %w", challenge, zkconn.ErrAuthFailed)
}

// ways are the ways in which a server refuses a client.
var ways = map[string]struct {
	refuse func(c net.Conn)
	change func(cfg *zkconn.Config)
	why    string
}{
	"the token": {
		func(c net.Conn) { untilOp(c, jute.OpSASL, refusal(jute.CodeAuthFailed)) },
		func(cfg *zkconn.Config) { cfg.SASL = always(careful) }, "SASL TEST: refused by the server",
	},
	"without users": { // as a server without a section for SASL: its token is empty
		func(c net.Conn) {
			untilOp(c, jute.OpSASL, func(xid int32) []byte {
				return jute.AppendBuffer((&jute.ReplyHeader{Xid: xid}).Append(nil), []byte{})
			})
		},
		func(cfg *zkconn.Config) { cfg.SASL = always(careful) }, `SASL TEST: the challenge ""`,
	},
	"the credential": {
		func(c net.Conn) { untilOp(c, jute.OpAuth, refusal(jute.CodeAuthFailed)) },
		func(cfg *zkconn.Config) { cfg.Auth = []zkconn.Auth{{Scheme: "digest", Auth: []byte("s3cret")}} },
		`it refuses the credential of the scheme "digest"`,
	},
	"requires SASL": {
		func(c net.Conn) { untilOp(c, 0, refusal(jute.CodeSessionClosedRequireSASLAuth)) },
		nil, "the server serves only clients that authenticate by SASL",
	},
}

// eachWay runs test for each way to refuse, with a client of the panel that test fills in first.
func eachWay(t *testing.T, size int, verdict func(server, dial int) verdict, test func(t *fixture, p *panel, why string)) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				p := &panel{size: size, verdict: verdict, refuse: way.refuse, dials: map[string]int{}}
				t.connect("", p.dial, func(cfg *zkconn.Config) {
					cfg.Servers, cfg.ConnectionTimeout = p.addresses(), timeout
					if way.change != nil {
						way.change(cfg)
					}
				})
				test(t, p, way.why)
			})
		})
	}
}

// outcome repeats a request until it is answered, or the client has given up.
func (t *fixture) outcome() error {
	t.Helper()
	for range 100 {
		call := exists("/")
		err := t.conn.Do(t.Context(), 0, call)
		if err == nil {
			err = call.Err
		}
		if err == nil || errors.Is(err, zkconn.ErrAuthFailed) {
			return err
		}
		if t.want(err, zkconn.ErrConnectionLoss); strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
	t.Fatal("the client does not get on")
	return nil
}

// wantServed wants requests answered, now and behind more connections.
func (t *fixture) wantServed(p *panel) {
	t.Helper()
	for range 4 {
		if err := t.outcome(); err != nil {
			t.Fatalf("the client has given up: %v", err)
		}
		p.cut()
		synctest.Wait()
	}
}

// wantGivenUp wants the client to have given up because of these servers, for ever.
func (t *fixture) wantGivenUp(p *panel, why string, servers ...int) {
	t.Helper()
	err := t.outcome()
	if err == nil {
		t.Fatal("the client was served")
	}
	n := p.total()
	for i, address := range p.order {
		named := strings.Contains(err.Error(), address+": "+why)
		if named != slices.Contains(servers, i) {
			t.Errorf("%v: %s is named: %t", err, address, named)
		}
	}
	<-time.After(10 * timeout)
	t.want(t.conn.Do(t.Context(), 0, exists("/")), zkconn.ErrAuthFailed)
	_, err = t.conn.Connected(t.Context())
	if t.want(err, zkconn.ErrAuthFailed); p.total() != n {
		t.Errorf("the servers were dialed %d times, and then %d times", n, p.total())
	}
	begin := time.Now()
	_ = t.conn.Close(t.Context()) // that it does not know the session's end is right
	if took := time.Since(begin); took > 0 {
		t.Errorf("Close took %v", took)
	}
}

// One server refuses, whichever it is: the others serve the client.
func TestOneServerRefuses(t *testing.T) {
	for bad := range 3 {
		t.Run(fmt.Sprint("server ", bad), func(t *testing.T) {
			eachWay(t, 3, func(server, _ int) verdict {
				if server == bad {
					return refuses
				}
				return accepts
			}, func(t *fixture, p *panel, _ string) { t.wantServed(p) })
		})
	}
}

func TestTwoOfThreeServersRefuse(t *testing.T) {
	eachWay(t, 3, func(server, _ int) verdict {
		if server < 2 {
			return refuses
		}
		return accepts
	}, func(t *fixture, p *panel, _ string) { t.wantServed(p) })
}

// Three of five refuse, and the others have not been tried when they have.
func TestNotYetTriedServersMayAccept(t *testing.T) {
	eachWay(t, 5, func(server, _ int) verdict {
		if server < 3 {
			return refuses
		}
		return accepts
	}, func(t *fixture, p *panel, _ string) { t.wantServed(p) })
}

func TestAllServersRefuse(t *testing.T) {
	eachWay(t, 3, func(int, int) verdict { return refuses }, func(t *fixture, p *panel, why string) {
		t.wantGivenUp(p, why, 0, 1, 2)
		if n := p.total(); n != 3 {
			t.Errorf("%d connections", n)
		}
	})
}

// Servers that cannot be reached have no say.
func TestTheReachableServerRefuses(t *testing.T) {
	eachWay(t, 3, func(server, _ int) verdict {
		if server == 1 {
			return refuses
		}
		return unreachable
	}, func(t *fixture, p *panel, why string) {
		t.wantGivenUp(p, why, 1)
		if n := p.dials[p.order[1]]; n != 3 {
			t.Errorf("%d connections", n)
		}
	})
}

func TestTheOnlyServerRefuses(t *testing.T) {
	eachWay(t, 1, func(int, int) verdict { return refuses }, func(t *fixture, p *panel, why string) {
		t.wantGivenUp(p, why, 0)
		if n := p.total(); n != 3 {
			t.Errorf("%d connections", n)
		}
	})
}

// A success between two and two refusals: they are not three.
func TestSuccessForgetsRefusals(t *testing.T) {
	eachWay(t, 1, func(_, dial int) verdict {
		if dial%3 < 2 {
			return refuses
		}
		return accepts
	}, func(t *fixture, p *panel, _ string) { t.wantServed(p) })
}

// A server that answers the connect request and nothing else may accept the client later.
func TestSilentServerMayAccept(t *testing.T) {
	eachWay(t, 2, func(server, dial int) verdict {
		switch {
		case server == 0:
			return refuses
		case dial < 5:
			return silent
		}
		return accepts
	}, func(t *fixture, p *panel, _ string) { t.wantServed(p) })
}

// Requests that end because a server refuses the client were not applied; the client has not given up, and
// they do not say so.
func TestRefusedForNow(t *testing.T) {
	eachWay(t, 2, func(server, _ int) verdict {
		if server == 0 {
			return refuses
		}
		return silent
	}, func(t *fixture, p *panel, why string) {
		for range 20 {
			err := t.conn.Do(t.Context(), 0, set("/"))
			t.want(err, zkconn.ErrConnectionLoss)
			if errors.Is(err, zkconn.ErrAuthFailed) {
				t.Fatalf("the client has given up: %v", err)
			}
			if strings.Contains(err.Error(), why) && sent(err) {
				t.Errorf("%v: it was sent", err)
			}
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if !slices.ContainsFunc(t.events, func(e zkconn.Event) bool { return e.Err != nil && strings.Contains(e.Err.Error(), why) }) {
			t.Error("no event says why")
		}
	})
}

// Close ends at once while servers refuse the client.
func TestCloseWhileRefused(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, timeout / 2, 3 * timeout} {
		eachWay(t, 2, func(server, _ int) verdict {
			if server == 0 {
				return refuses
			}
			return silent
		}, func(t *fixture, _ *panel, _ string) {
			<-time.After(after)
			synctest.Wait() // a driver that ends in the moment in which it is asked to waits for a second
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			begin := time.Now()
			_ = t.conn.Close(ctx) // that it does not know the session's end is right
			if took := time.Since(begin); took > 0 {
				t.Errorf("Close took %v", took)
			}
		})
	}
}

// Servers of a new list have not been tried yet.
func TestNewServersMayAccept(t *testing.T) {
	eachWay(t, 2, func(server, dial int) verdict {
		switch {
		case server < 2 && dial > 0:
			return unreachable
		case server < 2 || server == 2 && dial < 2:
			return refuses
		}
		return accepts
	}, func(t *fixture, p *panel, _ string) {
		<-time.After(timeout)
		t.conn.SetServers([]string{"third:2181", "fourth:2181"})
		t.wantServed(p)
	})
}
