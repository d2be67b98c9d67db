package peers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// tick is that of the servers. Sessions last for 2 to 20 ticks.
const tick = 500 * time.Millisecond

// longSession is for clients that outlive the pauses of a slow machine, shortSession for those that are to die.
const longSession, shortSession = 20 * tick, 8 * tick

// clients are the programs in testdata by the names of their clients. Their arguments are a connect string and a session
// timeout in milliseconds.
var clients = map[string]func(t *testing.T, args ...string) *exec.Cmd{
	"kazoo": func(t *testing.T, args ...string) *exec.Cmd {
		return exec.Command(fetched(t, "kazoo", "bin", "python"), append([]string{source("kazoo_peer.py")}, args...)...)
	},
	"node": func(t *testing.T, args ...string) *exec.Cmd {
		cmd := exec.Command("node", append([]string{source("node", "peer.js")}, args...)...)
		cmd.Env = append(os.Environ(), "PEER_MODULES="+fetched(t, "node", "node_modules"))
		return cmd
	},
	"rust": func(t *testing.T, args ...string) *exec.Cmd {
		return exec.Command(fetched(t, "rust", "debug", "rust_peer"), args...)
	},
}

func source(elements ...string) string {
	return filepath.Join(append([]string{"testdata"}, elements...)...)
}

// env is what a test with one other client needs.
type env struct {
	t       *testing.T
	connect string
	root    string // a path of this test alone
	client  *framework.Client
	command func(t *testing.T, args ...string) *exec.Cmd
}

var roots atomic.Int64

// eachClient runs a test with each of the other clients, on the embedded server and on a real one.
func eachClient(t *testing.T, test func(e *env)) {
	t.Parallel()
	for name, command := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onServers(t, func(t *testing.T, connect string) { test(newEnv(t, connect, command)) })
		})
	}
}

// onServers runs a test on the embedded server, and on a real one.
func onServers(t *testing.T, test func(t *testing.T, connect string)) {
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, curatortest.Start(t, curatortest.WithTickTime(tick)).ConnectString())
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		test(t, suite.RealWith(t, "peers", curatortest.WithTickTime(tick)).ConnectString())
	})
}

func newEnv(t *testing.T, connect string, command func(t *testing.T, args ...string) *exec.Cmd) *env {
	t.Helper()
	e := &env{t: t, connect: connect, root: fmt.Sprintf("/peers-%d-%d", os.Getpid(), roots.Add(1)), command: command}
	e.client = curatortest.NewClient(t, connect, framework.WithSessionTimeout(longSession), framework.WithDefaultData([]byte{}),
		framework.WithLogger(slog.New(slog.DiscardHandler)))
	_, err := e.client.Create().ForPath(t.Context(), e.root)
	e.must(err)
	return e
}

// start starts the other client.
func (e *env) start(session time.Duration) *program {
	e.t.Helper()
	return start(e.t, e.command(e.t, e.connect, fmt.Sprint(session.Milliseconds())))
}

func (e *env) must(err error) {
	e.t.Helper()
	suite.OK(e.t, err)
}

func (e *env) same(what, want, got string) {
	e.t.Helper()
	if want != got {
		e.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// read returns a node's data.
func (e *env) read(path string) string {
	e.t.Helper()
	data, err := e.client.GetData().ForPath(e.t.Context(), path)
	e.must(err)
	return string(data)
}

// write creates a node, or sets its data.
func (e *env) write(path string, data []byte) {
	e.t.Helper()
	_, err := e.client.Create().OrSetData().WithData(data).ForPath(e.t.Context(), path)
	e.must(err)
}

// children waits until a node has so many children.
func (e *env) children(path string, n int) {
	e.t.Helper()
	suite.Eventually(e.t, fmt.Sprintf("%d children of %s", n, path), func() bool {
		names, err := e.client.GetChildren().ForPath(e.t.Context(), path)
		if errors.Is(err, framework.ErrNoNode) {
			return n == 0
		}
		e.must(err)
		return len(names) == n
	})
}

// notYet fails if there is an answer.
func (e *env) notYet(a *answer) {
	e.t.Helper()
	select {
	case <-a.done:
		e.t.Fatalf("answered too early: %q, %v", a.text, a.err)
	default:
	}
}

// acquiring is an acquire on a goroutine of its own.
type acquiring struct {
	e     *env
	done  chan struct{}
	lease *locks.Lease
	err   error
}

func (e *env) acquire(acquire func(ctx context.Context) (*locks.Lease, error)) *acquiring {
	a := &acquiring{e: e, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		ctx, cancel := context.WithTimeout(e.t.Context(), patience)
		defer cancel()
		a.lease, a.err = acquire(ctx)
	}()
	e.t.Cleanup(func() { <-a.done })
	return a
}

// wait returns the lease, which must come.
func (a *acquiring) wait() *locks.Lease {
	a.e.t.Helper()
	<-a.done
	a.e.must(a.err)
	return a.lease
}

func (a *acquiring) notYet() {
	a.e.t.Helper()
	select {
	case <-a.done:
		a.e.t.Fatalf("acquired too early: %v", a.err)
	default:
	}
}
