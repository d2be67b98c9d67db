package curatortest

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// TB is the part of testing.TB that this package uses; the package testing is not linked.
type TB interface {
	Helper()
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// noTest replaces the test of a server that was started outside of a test. It never ends, so it runs
// no cleanups, and it keeps its failures until the server is closed.
type noTest struct {
	mu       sync.Mutex
	failures []error
}

var _ TB = (*noTest)(nil)

func (*noTest) Helper()             {}
func (*noTest) Cleanup(func())      {}
func (*noTest) Logf(string, ...any) {}

func (n *noTest) Errorf(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failures = append(n.failures, fmt.Errorf(format, args...))
}

// Fatalf is the same as Errorf. It returns, so callers must return after it.
func (n *noTest) Fatalf(format string, args ...any) { n.Errorf(format, args...) }

// err returns the failures.
func (n *noTest) err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return errors.Join(n.failures...)
}

// mustHaveTB panics if tb is nil, because without it there is no test that could fail.
func mustHaveTB(tb TB, call string) {
	if tb == nil {
		panic("curatortest: " + call + ": tb is nil")
	}
}

// inBubble reports whether the calling goroutine is in a bubble of testing/synctest. Package synctest
// has no function for that, but the first line of a goroutine's stack names the bubble. If that line
// changes in a later Go, inBubble returns false, and there is no check.
func inBubble() bool {
	var stack [128]byte
	first, _, _ := bytes.Cut(stack[:runtime.Stack(stack[:], false)], []byte("\n"))
	return bytes.Contains(first, []byte("synctest bubble"))
}

// refuseSockets fails a test that would use sockets in a bubble. The bubble's clock does not advance
// while a goroutine waits for a socket, so the test would hang until the time limit of go test.
func refuseSockets(tb TB) {
	tb.Helper()
	if inBubble() {
		tb.Fatalf("curatortest: in a bubble of testing/synctest only a server of Start with Virtual works: a socket stops the bubble's clock")
	}
}
