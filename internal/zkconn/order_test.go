package zkconn_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// stream records what one user of a connection is told, in order.
type stream struct {
	*fixture
	mu   sync.Mutex
	told []any // zkconn.WatchEvent, zkconn.EventType of an observer, or *zkconn.Call
}

func (s *stream) add(what any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, what)
}

// text returns what was told: events and calls by their paths, failed calls as "lost".
func (s *stream) text() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, what := range s.told {
		switch what := what.(type) {
		case zkconn.WatchEvent:
			if what.Type < zkconn.WatchReset {
				all = append(all, "event "+what.Path)
			}
		case zkconn.EventType:
			all = append(all, map[zkconn.EventType]string{
				zkconn.WatchSuspended: "suspended", zkconn.WatchReset: "reset", zkconn.WatchClosed: "closed",
			}[what])
		case *zkconn.Call:
			if what.Err != nil {
				all = append(all, "lost "+path(what))
			} else {
				all = append(all, "reply "+path(what))
			}
		}
	}
	return all
}

func path(c *zkconn.Call) string { return c.Req.(*jute.PathWatchRequest).Path }

// get starts a read, whose reply is recorded after then has returned. One that cannot be sent is not recorded.
func (s *stream) get(path string, then func()) {
	call := &zkconn.Call{Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: path}, Res: &jute.GetDataResponse{}}
	flight, queued := s.conn.Start(0, func(f *zkconn.Flight) {
		if then != nil {
			then()
		}
		_ = f.Result() // call.Err
		s.add(call)
	}, call)
	if !queued { // it has no place in the order
		_ = flight.Result()
	}
}

// streaming runs test with a recursive watch on everything and the nodes /a and /b.
func streaming(t *testing.T, test func(s *stream)) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		t.make("/a", "/b")
		s := &stream{fixture: t}
		if _, connected := t.conn.Observe(func(e zkconn.EventType) { s.add(e) }); !connected {
			t.Fatal("no connection")
		}
		sub := zkconn.NewSubscription("/", true, func(e zkconn.WatchEvent) { s.add(e) })
		if err := t.conn.Subscribe(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		test(s)
	})
}

// other opens a second connection to the server.
func (s *stream) other() *zkconn.Conn {
	other := &fixture{T: s.T, server: s.server}
	other.open(nil)
	return other.conn
}

func (s *stream) wantStream(want ...string) {
	s.Helper()
	if got := s.text(); !slices.Equal(got, want) {
		s.Errorf("told %q, want %q", got, want)
	}
}

// A goroutine that ends the connection does not overtake the reader, which is just telling of a
// reply: the replies that fail with the connection come behind that one.
func TestOrderOfLostReplies(t *testing.T) {
	streaming(t, func(s *stream) {
		s.server.Inject(curatortest.Rule{Op: "getData", Path: "/b", Do: curatortest.Delay(time.Minute)})
		resume := s.server.Pause()
		s.get("/a", func() {
			go s.conn.SetServers([]string{"elsewhere:1"})
			synctest.Wait()
		})
		s.get("/b", nil)
		synctest.Wait() // both are sent
		resume()
		time.Sleep(time.Second)
		s.wantStream("suspended", "reply /a", "lost /b", "reset")
	})
}

// While replies are told that fail with a connection, there is no next one: WatchReset comes
// behind them, and ahead of everything that follows.
func TestOrderOfConnections(t *testing.T) {
	streaming(t, func(s *stream) {
		id, _ := s.conn.Session()
		heal := s.server.PartitionSession(id, curatortest.ToServer)
		s.get("/b", func() { time.Sleep(time.Second) })
		synctest.Wait()
		go s.conn.SetServers([]string{"elsewhere:1"}) // ends the connection
		time.Sleep(time.Second / 2)
		heal()
		s.conn.SetServers([]string{s.server.ConnectString()})
		synctest.Wait()
		s.wantStream("suspended")
		time.Sleep(5 * time.Second)
		s.get("/a", nil)
		synctest.Wait()
		s.wantStream("suspended", "lost /b", "reset", "reply /a")
	})
}

// A reply shows exactly those changes whose events came before it, while others write and
// connections end; nothing of a former connection comes behind the reset.
func TestRepliesAndEventsInOrder(t *testing.T) {
	streaming(t, func(s *stream) {
		writer := s.other()
		random := rand.New(rand.NewPCG(1, 1))
		ctx, stop := context.WithCancel(s.Context())
		var writing sync.WaitGroup
		writing.Go(func() {
			for n := uint64(1); ctx.Err() == nil; n++ {
				set := setData("/a")
				set.Req.(*jute.SetDataRequest).Data = binary.BigEndian.AppendUint64(nil, n)
				_ = writer.Do(ctx, 0, set)
				time.Sleep(time.Duration(n*7%30) * time.Millisecond / 10)
			}
		})
		for range 300 {
			for range random.IntN(4) {
				s.get("/a", nil)
			}
			time.Sleep(time.Duration(random.Int64N(int64(5 * time.Millisecond))))
			if random.IntN(20) == 0 {
				s.server.Disconnect()
			}
		}
		stop()
		writing.Wait()
		time.Sleep(2 * timeout)
		s.verify()
	})
}

// verify looks at what was told of the versions of /a.
func (s *stream) verify() {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var version uint64 // as the last reply and the events since have it; 0 if not known
	connected, replies, resets := true, 0, 0
	for i, what := range s.told {
		switch what := what.(type) {
		case zkconn.EventType:
			if connected = what == zkconn.WatchReset; connected {
				version = 0
				resets++
			}
		case zkconn.WatchEvent:
			if what.Type == zkconn.NodeDataChanged && version > 0 {
				version++
			}
		case *zkconn.Call:
			res := what.Res.(*jute.GetDataResponse)
			switch {
			case what.Err != nil && connected:
				s.Fatalf("%d: a lost reply of a former connection", i)
			case what.Err != nil || len(res.Data) == 0:
			default:
				replies++
				if got := binary.BigEndian.Uint64(res.Data); version != 0 && got != version {
					s.Fatalf("%d: a reply with version %d, %d by the events before it", i, got, version)
				}
				version = binary.BigEndian.Uint64(res.Data)
			}
		}
	}
	if replies < 20 || resets < 2 {
		s.Error(fmt.Sprint("too little was tried: ", replies, " replies, ", resets, " resets"))
	}
}

// Result says why calls cannot be sent, and that they were not.
func TestResultOfRefused(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		t.make("/a")
		refused := func(c *zkconn.Call, want error) {
			t.Helper()
			flight, queued := t.conn.Start(0, nil, c)
			if queued {
				t.Fatal("queued")
			}
			err := flight.Result()
			t.want(err, want)
			if sent(err) || c.Err == nil {
				t.Errorf("sent %t, the call has %v", sent(err), c.Err)
			}
		}
		refused(&zkconn.Call{Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: "/a", Data: make([]byte, 2<<20)}}, zkconn.ErrTooLarge)
		t.server.Refuse()
		t.server.Disconnect()
		synctest.Wait()
		refused(exists("/a"), zkconn.ErrConnectionLoss)
		_ = t.conn.Close(t.Context())
		refused(exists("/a"), zkconn.ErrClosed)
	})
}

// A server before 3.6 refuses addWatch at once, ahead of the answers to earlier requests, and then
// closes the connection: Subscribe says so.
func TestOldServerRefusesEarly(t *testing.T) {
	virtual(t, func(t *fixture) {
		peer := &script{serve: func(n int, c net.Conn) {
			if n > 0 {
				answer(c)
				return
			}
			if _, err := c.Write(welcome()); err != nil {
				return
			}
			for {
				xid, op, err := request(c)
				if err != nil {
					return
				}
				if op == jute.OpAddWatch { // nothing else has been answered
					header := jute.ReplyHeader{Xid: xid, Zxid: 1, Err: jute.CodeUnimplemented}
					_, _ = c.Write(frame(header.Append(nil)))
					return
				}
			}
		}}
		t.open(func(cfg *zkconn.Config) { cfg.Dial = peer.dial })
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		waiting := exists("/a")
		flight, _ := t.conn.Start(0, nil, waiting)
		err := t.conn.Subscribe(t.Context(), zkconn.NewSubscription("/a", true, func(zkconn.WatchEvent) {}))
		t.want(err, zkconn.ErrUnimplemented)
		t.want(flight.Wait(t.Context()), zkconn.ErrConnectionLoss)
	})
}
