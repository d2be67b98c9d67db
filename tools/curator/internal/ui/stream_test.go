package ui_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

// The stream reports that a lock is acquired, waited for, handed over and released.
func TestHandOver(t *testing.T) {
	e := newEnv(t, nil)
	e.login()
	s := e.events()
	s.loaded()
	acquire := func(client *framework.Client) (locks.InterProcessLock, *locks.Lease) {
		mutex, err := locks.NewInterProcessMutex(client, "/locks/orders")
		if err != nil {
			t.Fatal(err)
		}
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Error(err)
		}
		return mutex, lease
	}
	_, lease := acquire(e.client)
	first := s.recipeAt("/locks/orders", func(r recipe) bool { return r.Holding == 1 }).Holders[0]
	if !strings.HasPrefix(first.Name, "orders-api on ") || first.Token != fmt.Sprint(lease.Token()) || first.Session != fmt.Sprintf("0x%x", e.client.SessionID()) {
		t.Errorf("%+v", first)
	}
	other := e.server.Client(t, framework.WithOwnerLabel("billing"))
	got := make(chan *locks.Lease)
	go func() {
		_, lease := acquire(other)
		got <- lease
	}()
	s.recipeAt("/locks/orders", func(r recipe) bool { return r.Waiting == 1 })
	begun := time.Now()
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := s.until(func(f frame) bool { return len(f.History) > 0 })
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("the hand-over was told after %v", took)
	}
	if h := f.History[0]; !strings.HasPrefix(h.Name, "orders-api") || !strings.HasPrefix(h.Next, "billing") || h.Path != "/locks/orders" {
		t.Errorf("%+v", h)
	}
	session := get[struct {
		Nodes []struct {
			Recipe string
			Holds  bool
		}
	}](e, fmt.Sprintf("/api/session?id=0x%x", other.SessionID()))
	if len(session.Nodes) != 1 || session.Nodes[0].Recipe != "/locks/orders" || !session.Nodes[0].Holds {
		t.Errorf("%+v", session)
	}
	if err := (<-got).Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.recipeAt("/locks/orders", func(r recipe) bool { return r.Holding == 0 })
}

// The first event of each stream is a whole state, also for a stream that is opened later.
func TestStates(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.login()
	e.create("/g/member", "", framework.Ephemeral)
	s := e.events()
	s.recipeAt("/g", func(r recipe) bool { return r.Holding == 1 })
	s.until(func(f frame) bool {
		return f.Ensemble != nil && f.Ensemble.Healthy && f.Ensemble.Figures[0].Watches > 0
	})
	f, err := e.events().next()
	if err != nil || f.name != "state" || len(f.Recipes) != 1 || f.Recipes[0].Kind != "group" {
		t.Errorf("%+v, %v", f, err)
	}
	if r := get[recipe](e, "/api/recipe?path=/g&from=1"); r.Holding != 1 || len(r.Holders) != 0 {
		t.Errorf("%+v", r)
	}
}

// While the ensemble does not answer, the stream says since when the data is old. Afterwards it
// reports changes again.
func TestOutage(t *testing.T) {
	t.Parallel()
	e := newEnv(t, nil)
	e.login()
	e.create("/config/app", "1", framework.Persistent)
	s := e.events()
	s.until(func(f frame) bool { return f.Loaded && f.Nodes >= 6 })
	begun := time.Now().UnixMilli()
	e.server.Stop()
	f := s.until(func(f frame) bool { return f.Stale != 0 })
	if f.Stale < begun-1000 || f.Why == "" {
		t.Errorf("%+v", f)
	}
	node := get[struct {
		Problem  string
		Children []struct{ Name string }
	}](e, "/api/node?path=/config")
	if !strings.Contains(node.Problem, "does not answer") || len(node.Children) != 1 {
		t.Errorf("%+v", node)
	}
	s.until(func(f frame) bool { return f.Ensemble != nil && !f.Ensemble.Healthy && len(f.Ensemble.Problems) > 0 })
	e.server.Start()
	s.until(func(f frame) bool { return f.Number > 0 && f.Stale == 0 })
	e.create("/g/member", "", framework.Ephemeral)
	s.recipeAt("/g", func(r recipe) bool { return r.Holding == 1 })
}

// TestOddNodes checks a node with the maximum of data, names with control characters, and many
// children.
func TestOddNodes(t *testing.T) {
	e := newEnv(t, nil)
	e.login()
	big := strings.Repeat("0123456789abcdef", 65_000)
	e.create("/big", big, framework.Persistent)
	hostile := "/odd/<img src=x onerror=alert(1)>\u202e'\"&"
	e.create(hostile, "<script>alert(1)</script>\n\x01", framework.Persistent)
	for i := range 450 {
		e.create(fmt.Sprintf("/many/child-%03d", i), "", framework.Persistent)
	}
	e.events().until(func(f frame) bool { return f.Loaded && f.Nodes >= 458 })
	type node struct {
		Data     string
		Stat     struct{ DataLength int }
		Children []struct{ Name string }
		Total    int
	}
	if n := get[node](e, "/api/node?path=/big"); n.Stat.DataLength != len(big) || len(n.Data) != (64<<10+2)/3*4 {
		t.Errorf("%d bytes, %d of base64", n.Stat.DataLength, len(n.Data))
	}
	if n := get[node](e, "/api/node?path=/big&all=1"); len(n.Data) != (len(big)+2)/3*4 {
		t.Errorf("all: %d of base64", len(n.Data))
	}
	if n := get[node](e, "/api/node?path=/many&from=400"); n.Total != 450 || len(n.Children) != 50 || n.Children[0].Name != "child-400" {
		t.Errorf("%d, %d", n.Total, len(n.Children))
	}
	if n := get[node](e, "/api/node?path=/many&find=CHILD-44"); n.Total != 10 {
		t.Errorf("%d", n.Total)
	}
	if found := get[struct {
		Paths []string
		More  bool
	}](e, "/api/search?text=MANY/child-1"); len(found.Paths) != 100 || found.More {
		t.Errorf("%+v", found)
	}
	r := e.send("GET", "/api/node?path="+url.QueryEscape(hostile), "", nil)
	if r.status != 200 || strings.Contains(r.body, "<img") || !strings.HasPrefix(r.header.Get("Content-Type"), "application/json") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// With fifty browsers, some of which do not read, the server still ends in time.
func TestManyBrowsers(t *testing.T) {
	e := newEnv(t, nil)
	e.login()
	streams := make([]*stream, 50)
	for i := range streams {
		streams[i] = e.events()
	}
	asleep, err := net.Dial("tcp", e.address)
	if err != nil {
		t.Fatal(err)
	}
	defer asleep.Close()
	if _, err := fmt.Fprintf(asleep, "GET /api/events HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n", e.address, e.cookie); err != nil {
		t.Fatal(err)
	}
	e.create("/g/member", "", framework.Ephemeral)
	for _, s := range streams[:40] {
		s.recipeAt("/g", func(r recipe) bool { return r.Holding == 1 })
	}
	begun := time.Now()
	e.stop()
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("the server took %v to end", took)
	}
	for _, s := range streams {
		for {
			if _, err := s.next(); err != nil {
				break
			}
		}
	}
}

// A stream is refused when there are too many. Connections without a login are all served; the older ones
// are closed.
func TestLimits(t *testing.T) {
	e := newEnv(t, nil)
	e.login()
	for range 100 {
		e.events()
	}
	if r := e.send("GET", "/api/events", "", nil); r.status != 503 {
		t.Errorf("one stream too many: %d %s", r.status, r.body)
	}
	var conns []*bufio.Reader
	for range 300 {
		conn, err := net.Dial("tcp", e.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "GET /nothing HTTP/1.1\r\nHost: "+e.address+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(conn)
		if line, err := lines.ReadString('\n'); line != "HTTP/1.1 404 Not Found\r\n" {
			t.Fatalf("%q, %v", line, err)
		}
		conns = append(conns, lines)
	}
	for i, lines := range conns[:300-64] {
		if _, err := io.Copy(io.Discard, lines); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d of 300 is open", i)
		}
	}
}

// The page shows the same holders and waiters as curator locks, for random queues.
func TestAsCuratorLocks(t *testing.T) {
	e := newEnv(t, nil)
	e.login()
	random := rand.New(rand.NewPCG(1, 2))
	names := [][]string{{"lock-"}, {"latch-"}, {"__READ__", "__WRIT__"}, {"__READ__", "__READ__", "__READ__", "__WRIT__"}}
	for i := range 12 {
		path := fmt.Sprintf("/locks/l%02d", i)
		kinds := names[i%len(names)]
		for range 1 + random.IntN(6) {
			name := fmt.Sprintf("%s/_c_%08x-%s", path, random.Uint32(), kinds[random.IntN(len(kinds))])
			made := e.create(name, "10.0.0.1\nowner=a", framework.EphemeralSequential)
			if at := strings.Index(made, "__WRIT__"); at > 0 && random.IntN(2) == 0 { // the reader of a downgraded writer
				e.create(fmt.Sprintf("%s/_c_%08x-__READ__%s", path, random.Uint32(), made[at+8:]), "10.0.0.1", framework.Ephemeral)
			}
		}
	}
	locks, err := view.Locks(t.Context(), e.client, "/locks")
	if err != nil || len(locks) != 12 {
		t.Fatal(len(locks), err)
	}
	total := 0
	for _, l := range locks {
		total += len(l.Holders) + len(l.Waiters)
	}
	e.events().until(func(f frame) bool { return f.Loaded && f.Nodes >= total+17 })
	nodes := func(list []view.Contender) (nodes []string) {
		for _, c := range list {
			nodes = append(nodes, c.Node)
		}
		return nodes
	}
	shown := func(list []contender) (nodes []string) {
		for _, c := range list {
			nodes = append(nodes, c.Node)
		}
		return nodes
	}
	for _, l := range locks {
		r := get[recipe](e, "/api/recipe?path="+l.Path)
		if !slices.Equal(shown(r.Holders), nodes(l.Holders)) || !slices.Equal(shown(r.Waiters), nodes(l.Waiters)) {
			t.Errorf("%s %s: %q and %q, want %q and %q", r.Kind, l.Path, shown(r.Holders), shown(r.Waiters), nodes(l.Holders), nodes(l.Waiters))
		}
	}
}
