package curatortest

import (
	"errors"
	"fmt"
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
