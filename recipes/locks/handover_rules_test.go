package locks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// Rule H3: the context of a lease ends before its node is handed over. Here the line is locked, so that the
// Release stands still between the two.
func TestRuleH3(t *testing.T) {
	server := curatortest.Start(t)
	mutex := mutexOf(t, server.Client(t), locks.WithLocalHandover(1))
	lease := take(t, mutex)
	next := make(chan *locks.Lease, 1)
	go func() { next <- take(t, mutex) }()
	suite.Eventually(t, "one in the line", func() bool { return locks.InLine(mutex) == 1 })
	let := locks.HoldLines(mutex)
	released := make(chan error, 1)
	go func() { released <- lease.Release(t.Context()) }()
	select {
	case <-lease.Context().Done():
	case <-next:
		t.Error("handed over although the line is locked")
	case <-time.After(10 * time.Second):
		t.Error("the context waits for the hand-over")
	}
	let()
	if err := <-released; err != nil {
		t.Error(err)
	}
	second := <-next
	if second.Token() != lease.Token() {
		t.Error("the node was not handed over")
	}
	giveBack(t, second)
}

// Rule H7: the last holder releases with the marker if the node has waited, also if a former holder has. A node
// that has not waited is released without.
func TestRuleH7(t *testing.T) {
	for name, waits := range map[string]bool{"waited": true, "did not wait": false} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			var other *queued
			if waits {
				other = enqueue(t, s, virtualMutex(t))
			}
			c := startGoroutines(t, s, locks.WithLocalHandover(10))
			first, second := c.join(), c.join()
			if waits {
				other.release()
			}
			first.release()
			if !second.in() || second.lease.Token() != first.lease.Token() {
				t.Fatal("the node was not handed over")
			}
			c.traffic.Take()
			second.release()
			if got := c.traffic.Take(); strings.Contains(got, "multi=1") != waits {
				t.Errorf("%q for the last release", got)
			}
		})
	}
}
