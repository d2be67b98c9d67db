package model

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree makes changes for a Model. Each step is a second later, and zxids rise.
type tree struct {
	t     *testing.T
	model *Model
	nodes map[string]*Node
	zxid  int64
	now   time.Time
}

func newTree(t *testing.T) *tree {
	return &tree{t: t, model: New(), nodes: map[string]*Node{}, now: time.UnixMilli(1_800_000_000_000)}
}

// node parses a line: the path of a node, @ and the number of the session that owns it, and = and its
// data.
func (tr *tree) node(line string) *Node {
	rest, data, _ := strings.Cut(line, " =")
	path, owner, _ := strings.Cut(rest, " @")
	n := &Node{Path: path, Created: tr.now, Modified: tr.now, Size: int32(len(data)), Facts: Read([]byte(data))}
	if owner != "" {
		if _, err := fmt.Sscan(owner, &n.Session); err != nil {
			tr.t.Fatal(line, err)
		}
	}
	if old := tr.nodes[path]; old != nil {
		n.Czxid, n.Created, n.Version = old.Czxid, old.Created, old.Version+1
	} else {
		tr.zxid++
		n.Czxid = tr.zxid
	}
	tr.nodes[path] = n
	return n
}

// withParents returns a line, after lines for the parents that do not exist.
func (tr *tree) withParents(line string) (lines []string) {
	path, _, _ := strings.Cut(line, " ")
	for parent, _ := split(path); parent != "" && tr.nodes[parent] == nil; parent, _ = split(parent) {
		lines = append(lines, parent)
	}
	slices.Reverse(lines)
	return append(lines, line)
}

// step applies changes that are seen at the same time: lines for node, and - and the path of a node
// that is deleted.
func (tr *tree) step(live bool, lines ...string) {
	tr.now = tr.now.Add(time.Second)
	var changes []Change
	for _, line := range lines {
		if path, gone := strings.CutPrefix(line, "-"); gone {
			changes = append(changes, Change{Node: tr.nodes[path], Deleted: true})
			delete(tr.nodes, path)
			continue
		}
		for _, line := range tr.withParents(line) {
			changes = append(changes, Change{Node: tr.node(line)})
		}
	}
	tr.model.Apply(tr.now, live, changes)
}

// seen returns the recipes as text, each on a line.
func (tr *tree) seen() string {
	var b strings.Builder
	for _, r := range tr.model.Recipes() {
		fmt.Fprintf(&b, "%s %s", r.Kind, r.Path)
		for _, c := range r.Holders {
			fmt.Fprintf(&b, " +%s", brief(c))
		}
		for _, c := range r.Waiters {
			fmt.Fprintf(&b, " -%s", brief(c))
		}
		if r.Max > 0 {
			fmt.Fprintf(&b, " max=%d", r.Max)
		}
		if r.Variant != "" {
			fmt.Fprintf(&b, " (%s)", r.Variant)
		}
		if r.Value != "" {
			fmt.Fprintf(&b, " =%s", r.Value)
		}
		if r.Open {
			b.WriteString(" open")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func brief(c Contender) string {
	_, name := split(c.Node)
	if c.Name != "" && c.Due == 0 {
		name = c.Name
	}
	text := strings.TrimPrefix(name, "_c_")
	if c.Asked {
		text += "?"
	}
	if c.Role != "" {
		text += ":" + c.Role
	}
	return text
}

func number(n int64, size int) string {
	data := make([]byte, 8)
	binary.BigEndian.PutUint64(data, uint64(n))
	return string(data[8-size:])
}

const instance = `{"name":"web","id":"i1","address":"10.0.0.7","port":80,"sslPort":null,"payload":null,"registrationTimeUTC":1325129459728,"serviceType":"DYNAMIC","uriSpec":null}`

// TestRecipes checks which recipes are found for the nodes of each recipe, and for other nodes.
func TestRecipes(t *testing.T) {
	uuid := "53345f98-9423-4e0c-a7b5-9f819e3ec2e1"
	for name, tt := range map[string]struct {
		nodes []string
		want  string
	}{
		"nothing":                   {[]string{"/", "/zookeeper", "/zookeeper/config =server.1=a", "/app =hello", "/app/x"}, ""},
		"a mutex":                   {[]string{"/l", "/l/_c_" + uuid + "-lock-0000000003 @2 =10.0.0.2", "/l/_c_a-lock-0000000002 @1 =10.0.0.1\nowner=api\nhost=web-7\npid=42"}, "lock /l +api on web-7, pid 42 -10.0.0.2\n"},
		"a mutex that was asked":    {[]string{"/l/lock-0000000002 @1 =__REVOKE__"}, "lock /l +lock-0000000002?\n"},
		"folders beside contenders": {[]string{"/l/lock-0000000002 @1", "/l/notes", "/l/x-lock-1"}, "lock /l +lock-0000000002\n"},
		"readers":                   {[]string{"/l/a-__READ__0000000001 @1", "/l/b-__READ__0000000002 @2", "/l/c-__WRIT__0000000003 @3", "/l/d-__READ__0000000004 @4"}, "read-write /l +a-__READ__0000000001:read +b-__READ__0000000002:read -c-__WRIT__0000000003:write -d-__READ__0000000004:read\n"},
		"a writer":                  {[]string{"/l/a-__WRIT__0000000001 @1", "/l/b-__READ__0000000002 @2"}, "read-write /l +a-__WRIT__0000000001:write -b-__READ__0000000002:read\n"},
		"a downgraded writer":       {[]string{"/l/z-__WRIT__0000000001 @1", "/l/a-__READ__0000000001 @1", "/l/b-__READ__0000000002 @2"}, "read-write /l +a-__READ__0000000001:read +z-__WRIT__0000000001:write -b-__READ__0000000002:read\n"},
		"a latch":                   {[]string{"/l/a-latch-0000000001 @1 =node-1", "/l/b-latch-0000000002 @2 =node-2"}, "election /l +node-1 -node-2\n"},
		"a selector":                {[]string{"/l/a-lock-0000000001 @1 =node-1", "/l/b-lock-0000000002 @2 =node-2"}, "election /l +node-1 -node-2\n"},
		"leases":                    {[]string{"/s/leases/a-lease-0000000000 @1", "/s/leases/b-lease-0000000001 @2", "/s/locks"}, "semaphore /s +a-lease-0000000000 +b-lease-0000000001\n"},
		"a full semaphore":          {[]string{"/s/leases/a-lease-0000000000 @1", "/s/locks/x-lock-0000000007 @2", "/s/leases/b-lease-0000000001 @2", "/s/locks/y-lock-0000000008 @3"}, "semaphore /s +a-lease-0000000000 -x-lock-0000000007 -y-lock-0000000008\n"},
		"an idle semaphore":         {[]string{"/s/leases", "/s/locks"}, "semaphore /s\n"},
		"folders named so":          {[]string{"/s/leases/car", "/s/locks/a/lock-0000000001 @1"}, "lock /s/locks/a +lock-0000000001\n"},
		"a queue":                   {[]string{"/q/queue-0000000002", "/q/queue-0000000001"}, "queue /q +queue-0000000001 +queue-0000000002\n"},
		"a priority queue":          {[]string{"/q/queue-1000000FF0000000003", "/q/queue-0FFFFFFFF0000000004"}, "queue /q +queue-0FFFFFFFF0000000004 +queue-1000000FF0000000003 (priority)\n"},
		"a delay queue":             {[]string{"/q/queue-|18BCFE56900|0000000000", "/q/queue-|18BCFE56800|0000000001"}, "queue /q +queue-|18BCFE56800|0000000001 +queue-|18BCFE56900|0000000000 (delay)\n"},
		"an id queue":               {[]string{"/q/queue-|b|0000000000", "/q/queue-|a|0000000001"}, "queue /q +queue-|b|0000000000 +queue-|a|0000000001 (id)\n"},
		"ids that look like times": {[]string{"/q/queue-|19A00000000|0000000000", "/r/queue-|19a00000000|0000000000", "/s/queue-|000000FF|0000000000"},
			"queue /q +queue-|19A00000000|0000000000 (delay)\nqueue /r +queue-|19a00000000|0000000000 (id)\nqueue /s +queue-|000000FF|0000000000 (id)\n"},
		"a simple queue":      {[]string{"/q/qn-0000000001"}, "queue /q +qn-0000000001 (simple)\n"},
		"items worked on":     {[]string{"/c/queue-0000000001 @5 =10.0.0.5"}, "claims /c +queue-0000000001 10.0.0.5\n"},
		"a barrier":           {[]string{"/barriers/start", "/x/My-Barrier =10.0.0.1"}, "barrier /barriers/start\nbarrier /x/My-Barrier\n"},
		"a double barrier":    {[]string{"/b/" + uuid + " @1", "/b/ready"}, "double-barrier /b +" + uuid + " open\n"},
		"a filling barrier":   {[]string{"/b/" + uuid + " @1"}, "double-barrier /b +" + uuid + "\n"},
		"a group":             {[]string{"/g/web-1 @1 =10.0.0.1", "/g/web-2 @2"}, "group /g +web-1 +web-2\n"},
		"a service, by hand":  {[]string{`/d/web/i1 @1 ={"name":"web","id":"i1","port":"80","serviceType":1,"uriSpec":"{address}"}`}, "service /d/web +i1\n"},
		"a service":           {[]string{"/d/web/i1 @1 =" + instance}, "service /d/web +i1\n"},
		"counters":            {[]string{"/n/a =" + number(7, 4), "/n/b =" + number(-2, 8), "/n/text =abcd", "/n/odd =" + number(1, 8)[:7]}, "counter /n/a (32 bits) =7\ncounter /n/b (64 bits) =-2\n"},
		"kinds mixed":         {[]string{"/l/a-lock-0000000001 @1", "/l/a-latch-0000000002 @1"}, "unclear /l\n"},
		"kazoo's lock":        {[]string{"/l/abc__lock__0000000001 @1"}, "unclear /l\n"},
		"the root is no lock": {[]string{"/", "/lock-0000000001 @1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, backwards := range []bool{false, true} {
				tr := newTree(t)
				lines := slices.Clone(tt.nodes)
				if backwards && !strings.Contains(name, "full") { // the order of creation matters there
					slices.Reverse(lines)
				}
				tr.step(false, lines...)
				if got := tr.seen(); got != tt.want {
					t.Errorf("backwards %v: got\n%swant\n%s", backwards, got, tt.want)
				}
			}
		})
	}
}

// TestHistory checks the history of a lock that passes from holder to holder.
func TestHistory(t *testing.T) {
	tr := newTree(t)
	begin := tr.now
	tr.step(false, "/l", "/l/a-lock-0000000001 @1 =10.0.0.1\nowner=a", "/l/b-lock-0000000002 @2 =10.0.0.1\nowner=b") // 1
	tr.step(true, "/l/c-lock-0000000003 @3 =10.0.0.1\nowner=c", "/l/d-lock-0000000004 @4 =10.0.0.1\nowner=d")        // 2
	tr.step(true, "/l/b-lock-0000000002 @2 =__REVOKE__")                                                             // 3
	tr.step(true, "-/l/a-lock-0000000001")                                                                           // 4
	tr.step(true, "-/l/c-lock-0000000003", "-/l/b-lock-0000000002")                                                  // 5, c shortly after b
	tr.step(true, "-/l/d-lock-0000000004")                                                                           // 6
	tr.step(true, "/l/e-lock-0000000005 @5 =10.0.0.1\nowner=e")                                                      // 7
	var b strings.Builder
	for _, h := range tr.model.History(0) {
		at := func(ms int64) string {
			return fmt.Sprint(time.UnixMilli(ms).Sub(begin).Round(time.Second).Seconds())
		}
		fmt.Fprintf(&b, "%d %s %s %s-%s %v > %s\n", h.Number, h.Name, at(h.Since), at(h.From), at(h.Until), h.Exact, h.Next)
	}
	want := "1 a 1 1-4 false > b\n2 b 1 4-5 true > c\n3 c 2 5-5 true > d\n4 d 2 5-6 true > \n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", &b, want)
	}
	r, _ := tr.model.Recipe("/l", 0, 10)
	if r.Grants != 4 || r.Holding != 1 || !r.Holders[0].Exact || r.Holders[0].Name != "e" {
		t.Errorf("%+v", r)
	}
	if later := tr.model.History(3); len(later) != 1 || later[0].Number != 4 {
		t.Errorf("behind 3: %+v", later)
	}
	for i := range 3 * historyLength {
		tr.step(true, fmt.Sprintf("/l/f-lock-%010d @1", i+6))
		tr.step(true, fmt.Sprintf("-/l/f-lock-%010d", i+6))
	}
	tr.step(true, "-/l/e-lock-0000000005")
	if h := tr.model.History(0); len(h) > historyLength {
		t.Errorf("%d holds are kept", len(h))
	}
}

// A free lock is still a lock until its node is deleted. Take returns each change once.
func TestTake(t *testing.T) {
	tr := newTree(t)
	take := func(recipes, gone int) {
		t.Helper()
		if d := tr.model.Take(); len(d.Recipes) != recipes || len(d.Gone) != gone {
			t.Errorf("%+v", d)
		}
	}
	tr.step(false, "/x", "/x/l", "/x/l/lock-0000000001 @1")
	tr.model.Take()
	take(0, 0)
	tr.step(true, "-/x/l/lock-0000000001")
	if got := tr.seen(); got != "lock /x/l\n" {
		t.Error(got)
	}
	take(1, 0)
	tr.step(true, "-/x/l")
	take(0, 1)
	tr.step(true, "/x/l", "/x/l/a-latch-0000000001 @1")
	tr.step(true, "-/x/l/a-latch-0000000001")
	tr.step(true, "/x/l/queue-0000000001")
	if got := tr.seen(); got != "queue /x/l +queue-0000000001\n" {
		t.Error(got)
	}
	if tr.model.Len() != 4 {
		t.Error(tr.model.Len())
	}
}

// The maximum of a semaphore is inferred when somebody waits for longer than confirmAfter.
func TestMaximum(t *testing.T) {
	tr := newTree(t)
	tr.step(false, "/s/leases", "/s/locks")
	tr.step(true, "/s/locks/x-lock-0000000001 @1", "/s/leases/a-lease-0000000001 @1", "-/s/locks/x-lock-0000000001")
	tr.step(true, "/s/locks/x-lock-0000000002 @2", "/s/leases/b-lease-0000000002 @2", "-/s/locks/x-lock-0000000002")
	tr.step(true, "/s/locks/x-lock-0000000003 @3", "/s/leases/c-lease-0000000003 @3")
	if r, _ := tr.model.Recipe("/s", 0, 10); r.Max != 0 || r.Holding != 2 || r.Waiting != 1 {
		t.Errorf("%+v", r)
	}
	tr.model.Tick(tr.now.Add(confirmAfter))
	if r, _ := tr.model.Recipe("/s", 0, 10); r.Max != 2 {
		t.Errorf("%+v", r)
	}
	owned, total := tr.model.Session(3)
	if total != 2 || owned[0].Kind != Semaphore || owned[0].Holds || owned[1].Place != 1 {
		t.Errorf("%d, %+v", total, owned)
	}
	tr.step(true, "-/s/leases/a-lease-0000000001")
	if r, _ := tr.model.Recipe("/s", 0, 10); r.Holding != 1 || r.Max != 2 {
		t.Errorf("%+v", r)
	}
}

// TestSession checks the nodes that a session owns.
func TestSession(t *testing.T) {
	tr := newTree(t)
	tr.step(false, "/l/a-lock-0000000001 @1 =10.0.0.1\nowner=a", "/l/b-lock-0000000002 @2 =10.0.0.1\nowner=b", "/l/c-lock-0000000003 @1",
		"/g/web-1 @1", "/e/x-latch-0000000001 @1")
	owned, total := tr.model.Session(1)
	var b strings.Builder
	for _, o := range owned {
		fmt.Fprintf(&b, "%s %s %v %d %s\n", o.Node, o.Kind, o.Holds, o.Place, o.Next)
	}
	want := "/e/x-latch-0000000001 election true 0 \n/g/web-1 group false 0 \n/l/a-lock-0000000001 lock true 0 b\n/l/c-lock-0000000003 lock false 2 \n"
	if total != 4 || b.String() != want {
		t.Errorf("%d\n%s", total, &b)
	}
	if tr.model.Sessions() != 2 {
		t.Error(tr.model.Sessions())
	}
}

// Ages are right although the clock of the servers is wrong.
func TestSkew(t *testing.T) {
	tr := newTree(t)
	n := tr.node("/l/a-lock-0000000001 @1")
	n.Created = tr.now.Add(-time.Hour)
	tr.model.Apply(tr.now, true, []Change{{Node: n}})
	if r, _ := tr.model.Recipe("/l", 0, 1); r.Holders[0].Since != tr.now.UnixMilli() || tr.model.Skew() != time.Hour {
		t.Errorf("%+v, skew %v", r, tr.model.Skew())
	}
}

// BenchmarkHandOver hands over a lock with ten thousand waiters.
func BenchmarkHandOver(b *testing.B) {
	m := New()
	var changes []Change
	now := time.Now()
	const waiters = 10_000
	node := func(i int) *Node {
		return &Node{Path: fmt.Sprintf("/l/_c_%08x-lock-%010d", uint32(i*2654435761), i), Czxid: int64(i + 1), Created: now, Session: int64(i%100 + 1)}
	}
	for i := range waiters {
		changes = append(changes, Change{Node: node(i)})
	}
	m.Apply(now, false, changes)
	i := 0
	for b.Loop() {
		m.Apply(now, true, []Change{{Node: node(i), Deleted: true}, {Node: node(i + waiters)}})
		m.Take()
		i++
	}
}
