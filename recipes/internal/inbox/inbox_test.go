package inbox_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/inbox"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a client with a persistent watch on the node /a, and its box.
type fixture struct {
	t      *testing.T
	server *curatortest.Server
	client *framework.Client
	writer *framework.Client
	conn   *zkconn.Conn
	box    *inbox.Inbox
	sub    *zkconn.Subscription
}

func virtual(t *testing.T, test func(f *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, server: curatortest.Start(t, curatortest.Virtual())}
		f.client, f.writer = f.server.Client(t), f.server.Client(t)
		if _, err := f.client.Create().WithData([]byte("0")).ForPath(t.Context(), "/a"); err != nil {
			t.Fatal(err)
		}
		conn, err := zkclient.Of(f.client).Conn()
		if err != nil {
			t.Fatal(err)
		}
		f.conn = conn
		var connected bool
		if f.box, connected = inbox.New(conn); !connected {
			t.Fatal("no connection")
		}
		f.sub = f.box.Subscription("/a", true)
		if err := conn.Subscribe(t.Context(), f.sub); err != nil {
			t.Fatal(err)
		}
		test(f)
		f.box.Close()
	})
}

func (f *fixture) get(tag string, watch *zkconn.Watch) {
	f.box.Send(&zkconn.Call{
		Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: "/a", Watch: watch != nil}, Res: &jute.GetDataResponse{}, Watch: watch,
	}, tag)
}

// set has the writer set the data, and waits until everybody has heard of it.
func (f *fixture) set(data string) {
	f.t.Helper()
	if _, err := f.writer.SetData().ForPath(f.t.Context(), "/a", []byte(data)); err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
}

// took returns what is in the box as text.
func (f *fixture) took() (all []string) {
	synctest.Wait()
	for _, m := range f.box.Take(nil) {
		text := map[inbox.Kind]string{inbox.Suspended: "suspended", inbox.Connected: "connected", inbox.Closed: "closed"}[m.Kind]
		switch m.Kind {
		case inbox.Reply:
			if text = fmt.Sprintf("%s lost", m.Tag); m.Call.Err == nil {
				text = fmt.Sprintf("%s %s", m.Tag, m.Call.Res.(*jute.GetDataResponse).Data)
			} else if !errors.Is(m.Call.Err, framework.ErrConnectionLoss) && !errors.Is(m.Call.Err, framework.ErrClosed) {
				text = m.Call.Err.Error()
			}
		case inbox.Event:
			text = fmt.Sprintf("event %d", m.Event.Type)
		}
		all = append(all, text)
	}
	return all
}

func (f *fixture) want(want ...string) {
	f.t.Helper()
	if got := f.took(); !slices.Equal(got, want) {
		f.t.Errorf("in the box: %q, want %q", got, want)
	}
}

// woken reports whether C has a value.
func (f *fixture) woken() bool {
	select {
	case <-f.box.C():
		return true
	default:
		return false
	}
}

// Replies and events come as the server has sent them, with the zxid of the reply's header.
func TestOrder(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.get("first", nil)
		synctest.Wait()
		if !f.woken() {
			t.Error("not woken")
		}
		f.set("1")
		f.get("second", nil)
		synctest.Wait()
		var stat framework.Stat
		if _, err := f.client.GetData().StoringStatIn(&stat).ForPath(f.t.Context(), "/a"); err != nil {
			t.Fatal(err)
		}
		messages := f.box.Take(nil)
		if n := len(messages); n != 3 {
			t.Fatalf("%d messages", n)
		}
		for i, kind := range []inbox.Kind{inbox.Reply, inbox.Event, inbox.Reply} {
			if messages[i].Kind != kind {
				t.Errorf("message %d is of kind %d", i, messages[i].Kind)
			}
		}
		if before, after := messages[0].Call.Zxid, messages[2].Call.Zxid; before >= stat.Mzxid || after < stat.Mzxid {
			t.Errorf("replies with the zxids %d and %d around a change with %d", before, after, stat.Mzxid)
		}
		f.box.Take(messages)
		f.set("2")
		f.get("third", nil)
		f.want("event 3", "third 2")
	})
}

// The end of a connection comes ahead of the replies that fail with it, and the next connection
// behind them and ahead of everything that follows on it.
func TestConnections(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.server.Inject(curatortest.Rule{Op: "getData", Do: curatortest.CutBefore()})
		f.get("first", nil)
		synctest.Wait()
		f.get("unsent", nil)
		f.want("suspended", "first lost", "unsent lost")
		time.Sleep(time.Minute)
		f.set("1")
		f.get("second", nil)
		f.want("connected", "event 3", "second 1")
	})
}

// slowly is a request during whose encoding something happens.
type slowly struct {
	jute.Record
	happens func()
}

func (s *slowly) Append(b []byte) []byte {
	if s.happens != nil {
		s.happens()
		s.happens = nil
	}
	return s.Record.Append(b)
}

// A request of a goroutine that has the connection and is slow finds it lost, once, twice or three times.
// It is sent on the next one. TestRefused has the cases in which it fails.
func TestLostMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(f *fixture)
		want    []string
	}{
		"one cut": {func(f *fixture) {
			f.server.Disconnect()
			time.Sleep(time.Minute)
		}, []string{"suspended", "connected", "late 0"}},
		"two cuts": {func(f *fixture) {
			for range 2 {
				f.server.Disconnect()
				time.Sleep(time.Minute)
			}
		}, []string{"suspended", "connected", "suspended", "connected", "late 0"}},
		"three cuts": {func(f *fixture) {
			for range 3 {
				f.server.Disconnect()
				time.Sleep(time.Minute)
			}
		}, []string{"suspended", "connected", "suspended", "connected", "suspended", "connected", "late 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(f *fixture) {
				req := &slowly{Record: &jute.PathWatchRequest{Path: "/a"}, happens: func() { c.happens(f) }}
				f.box.Send(&zkconn.Call{Op: jute.OpGetData, Req: req, Res: &jute.GetDataResponse{}}, "late")
				f.want(c.want...)
			})
		})
	}
}

// The event of a one-shot watch comes behind the reply of the read that has set it.
func TestOneShot(t *testing.T) {
	virtual(t, func(f *fixture) {
		if err := f.conn.Unsubscribe(f.t.Context(), f.sub); err != nil {
			t.Fatal(err)
		}
		f.get("first", f.box.Watch("/a", zkconn.WatchData))
		synctest.Wait()
		f.set("1")
		f.set("2")
		f.want("first 0", "event 3")
	})
}

// After Close nothing comes any more.
func TestClose(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.get("first", nil)
		f.box.Close()
		f.set("1")
		f.server.Disconnect()
		time.Sleep(time.Minute)
		f.want()
	})
}

// The end of the client is the last message.
func TestClientCloses(t *testing.T) {
	virtual(t, func(f *fixture) {
		if err := f.client.Close(f.t.Context()); err != nil {
			t.Fatal(err)
		}
		f.want("closed")
		f.get("late", nil)
		f.want("late lost")
		f.woken()
		if f.box.Wake(); !f.woken() {
			t.Error("Wake does not wake")
		}
	})
}
