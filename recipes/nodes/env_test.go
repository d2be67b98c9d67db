package nodes_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/nodes"
)

const (
	ours    = "ours"
	theirs  = "theirs"
	changed = "changed"
)

// env is a client with faults and a keeper of a node, and an operator whose network is sound.
type env struct {
	t        *testing.T
	b        *suite.Backend
	dir      string
	path     string // that is given to the keeper
	client   *framework.Client
	network  *suite.Network
	operator *framework.Client
	log      *logRecorder
	node     *nodes.PersistentNode

	mu      sync.Mutex
	created []string // what a listener of the node was told
}

func newEnv(t *testing.T, b *suite.Backend, opts ...framework.Option) *env {
	t.Helper()
	e := &env{t: t, b: b, path: b.Path("node"), dir: paths.Make(b.Path("node"), ""), log: &logRecorder{}}
	e.dir, _ = paths.ParentAndNode(e.path)
	e.operator, _ = b.Client(t)
	opts = append([]framework.Option{framework.WithLogger(slog.New(e.log))}, opts...)
	e.client, e.network = b.Client(t, opts...)
	e.connected(e.client)
	e.connected(e.operator)
	return e
}

func (e *env) connected(client *framework.Client) {
	e.t.Helper()
	suite.OK(e.t, client.BlockUntilConnected(e.t.Context()))
}

// keep makes a keeper of the node, which is closed at the end of the test.
func (e *env) keep(mode framework.CreateMode, opts ...nodes.Option) *nodes.PersistentNode {
	e.t.Helper()
	node, err := nodes.NewPersistentNode(e.client, e.path, mode, []byte(ours), opts...)
	return e.kept(node, err)
}

// kept takes over a keeper from its constructor.
func (e *env) kept(node *nodes.PersistentNode, err error) *nodes.PersistentNode {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
	e.node = node
	node.CreatedListenable().Add(func(_ context.Context, path string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.created = append(e.created, path)
	})
	e.t.Cleanup(func() {
		err := node.Close(context.WithoutCancel(e.t.Context()))
		if err != nil && !errors.Is(err, framework.ErrClosed) && !errors.Is(err, context.DeadlineExceeded) { // what the test has seen
			e.t.Errorf("Close: %v", err)
		}
	})
	return node
}

func (e *env) start() {
	e.t.Helper()
	suite.OK(e.t, e.node.Start(e.t.Context()))
}

func (e *env) close() {
	e.t.Helper()
	suite.OK(e.t, e.node.Close(e.t.Context()))
}

// names returns the children of the directory, in their order.
func (e *env) names() []string {
	e.t.Helper()
	if err := e.operator.Sync().ForPath(e.t.Context(), e.dir); err != nil && !errors.Is(err, framework.ErrNoNode) {
		e.t.Fatal(err)
	}
	names, err := e.operator.GetChildren().ForPath(e.t.Context(), e.dir)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		e.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// read returns the data and the Stat of the kept node, and whether it is there.
func (e *env) read() (data string, stat framework.Stat, there bool) {
	e.t.Helper()
	path := e.node.ActualPath()
	if path == "" {
		path = e.path
	}
	raw, err := e.operator.GetData().StoringStatIn(&stat).ForPath(e.t.Context(), path)
	if errors.Is(err, framework.ErrNoNode) {
		return "", stat, false
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return string(raw), stat, true
}

// until waits until the node has the data, and is the only one.
func (e *env) until(data string) framework.Stat {
	e.t.Helper()
	var stat framework.Stat
	suite.Eventually(e.t, "the node with "+data, func() bool {
		got, s, there := e.read()
		stat = s
		return there && got == data
	})
	e.wantOne()
	return stat
}

// untilOwned is until, for a node of the client's session of now.
func (e *env) untilOwned(data string) framework.Stat {
	e.t.Helper()
	var stat framework.Stat
	suite.Eventually(e.t, "the node of this session with "+data, func() bool {
		got, s, there := e.read()
		stat = s
		return there && got == data && s.EphemeralOwner == e.client.SessionID() && s.EphemeralOwner != 0
	})
	e.wantOne()
	return stat
}

// wantOne fails unless the node is the only child of its directory.
func (e *env) wantOne() {
	e.t.Helper()
	_, name := paths.ParentAndNode(e.node.ActualPath())
	if names := e.names(); !slices.Equal(names, []string{name}) {
		e.t.Fatalf("the directory has %q, want %q alone", names, name)
	}
}

func (e *env) wantNone() {
	e.t.Helper()
	if names := e.names(); len(names) > 0 {
		e.t.Fatalf("the directory has %q", names)
	}
}

func (e *env) untilNone() {
	e.t.Helper()
	suite.Eventually(e.t, "an empty directory", func() bool { return len(e.names()) == 0 })
}

// elapse lets virtual time pass, and everything happen that is due then.
func elapse(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// quiet waits until the keeper has nothing to do: an exchange of its connection is over, and its
// watch is set.
func (e *env) quiet() {
	e.t.Helper()
	if e.b.Virtual {
		elapse(3 * suite.SessionTimeout)
		return
	}
	suite.Eventually(e.t, "the watch on the node", func() bool { return e.watches(e.client) == 1 })
}

// watches returns how many watches a client has.
func (e *env) watches(client *framework.Client) int {
	e.t.Helper()
	conn := suite.Got(zkclient.Of(client).Conn()).OK(e.t)
	return conn.Watches()
}

// closed closes the keeper, and fails if it leaves a node or a watch.
func (e *env) closed() {
	e.t.Helper()
	e.close()
	e.untilNone()
	if n := e.watches(e.client); n > 0 {
		e.t.Fatalf("%d watches are left", n)
	}
}

// operate has the operator do something.
func (e *env) operate(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) delete() {
	e.t.Helper()
	e.operate(e.operator.Delete().ForPath(e.t.Context(), e.node.ActualPath()))
}

// overwrite has the operator set the data of the node.
func (e *env) overwrite(data string) {
	e.t.Helper()
	_, err := e.operator.SetData().ForPath(e.t.Context(), e.node.ActualPath(), []byte(data))
	e.operate(err)
}

// occupy makes a node with the data of others at the path, by a client.
func (e *env) occupy(client *framework.Client, mode framework.CreateMode) {
	e.t.Helper()
	_, err := client.Create().CreatingParentContainersIfNeeded().WithMode(mode).WithData([]byte(theirs)).ForPath(e.t.Context(), e.path)
	e.operate(err)
}

// creations waits until the listener was told of n creations, and returns them.
func (e *env) creations(n int) []string {
	e.t.Helper()
	var told []string
	suite.Eventually(e.t, "the listener", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		told = slices.Clone(e.created)
		return len(told) >= n
	})
	if len(told) != n {
		e.t.Fatalf("the listener was told of %q, want %d", told, n)
	}
	return told
}

// logged waits until there are these lines of kept nodes, of which the beginnings are given.
func (e *env) logged(want ...string) {
	e.t.Helper()
	suite.Eventually(e.t, "the log", func() bool { return len(e.log.all()) >= len(want) })
	lines := e.log.all()
	for i, line := range lines {
		if len(lines) != len(want) || !strings.HasPrefix(line, want[i]) {
			e.t.Fatalf("logged %q, want %q", lines, want)
		}
	}
}

// traffic are the requests of a client that change or read a node.
type traffic struct{ writes, reads int }

func (e *env) traffic() (n traffic) {
	for _, op := range []jute.Op{jute.OpCreate2, jute.OpCreateTTL, jute.OpCreateContainer, jute.OpMulti, jute.OpSetData, jute.OpDelete} {
		n.writes += e.network.Requests(op)
	}
	for _, op := range []jute.Op{jute.OpGetData, jute.OpExists, jute.OpGetChildren2} {
		n.reads += e.network.Requests(op)
	}
	return n
}

func (n traffic) minus(before traffic) traffic {
	return traffic{n.writes - before.writes, n.reads - before.reads}
}

// logRecorder keeps what is logged of kept nodes.
type logRecorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *logRecorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *logRecorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *logRecorder) WithGroup(string) slog.Handler            { return r }

func (r *logRecorder) Handle(_ context.Context, record slog.Record) error {
	if strings.Contains(record.Message, "kept node") {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lines = append(r.lines, record.Level.String()+" "+record.Message)
	}
	return nil
}

func (r *logRecorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}
