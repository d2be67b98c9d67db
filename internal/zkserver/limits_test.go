package zkserver_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// allocated returns how many bytes fn allocates.
func allocated(fn func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestAnswersNobodyReads has a client ask for far more than is kept for it, and read nothing:
// others, whose writes it watches, do not notice. When the client reads, the answers come.
func TestAnswersNobodyReads(t *testing.T) {
	const asked, size = 30, 1_000_000
	inBubble(t, func(t *testing.T, s server) {
		deaf, other := s.connect(20*tick), s.connect(20*tick)
		do(t, other, jute.OpCreate, newNode("/large", strings.Repeat("x", size), 0))
		before := heap()
		for range asked {
			if _, err := deaf.Send(jute.OpGetData, &jute.PathWatchRequest{Path: "/large", Watch: true}); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		for range asked {
			do(t, other, jute.OpSetData, &jute.SetDataRequest{Path: "/large", Data: make([]byte, size), Version: -1})
		}
		if waited := time.Since(start); waited > 0 {
			t.Errorf("the others waited for %v", waited)
		}
		synctest.Wait()
		kept := heap() - before
		t.Logf("%d MB asked for, %.1f MB kept", asked*size/1_000_000, float64(kept)/1e6)
		if kept > 12<<20 {
			t.Errorf("%d bytes are kept for a client that does not read", kept)
		}
		for answers := 0; answers < asked; {
			f, err := deaf.Receive()
			if err != nil {
				t.Fatalf("after %d answers: %v", answers, err)
			}
			if _, isEvent := f.Event(); !isEvent {
				answers++
			}
		}
		do(t, deaf, jute.OpPing, nil)
	})
}

// TestEventsNobodyReads has a client that watches everything and reads nothing: its
// connection ends when too much waits for it, and nobody else notices.
func TestEventsNobodyReads(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		deaf, other := s.connect(20*tick), s.connect(20*tick)
		path := "/" + strings.Repeat("x", 100_000)
		do(t, other, jute.OpCreate, newNode(path, "", 0))
		do(t, deaf, jute.OpAddWatch, &jute.AddWatchRequest{Path: "/", Mode: jute.ModePersistentRecursive})
		before, start := heap(), time.Now()
		most := int64(0)
		for i := range 500 { // 50 MB of events
			do(t, other, jute.OpSetData, &jute.SetDataRequest{Path: path, Version: -1})
			if i%50 == 0 {
				most = max(most, heap()-before)
			}
		}
		if waited := time.Since(start); waited > 0 {
			t.Errorf("the others waited for %v", waited)
		}
		synctest.Wait()
		if s.Watches() != 0 {
			t.Error("the connection has not ended")
		}
		t.Logf("at most %.1f MB were kept, %.1f MB at the end", float64(most)/1e6, float64(heap()-before)/1e6)
		if most > 40<<20 {
			t.Errorf("%d bytes were kept for a client that does not read", most)
		}
		if s.Sessions() != 2 {
			t.Error("its session has not outlived its connection")
		}
		if _, err := io.Copy(io.Discard, deaf.Conn); err != nil {
			t.Error(err)
		}
		if _, err := s.resume(deaf); err != nil {
			t.Errorf("resume: %v", err)
		}
	})
}

// TestAnswerWithoutEnd asks in one request for many times the same.
func TestAnswerWithoutEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		greedy, other := s.connect(20*tick), s.connect(20*tick)
		do(t, other, jute.OpCreate, newNode("/large", strings.Repeat("x", 1_000_000), 0))
		var body []byte
		for range 10_000 {
			body = (&jute.MultiHeader{Type: jute.OpGetData, Err: -1}).Append(body)
			body = (&jute.PathWatchRequest{Path: "/large"}).Append(body)
		}
		body = (&jute.MultiHeader{Type: -1, Done: true, Err: -1}).Append(body)
		grown := allocated(func() {
			if _, err := greedy.Send(jute.OpMultiRead, rawclient.Raw(body)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		})
		t.Logf("10 GB asked for, %.1f MB allocated in all", float64(grown)/1e6)
		if grown > 400<<20 {
			t.Errorf("%d bytes allocated for one answer", grown)
		}
		untilEnd(t, "an answer without end", greedy.Conn, beforeHandshakeTimeout)
		do(t, other, jute.OpPing, nil)
	})
}

// TestAnnouncedLengths has clients announce long requests and send nothing of them.
func TestAnnouncedLengths(t *testing.T) {
	const clients = 1000
	inBubble(t, func(t *testing.T, s server) {
		for range clients {
			s.dial()
		}
		synctest.Wait()
		grown := allocated(func() {
			for range clients {
				if _, err := s.dial().Write(binary.BigEndian.AppendUint32(nil, 0xfffff)); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
		})
		t.Logf("%d GB announced, %.1f MB allocated", clients*0xfffff/1_000_000_000, float64(grown)/1e6)
		if grown > clients<<15 {
			t.Errorf("%d bytes allocated for bytes that have not come", grown)
		}
	})
}

// TestAbsurdCounts sends vectors and strings that say they are long and are not.
func TestAbsurdCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		c := s.connect(20 * tick)
		path := jute.AppendString(nil, "/a")
		for _, count := range []uint32{1 << 31, 1<<31 - 1, 1 << 20, 0xfffffffe, 100} {
			absurd := binary.BigEndian.AppendUint32(nil, count)
			for op, body := range map[jute.Op][]byte{
				jute.OpExists:      absurd,
				jute.OpCreate:      append(append([]byte{}, path...), absurd...),
				jute.OpSetACL:      append(append([]byte{}, path...), absurd...),
				jute.OpSetWatches:  append(make([]byte, 8), absurd...),
				jute.OpSetWatches2: append(make([]byte, 12), absurd...),
				jute.OpMulti:       append((&jute.MultiHeader{Type: jute.OpCreate}).Append(nil), absurd...),
			} {
				grown := allocated(func() {
					if f, err := c.Do(op, rawclient.Raw(body)); err != nil || f.Err != jute.CodeMarshallingError {
						t.Errorf("%s with %#x: %v, code %d", jute.OpName(op), count, err, f.Err)
					}
				})
				if grown > 1<<17 {
					t.Errorf("%s with %#x allocates %d bytes", jute.OpName(op), count, grown)
				}
			}
		}
	})
}

// TestTruncatedFrames ends the connection, or the frame, at each byte of some requests.
func TestTruncatedFrames(t *testing.T) {
	requests := [][]byte{
		newNode("/cut", "data", jute.FlagEphemeral).Append((&jute.RequestHeader{Xid: 1, Op: jute.OpCreate}).Append(nil)),
		multiBody{created(jute.OpCreate, "/cut", 0), removed("/cut", -1)}.Append((&jute.RequestHeader{Xid: 1, Op: jute.OpMulti}).Append(nil)),
		(&jute.SetWatches2{DataWatches: []string{"/cut"}}).Append((&jute.RequestHeader{Xid: 1, Op: jute.OpSetWatches2}).Append(nil)),
	}
	inBubble(t, func(t *testing.T, s server) {
		for _, request := range requests {
			whole := frames(request)
			for n := range whole {
				c := s.connect(20 * tick)
				if _, err := c.Conn.Write(whole[:n]); err != nil {
					t.Fatal(err)
				}
				c.Conn.Close()
				synctest.Wait()
				s.ExpireSession(c.Session.SessionID)
			}
			for n := range request {
				c := s.connect(20 * tick)
				if err := c.WriteFrame(request[:n]); err != nil {
					t.Fatal(err)
				}
				f, err := c.Receive()
				if err == nil && f.Err != jute.CodeMarshallingError || err != nil && !errors.Is(err, io.EOF) {
					t.Errorf("%d of %d bytes: %v, code %d", n, len(request), err, f.Err)
				}
				c.Conn.Close()
				s.ExpireSession(c.Session.SessionID)
			}
		}
		synctest.Wait()
		if names := s.Children("/"); len(names) != 1 || s.Sessions() != 0 || s.Watches() != 0 {
			t.Errorf("nodes %v, %d sessions, %d watches", names, s.Sessions(), s.Watches())
		}
	})
}

// TestOutOfTurn sends requests before the handshake, and a second handshake, to an embedded
// server and a real one: the connection ends and nothing is done.
func TestOutOfTurn(t *testing.T) {
	t.Run("Virtual", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s server) { testOutOfTurn(t, s.dial, beforeHandshakeTimeout) })
	})
	t.Run("Real", func(t *testing.T) {
		address := curatortest.Real(t, curatortest.WithTickTime(tick)).ConnectString()
		testOutOfTurn(t, func() net.Conn {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			return conn
		}, patience)
	})
}

// beforeHandshakeTimeout is a time after which an embedded server still waits for a handshake.
const beforeHandshakeTimeout = 9 * time.Second

// testOutOfTurn wants connections to end within a time.
func testOutOfTurn(t *testing.T, dial func() net.Conn, within time.Duration) {
	connect := func() *rawclient.Client {
		c, err := rawclient.Connect(dial(), jute.ConnectRequest{TimeOut: 10000})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, request := range map[string]func(c *rawclient.Client) (int32, error){
		"ping":   func(c *rawclient.Client) (int32, error) { return c.Send(jute.OpPing, nil) },
		"close":  func(c *rawclient.Client) (int32, error) { return c.Send(jute.OpClose, nil) },
		"exists": func(c *rawclient.Client) (int32, error) { return c.Send(jute.OpExists, &jute.PathRequest{Path: "/"}) },
		"create": func(c *rawclient.Client) (int32, error) { return c.Send(jute.OpCreate, newNode("/early", "", 0)) },
	} {
		early := &rawclient.Client{Conn: dial()}
		if _, err := request(early); err != nil {
			t.Fatal(err)
		}
		untilEnd(t, name+" before the handshake", early.Conn, within)
	}
	twice := connect()
	if err := twice.WriteFrame((&jute.ConnectRequest{TimeOut: 10000}).Append(nil)); err != nil {
		t.Fatal(err)
	}
	untilEnd(t, "a second handshake", twice.Conn, within)
	if f, err := connect().Do(jute.OpExists, &jute.PathWatchRequest{Path: "/early"}); err != nil || f.Err != jute.CodeNoNode {
		t.Errorf("what was asked for before the handshake: %v, code %d", err, f.Err)
	}
}

// untilEnd fails unless the server closes the connection within a time.
func untilEnd(t *testing.T, why string, conn net.Conn, within time.Duration) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s does not end the connection", why)
	}
}

// TestManySessions has many clients at once, and all of them go at once.
func TestManySessions(t *testing.T) {
	const clients = 2000
	inBubble(t, func(t *testing.T, s server) {
		observer := s.connect(20 * tick)
		do(t, observer, jute.OpCreate, newNode("/all", "", 0))
		for range clients {
			c := s.connect(10 * tick)
			do(t, c, jute.OpCreate, newNode("/all/e-", "", jute.FlagEphemeral|jute.FlagSequential))
		}
		if n := len(s.Children("/all")); n != clients || s.Sessions() != clients+1 {
			t.Errorf("%d nodes, %d sessions", n, s.Sessions())
		}
		pass(15 * tick)
		start := time.Now()
		do(t, observer, jute.OpPing, nil)
		if waited := time.Since(start); waited > 0 {
			t.Errorf("the observer waited for %v", waited)
		}
		if n := len(s.Children("/all")); n != 0 || s.Sessions() != 1 {
			t.Errorf("%d nodes, %d sessions", n, s.Sessions())
		}
	})
}

// TestSequenceNumbersEnd shows what a server does that has no more numbers: it repeats the
// last one. ZooKeeper 3.8.0 gave the answers wanted here when its own count was set.
func TestSequenceNumbersEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		c := s.connect(20 * tick)
		do(t, c, jute.OpCreate, newNode("/x", "", 0))
		s.SetSequence("/x", 1<<31-3)
		for i, want := range []struct {
			child    string // created, if it could be
			cversion int32
			pzxid    int64
			remove   string // afterwards
		}{
			{"/x/s-2147483645", -5, 3, ""},
			{"/x/s-2147483646", -4, 4, ""},
			{"/x/s-2147483647", -5, 4, ""},
			{"", -5, 4, ""},
			{"", -5, 4, "/x/s-2147483647"},
			{"/x/s-2147483647", -5, 8, ""},
			{"", -5, 8, ""},
		} {
			f, err := c.Do(jute.OpCreate, newNode("/x/s-", "", jute.FlagSequential))
			if err != nil {
				t.Fatal(err)
			}
			var got jute.CreateResponse
			if f.Err == jute.CodeOK {
				err = jute.Decode(f.Body, &got)
			}
			if err != nil || got.Path != want.child || (f.Err == jute.CodeNodeExists) != (want.child == "") {
				t.Errorf("%d: %q, code %d, %v", i, got.Path, f.Err, err)
			}
			var stat jute.StatResponse
			if err := jute.Decode(do(t, c, jute.OpExists, &jute.PathWatchRequest{Path: "/x"}).Body, &stat); err != nil {
				t.Fatal(err)
			}
			if stat.Stat.Cversion != want.cversion || stat.Stat.Pzxid != want.pzxid {
				t.Errorf("%d: cversion %d, pzxid %d", i, stat.Stat.Cversion, stat.Stat.Pzxid)
			}
			if want.remove != "" {
				do(t, c, jute.OpDelete, &jute.DeleteRequest{Path: want.remove, Version: -1})
			}
		}
	})
}
