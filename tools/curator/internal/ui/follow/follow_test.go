package follow

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

var (
	loadTime  = flag.Duration("for", 2*time.Minute, "virtual time of TestMemory")
	loadNodes = flag.Int("nodes", 500, "of the locks in TestMemory")
	loadRate  = flag.Int("rate", 5, "hand-overs a second in TestMemory")
)

// virtual runs fn with a server and a Follower in virtual time.
func virtual(t *testing.T, fn func(t *testing.T, s *curatortest.Server, f *Follower, client *framework.Client)) {
	synctest.Test(t, func(t *testing.T) {
		s := curatortest.Start(t, curatortest.Virtual())
		f := New(Config{
			Client: s.Client(t), Root: "/", Servers: []string{s.ConnectString()},
			Dial: func(ctx context.Context, address string) (net.Conn, error) { return s.DialContext(ctx, "tcp", address) },
		})
		client := s.Client(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.Run(ctx)
		}()
		fn(t, s, f, client)
		cancel()
		<-ended
	})
}

// told has some fields of a frame.
type told struct {
	Number  int
	Loaded  bool
	Stale   int64
	Why     string
	Recipes []struct {
		Path    string
		Holding int
		Grants  int
	}
	History []struct{ Number int }
}

// next returns the next frame.
func next(t *testing.T, s *Subscription) (told, string) {
	t.Helper()
	frame, ok, err := s.Next(t.Context(), time.Minute)
	if err != nil || !ok {
		t.Fatalf("no frame: %v", err)
	}
	var f told
	if err := json.Unmarshal(frame.Body, &f); err != nil {
		t.Fatal(err)
	}
	return f, frame.Name
}

func create(t *testing.T, client *framework.Client, path string) string {
	t.Helper()
	made, err := client.Create().CreatingParentsIfNeeded().WithMode(framework.EphemeralSequential).ForPath(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A slow subscriber gets a whole state instead of the frames that it has missed. No hand-over is
// missing or reported twice.
func TestSlowSubscriber(t *testing.T) {
	virtual(t, func(t *testing.T, _ *curatortest.Server, f *Follower, client *framework.Client) {
		slow, quick := f.Subscribe(), f.Subscribe()
		defer slow.Close()
		defer quick.Close()
		if _, name := next(t, slow); name != "state" {
			t.Errorf("the first frame is a %s", name)
		}
		time.Sleep(time.Second) // until the tree was read
		synctest.Wait()
		first := create(t, client, "/l/lock-")
		time.Sleep(time.Second)
		for range 3 * kept {
			second := create(t, client, "/l/lock-")
			if err := client.Delete().ForPath(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			first = second
			time.Sleep(2 * frameGap)
			synctest.Wait()
			if n := len(f.frames.list); n > kept {
				t.Fatalf("%d frames are kept", n)
			}
		}
		got, name := next(t, slow)
		if name != "state" || len(got.History) != 3*kept || got.Recipes[0].Grants != 3*kept+1 {
			t.Errorf("a %s with %d holds, %+v", name, len(got.History), got.Recipes)
		}
		last := got.History[len(got.History)-1].Number
		if err := client.Delete().ForPath(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if got, name := next(t, slow); name != "change" || len(got.History) != 1 || got.History[0].Number != last+1 {
			t.Errorf("then a %s with %+v, behind %d", name, got.History, last)
		}
	})
}

// The status says that the data is old while there is no connection, and after a loss of the session.
func TestStale(t *testing.T) {
	virtual(t, func(t *testing.T, s *curatortest.Server, f *Follower, client *framework.Client) {
		sub := f.Subscribe()
		defer sub.Close()
		until := func(what string, wanted func(f told) bool) (got told) {
			t.Helper()
			for range 100 {
				if got, _ = next(t, sub); wanted(got) {
					return got
				}
			}
			t.Fatal(what)
			return got
		}
		until("the tree was not read", func(f told) bool { return f.Loaded })
		session := f.cfg.Client.SessionID()
		heal := s.Partition(curatortest.Both)
		begun := time.Now()
		got := until("nothing is old", func(f told) bool { return f.Stale != 0 })
		if since := time.UnixMilli(got.Stale).Sub(begun); since > time.Minute || got.Why != "The ensemble does not answer." {
			t.Errorf("old after %v, because: %s", since, got.Why)
		}
		got = until("the session was not lost", func(f told) bool { return f.Why != "The ensemble does not answer." })
		if got.Why != "The session was lost. A new one begins when the ensemble answers." {
			t.Error(got.Why)
		}
		heal()
		until("it does not go on", func(f told) bool { return f.Stale == 0 })
		if f.cfg.Client.SessionID() == session {
			t.Error("the session is the same")
		}
		create(t, client, "/l/lock-")
		until("nothing new is seen", func(f told) bool { return len(f.Recipes) > 0 })
	})
}

// The status says that a tree may not be read. The tree is read as soon as that is permitted.
func TestNotPermitted(t *testing.T) {
	virtual(t, func(t *testing.T, s *curatortest.Server, _ *Follower, _ *framework.Client) {
		owner := s.Client(t, framework.WithAuthorization("digest", []byte("a:b")))
		if _, err := owner.Create().WithACL(framework.CreatorAllACL()...).ForPath(t.Context(), "/secret"); err != nil {
			t.Fatal(err)
		}
		f := New(Config{Client: s.Client(t), Root: "/secret"})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			f.Run(ctx)
		}()
		sub := f.Subscribe()
		defer sub.Close()
		for range 10 {
			if got, _ := next(t, sub); got.Why == "The node /secret may not be read with these credentials." {
				break
			} else if got.Loaded {
				t.Fatalf("%+v", got)
			}
		}
		if _, err := owner.SetACL().ForPath(t.Context(), "/secret", framework.OpenACLUnsafe()); err != nil {
			t.Fatal(err)
		}
		for loaded := false; !loaded; {
			got, _ := next(t, sub)
			loaded = got.Loaded
		}
		cancel()
		<-ended
	})
}

// Memory does not grow with time. Flags set a longer time or more nodes. With -v the results are in
// the log.
func TestMemory(t *testing.T) {
	virtual(t, func(t *testing.T, _ *curatortest.Server, f *Follower, client *framework.Client) {
		const queues = 10
		var lines [queues][]string
		for i := range *loadNodes {
			q := i % queues
			lines[q] = append(lines[q], create(t, client, fmt.Sprintf("/load/lock-%d/lock-", q)))
		}
		sub := f.Subscribe()
		defer sub.Close()
		heap := func() int {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc >> 10)
		}
		step := func(n int) {
			for i := range n {
				q := i % queues
				lines[q] = append(lines[q][1:], create(t, client, fmt.Sprintf("/load/lock-%d/lock-", q)))
				if err := client.Delete().ForPath(t.Context(), lines[q][0]); err != nil {
					t.Fatal(err)
				}
				if i%*loadRate == 0 {
					time.Sleep(time.Second)
					next(t, sub)
				}
				lines[q] = append([]string{}, lines[q]...)
			}
		}
		total := int(loadTime.Seconds()) * *loadRate
		step(total / 10)
		before := heap()
		step(total)
		after := heap()
		t.Logf("%d nodes, %d hand-overs in %v: heap %d KB, then %d KB, with the server and its clients", *loadNodes, total, *loadTime, before, after)
		if after > before+before/4+1024 {
			t.Errorf("the heap has grown from %d KB to %d KB", before, after)
		}
	})
}
