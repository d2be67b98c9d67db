package sequences_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// scene is a connection of the session layer, and its record.
type scene struct {
	*testing.T
	server *curatortest.Server
	other  *other
	line   *line
	conn   *zkconn.Conn
	*record
}

// recorded runs a scene, and returns what was told.
func recorded(t *testing.T, change func(*zkconn.Config), play func(s *scene)) (told []Step) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{T: t, server: curatortest.Start(t, curatortest.Virtual(), curatortest.WithSessionTimeouts(time.Second, time.Hour)), record: &record{}}
		s.other = newOther(t, s.server)
		s.line = newLine(s.server.DialContext)
		cfg := zkconn.Config{
			Servers: []string{s.server.ConnectString()}, SessionTimeout: timeout, ConnectionTimeout: patience, LossPercent: 100,
			MaxRequest: 1 << 20, MaxReply: 1 << 20, Dial: s.line.Dial, Logger: slog.New(slog.DiscardHandler), OnEvent: func(zkconn.Event) {},
			OnLoss: func(e zkconn.Event) {
				if e.Kind == zkconn.SessionEnded {
					s.add(SessionLost)
				}
			},
		}
		if change != nil {
			change(&cfg)
		}
		conn, err := zkconn.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		s.conn = conn
		t.Cleanup(s.close)
		s.connected()
		s.observe(conn)
		if err := conn.Subscribe(t.Context(), s.watch); err != nil {
			t.Fatal(err)
		}
		play(s)
		settle()
		told, _ = s.all()
	})
	return told
}

// connected waits for a connection, which may just have ended.
func (s *scene) connected() {
	s.Helper()
	settle()
	if err := s.conn.Ready(s.Context()); err != nil {
		s.Fatal(err)
	}
	settle()
}

// close closes the connection of the session layer.
func (s *scene) close() {
	_ = s.conn.Close(context.WithoutCancel(s.Context())) // that the server does not confirm it may be meant
	synctest.Wait()
}

// requests sends n requests.
func (s *scene) requests(n int) {
	for range n {
		s.request()
	}
	synctest.Wait()
}

// loseConnection ends the connection. There is no other until the line is healed.
func (s *scene) loseConnection() {
	s.line.hold()
	s.line.cut()
	synctest.Wait()
}

// later lets time pass.
func (s *scene) later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// scenes are what a connection goes through, and what is told.
var scenes = map[string]struct {
	change func(*zkconn.Config)
	play   func(s *scene)
	want   string
}{
	"a reply and an event": {nil, func(s *scene) {
		s.requests(1)
		s.other.create("/record", "", 0)
	}, "ReplyOK,Event"},
	"the server hangs up": {nil, func(s *scene) {
		s.server.DisconnectSession(s.session())
		s.connected()
	}, "Suspended,WatchReset,Connected"},
	"the server hangs up while requests wait": {nil, func(s *scene) {
		s.server.Pause()
		s.requests(2)
		s.server.DisconnectSession(s.session())
	}, "Suspended,ReplyLost,ReplyLost"},
	"requests wait to be written when the connection ends": {nil, func(s *scene) {
		s.line.plug()
		s.requests(1) // is being written
		s.requests(2)
		s.line.cut()
		s.connected()
		s.requests(1)
	}, "Suspended,ReplyLost,ReplyUnsent,ReplyUnsent,WatchReset,Connected,ReplyOK"},
	"a request without a connection": {nil, func(s *scene) {
		s.loseConnection()
		s.requests(1)
		s.line.heal()
		s.connected()
	}, "Suspended,ReplyUnsent,WatchReset,Connected"},
	"a connection that takes nothing any more": {nil, func(s *scene) {
		s.line.plug()
		s.requests(1)
		s.line.breaks()
		synctest.Wait()
		s.requests(1)
		s.other.create("/record", "", 0)
		s.later(time.Second)
		s.connected()
	}, "ReplyUnsent,Event,Suspended,ReplyLost,WatchReset,Connected"},
	"the server falls silent": {nil, func(s *scene) {
		resume := s.server.Pause()
		s.requests(1)
		s.later(timeout * 3 / 4)
		resume()
		s.connected()
	}, "Suspended,ReplyLost,WatchReset,Connected"},
	"the session is presumed to be over": {func(cfg *zkconn.Config) { cfg.LossPercent = 50 }, func(s *scene) {
		resume := s.server.Pause()
		s.requests(1)
		s.later(timeout * 3 / 5)
		resume()
		s.connected()
	}, "Suspended,SessionLost,ReplyLost,WatchReset,Connected"},
	"a server ends the session": {nil, func(s *scene) {
		s.server.ExpireSession(s.session())
		s.connected()
	}, "Suspended,SessionLost,WatchReset,Connected"},
	"a server answers that the session is over": {nil, func(s *scene) {
		s.server.Inject(curatortest.Rule{Op: "exists", Do: curatortest.Fail(framework.ErrSessionExpired)})
		resume := s.server.Pause()
		s.requests(2)
		synctest.Wait() // both are sent
		resume()
		s.connected()
	}, "SessionLost,ReplyOK,Suspended,ReplyLost,WatchReset,Connected"},
	"the session ends without a connection": {nil, func(s *scene) {
		session := s.session()
		accept := s.server.Refuse()
		s.server.DisconnectSession(session)
		s.server.ExpireSession(session)
		s.later(time.Second)
		s.requests(1)
		accept()
		s.connected()
	}, "Suspended,ReplyUnsent,SessionLost,WatchReset,Connected"},
	"nothing is heard for a session": {nil, func(s *scene) {
		s.loseConnection()
		s.later(2 * timeout)
		s.line.heal()
		s.connected()
	}, "Suspended,SessionLost,WatchReset,Connected"},
	"another list of servers": {nil, func(s *scene) {
		s.conn.SetServers([]string{"elsewhere:1"})
		s.connected()
	}, "Suspended,WatchReset,Connected"},
	"the connection ends while a reply is told": {nil, func(s *scene) {
		s.server.Inject(curatortest.Rule{Op: "getData", Do: curatortest.Delay(time.Minute)})
		resume := s.server.Pause()
		s.conn.Start(0, func(f *zkconn.Flight) {
			go s.conn.SetServers([]string{"elsewhere:1"})
			synctest.Wait()
			s.ended(f)
		}, zkconn.Exists("/", nil))
		s.conn.Start(0, s.ended, zkconn.GetData("/", nil))
		synctest.Wait() // both are sent
		resume()
		s.connected()
	}, "Suspended,ReplyOK,ReplyLost,WatchReset,Connected"},
	"the client is closed": {nil, func(s *scene) {
		s.close()
		s.requests(1)
	}, "ClientClosed"},
	"the client is closed while a request waits": {nil, func(s *scene) {
		s.requests(1)
		s.close()
	}, "ReplyOK,ClientClosed"},
	"the client is closed without a connection": {nil, func(s *scene) {
		s.loseConnection()
		s.close()
	}, "Suspended,ClientClosed"},
}

// What the session layer tells is legal, and nothing that it tells is unknown to the test.
func TestRecordings(t *testing.T) {
	seen := map[Step]bool{}
	for name, c := range scenes {
		t.Run(name, func(t *testing.T) {
			told := recorded(t, c.change, c.play)
			if text(told) != c.want {
				t.Errorf("told %s, want %s", text(told), c.want)
			}
			wantLegal(t, told)
			for _, s := range told {
				seen[s] = true
			}
		})
	}
	for _, s := range steps {
		if !seen[s] && (s < Call || s == ClientClosed) {
			t.Errorf("no recording has %s", s)
		}
	}
}

// wantLegal wants everything that is recorded to be legal at every moment.
func wantLegal(t *testing.T, told []Step) {
	t.Helper()
	for n := range told {
		if !legal(told[:n+1]) {
			t.Errorf("told %s, which is not legal", text(told[:n+1]))
			return
		}
	}
}

// So is what it tells when all kinds of things happen one after the other.
func TestRandomRecordings(t *testing.T) {
	const seeds, length = 100, 30
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			told := recorded(t, nil, func(s *scene) {
				happens := []func(){
					func() { s.requests(1 + random.IntN(3)) },
					s.touch,
					func() { s.server.DisconnectSession(s.session()) },
					func() { s.server.ExpireSession(s.session()) },
					func() { time.AfterFunc(time.Duration(random.IntN(40))*time.Second, s.server.Pause()) },
					func() { time.AfterFunc(time.Duration(random.IntN(40))*time.Second, s.server.Refuse()) },
					func() { s.later(time.Duration(random.IntN(1000)) * time.Millisecond) },
					func() { s.later(time.Duration(random.IntN(20)) * time.Second) },
				}
				for range length {
					happens[random.IntN(len(happens))]()
				}
				s.later(time.Minute)
			})
			wantLegal(t, told)
		})
	}
}

// touch changes the node of the record's watch.
func (s *scene) touch() {
	if !s.other.delete("/record") {
		s.other.create("/record", "", 0)
	}
}

// session returns the id of the session, or one that no session has.
func (s *scene) session() int64 {
	id, _ := s.conn.Session()
	return max(id, 1)
}

// What cannot be is refused, because of its last step.
func TestIllegal(t *testing.T) {
	for _, names := range []string{
		"ReplyLost", "WatchReset", "Connected",
		"Suspended,Suspended", "Suspended,Event",
		"Suspended,ReplyLost,ReplyOK", "Suspended,ReplyUnsent,ReplyOK",
		"Suspended,WatchReset,ReplyOK", "Suspended,WatchReset,ReplyLost", "Suspended,WatchReset,ReplyUnsent",
		"Suspended,WatchReset,Event", "Suspended,WatchReset,Suspended", "Suspended,WatchReset,SessionLost",
		"Suspended,Connected,ReplyLost", "Suspended,Connected,Connected", "Suspended,WatchReset,Connected,WatchReset",
		"SessionLost,SessionLost", "SessionLost,Connected", "Suspended,SessionLost,SessionLost",
		"ClientClosed,ReplyLost", "ClientClosed,Suspended", "Suspended,ClientClosed,Connected", "ClientClosed,ClientClosed",
		"Close,Close", "ContextEnds,ContextEnds",
	} {
		var sequence []Step
		for name := range strings.SplitSeq(names, ",") {
			sequence = append(sequence, Step(slices.Index(stepNames[:], name)))
		}
		if before := sequence[:len(sequence)-1]; !legal(before) {
			t.Errorf("%s: %s is refused", names, text(before))
		}
		if legal(sequence) {
			t.Errorf("%s is accepted", names)
		}
	}
}
