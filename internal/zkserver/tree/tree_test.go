package tree_test

import (
	"bytes"
	"cmp"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// TestSameCallsSameResults plays each script twice.
func TestSameCallsSameResults(t *testing.T) {
	for name, script := range seeds {
		t.Run(name, func(t *testing.T) {
			a, b := newStage(tree.Release380), newStage(tree.Release380)
			same := bytes.Equal(a.play(t, script), b.play(t, script))
			for _, s := range []*stage{a, b} { // one event has no order among clients
				slices.SortStableFunc(s.events, func(x, y string) int { return cmp.Compare(x[0], y[0]) })
			}
			if !same || !reflect.DeepEqual(a.events, b.events) || a.state.Dump() != b.state.Dump() {
				t.Error("the second time was another one")
			}
			if a.state.Zxid() == 3 { // of the sessions
				t.Error("the script does nothing")
			}
		})
	}
}

// TestNoNetworkNoClock looks for what would make the state depend on more than its calls.
func TestNoNetworkNoClock(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	outside := regexp.MustCompile(`\btime\.(Now|Since|Until|After|AfterFunc|Sleep|NewTimer|NewTicker|Tick)\b|\bgo func|\bchan\b`)
	allowed := []string{
		"bytes", "cmp", "crypto/sha1", "crypto/subtle", "encoding/base64", "errors", "fmt", "hash/fnv", "maps", "math/bits", "net/netip",
		"slices", "strconv", "strings", "time", "github.com/go-curator/curator/internal/jute",
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := outside.Find(source); found != nil {
			t.Errorf("%s has %s", file, found)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if path := strings.Trim(spec.Path.Value, `"`); !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}

// TestQuotaNews has a quota exceeded, met again and exceeded again: only the steps over a
// limit are told.
func TestQuotaNews(t *testing.T) {
	st := newStage(tree.Release380)
	do := func(op jute.Op, body tree.Body) []tree.Exceeded {
		t.Helper()
		reply := st.state.Do(st.now, st.clients[0], op, body.Append(nil))
		if reply.Code != jute.CodeOK {
			t.Fatalf("%s: %d", jute.OpName(op), reply.Code)
		}
		return reply.Exceeded
	}
	do(jute.OpCreate, node("/a", "", 0))
	do(jute.OpCreate, node("/zookeeper/quota/a", "", 0))
	do(jute.OpCreate, node("/zookeeper/quota/a/zookeeper_limits", "count=2,bytes=3", 0))
	do(jute.OpCreate, node("/zookeeper/quota/a/zookeeper_stats", "", 0))
	none := []tree.Exceeded(nil)
	for i, s := range []struct {
		op   jute.Op
		body tree.Body
		want []tree.Exceeded
	}{
		{jute.OpCreate, node("/a/b", "", 0), none},
		{jute.OpCreate, node("/a/c", "", 0), []tree.Exceeded{{Path: "/a", Limit: "count", Used: 3, Max: 2}}},
		{jute.OpSetData, &jute.SetDataRequest{Path: "/a/c", Data: []byte("1234"), Version: -1}, []tree.Exceeded{{Path: "/a", Limit: "bytes", Used: 4, Max: 3}}},
		{jute.OpCreate, node("/a/d", "", 0), none},
		{jute.OpDelete, &jute.DeleteRequest{Path: "/a/d", Version: -1}, none},
		{jute.OpDelete, &jute.DeleteRequest{Path: "/a/c", Version: -1}, none},
		{jute.OpCreate, node("/a/c", "", 0), []tree.Exceeded{{Path: "/a", Limit: "count", Used: 3, Max: 2}}},
	} {
		if got := do(s.op, s.body); !reflect.DeepEqual(got, s.want) {
			t.Errorf("step %d: %+v, want %+v", i, got, s.want)
		}
	}
}

// TestSessionTable is the life of sessions: their ends at whole ticks, in order, and what
// continues them.
func TestSessionTable(t *testing.T) {
	start := time.UnixMilli(1_000_000)
	st := tree.New(start, tree.Config{TickTime: time.Second})
	at := start.Add
	long := st.CreateSession(start, 5*time.Second, []byte("long"))
	short := st.CreateSession(at(100*time.Millisecond), 2*time.Second, []byte("short"))
	if long.ID() == short.ID() || st.Session(short.ID()) != short || !slices.Equal(st.Sessions(), []int64{long.ID(), short.ID()}) {
		t.Fatalf("sessions %d, %d; listed %d", long.ID(), short.ID(), st.Sessions())
	}
	overdue := func(d time.Duration, want ...*tree.Session) {
		t.Helper()
		if got := st.Overdue(at(d)); !slices.Equal(got, want) {
			t.Errorf("overdue after %v: %d, want %d", d, len(got), len(want))
		}
	}
	overdue(2999 * time.Millisecond)
	overdue(3*time.Second, short)
	overdue(6*time.Second, short, long)
	st.Touch(at(2*time.Second), short)
	overdue(4999 * time.Millisecond)
	if st.Resume(at(0), short.ID(), []byte("wrong"), time.Second) != nil || st.Resume(at(0), 1, nil, time.Second) != nil {
		t.Error("a session was continued without its password")
	}
	if st.Resume(at(2*time.Second), short.ID(), []byte("short"), 8*time.Second) != short || short.Timeout() != 8*time.Second {
		t.Error("a session was not continued")
	}
	overdue(10*time.Second, long)
	st.Reload(at(20 * time.Second)) // back to the timeouts that they were granted first, in full
	if short.Timeout() != 2*time.Second {
		t.Errorf("timeout %v after a restart", short.Timeout())
	}
	overdue(22 * time.Second)
	overdue(23*time.Second, short)
	zxid := st.Zxid()
	st.EndSession(at(23*time.Second), short)
	if st.Session(short.ID()) != nil || st.Zxid() != zxid+1 {
		t.Error("the session goes on")
	}
	fresh := st.Clear(at(24*time.Second), tree.Config{TickTime: time.Second, FirstZxid: 7})
	if next := fresh.CreateSession(at(24*time.Second), time.Second, nil); next.ID() <= short.ID() || fresh.Zxid() != 8 {
		t.Errorf("session %d at %d after one of %d", next.ID(), fresh.Zxid(), short.ID())
	}
}
