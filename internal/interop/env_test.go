package interop_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/suite"
)

// env is what a test of one lock needs, with an observer that takes no part.
type env struct {
	t        *testing.T
	b        *suite.Backend
	path     string
	observer *framework.Client
	jvm      *jvm // the shared one
}

func newEnv(t *testing.T) *env {
	t.Helper()
	return newEnvAt(t, suite.Real(t))
}

// newReapingEnv returns an env on a server that removes empty containers. Clients in the shared JVM must
// be given the address of that server.
func newReapingEnv(t *testing.T) *env {
	t.Helper()
	return newEnvAt(t, suite.RealReaping(t))
}

func newEnvAt(t *testing.T, b *suite.Backend) *env {
	t.Helper()
	e := &env{t: t, b: b, path: b.Path("lock"), jvm: sharedJVM(t)}
	e.showLog(e.jvm)
	e.observer, _ = b.Client(t)
	return e
}

// ownJVM returns a JVM for the test alone.
func (e *env) ownJVM() *jvm {
	e.t.Helper()
	j, err := programs.startPeers(e.b.ConnectString())
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(j.kill)
	e.showLog(j)
	return j
}

// showLog adds what the JVM has logged during the test to the test's own log if it fails.
func (e *env) showLog(j *jvm) {
	before, err := os.ReadFile(j.log)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		if log, err := os.ReadFile(j.log); err == nil && e.t.Failed() {
			e.t.Logf("the JVM's log:\n%s", log[len(before):])
		}
	})
}

// newContender returns a contender in Java for 'J', else in Go.
func (e *env) newContender(language rune) contender {
	e.t.Helper()
	if language == 'J' {
		return e.newJava(e.jvm)
	}
	return e.newGo()
}

// wait returns an answer that must come and be good.
func (e *env) wait(a *answer) string {
	e.t.Helper()
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	select {
	case <-a.done:
	case <-timer.C:
		e.t.Fatal("no answer")
	}
	if a.err != nil {
		e.t.Fatal(a.err)
	}
	return a.text
}

// notYet fails if the answer is there.
func (e *env) notYet(a *answer) {
	e.t.Helper()
	select {
	case <-a.done:
		e.t.Fatalf("answered too early: %q, %v", a.text, a.err)
	default:
	}
}

// acquire has the contender take the lock, which must be free, and returns its node.
func (e *env) acquire(c contender) string {
	e.t.Helper()
	node := e.wait(c.acquire())
	e.wantNodes(node)
	return node
}

// queue has the contender wait for the lock: it returns when the server says that the
// contender watches the node ahead of its own.
func (e *env) queue(c contender) *answer {
	e.t.Helper()
	ahead := e.nodes()
	a := c.acquire()
	suite.Eventually(e.t, "a waiter, behind the others", func() bool {
		e.notYet(a)
		return len(e.nodes()) == len(ahead)+1 && e.isWatched(ahead[len(ahead)-1], c)
	})
	return a
}

// nodes returns the paths of the lock's nodes, in the order of their creation.
func (e *env) nodes() []string {
	e.t.Helper()
	names, err := e.observer.GetChildren().ForPath(context.Background(), e.path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		e.t.Fatal(err)
	}
	names = layout.Sort(names, layout.Tail)
	for i, name := range names {
		names[i] = e.path + "/" + name
	}
	return names
}

// wantNodes fails if the lock has other nodes than these.
func (e *env) wantNodes(want ...string) {
	e.t.Helper()
	if nodes := e.nodes(); !slices.Equal(nodes, want) {
		e.t.Fatalf("the lock's nodes are %q, want %q", nodes, want)
	}
}

// isWatched tells whether the server has a watch of the contender on a node.
func (e *env) isWatched(node string, by contender) bool {
	e.t.Helper()
	return slices.Contains(e.watchers(node), by.session())
}

// watchers returns the sessions that watch a node, as the server tells.
func (e *env) watchers(node string) []int64 {
	e.t.Helper()
	conn, err := net.Dial("tcp", e.b.ConnectString())
	if err != nil {
		e.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "wchp"); err != nil {
		e.t.Fatal(err)
	}
	var sessions []int64
	path := ""
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		id, isSession := strings.CutPrefix(lines.Text(), "\t")
		if !isSession {
			path = id
		} else if path == node {
			session, err := strconv.ParseInt(id, 0, 64)
			if err != nil {
				e.t.Fatal(err)
			}
			sessions = append(sessions, session)
		}
	}
	return sessions
}
