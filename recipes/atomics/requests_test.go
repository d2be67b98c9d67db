package atomics_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/atomics"
)

// requests returns how many reads and writes the client has sent.
func (e *env) requests() (reads, writes int) {
	return e.network.Requests(jute.OpGetData), e.network.Requests(jute.OpSetData) + e.network.Requests(jute.OpCreate2)
}

// wantRequests fails unless what sends so many reads and writes.
func (e *env) wantRequests(what string, reads, writes int, do func()) {
	e.t.Helper()
	readsBefore, writesBefore := e.requests()
	do()
	readsNow, writesNow := e.requests()
	if r, w := readsNow-readsBefore, writesNow-writesBefore; r != reads || w != writes {
		e.t.Errorf("%s: %d reads and %d writes, want %d and %d", what, r, w, reads, writes)
	}
}

// A lone writer sends one request for each change, and a writer that meets conflicts two for
// each try. A value that was written some time ago, or that is a node's first, is read again.
func TestRequests(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		e.add(1, 1)
		e.wantRequests("the increment behind the create", 1, 1, func() { e.add(1, 2) })
		increment := func(n int64) func() {
			return func() {
				for range n {
					suite.Got(e.number.Increment(e.t.Context())).OK(e.t)
				}
			}
		}
		e.wantRequests("100 increments", 0, 100, increment(100))
		e.wantRequests("an increment after a pause", 1, 1, func() {
			suite.OK(e.t, wait.For(e.t.Context(), time.Minute))
			increment(1)()
		})
		e.write("\x00\x00\x00\x00\x00\x00\x00\x07")
		e.wantRequests("the first conflict, met by the number that is remembered", 1, 2, increment(1))
		e.wantOnServer(8)
		e.wantRequests("the increment after a conflict", 1, 1, increment(1))
		e.wantRequests("and those after that", 0, 2, increment(2))
		change := func() { e.write("\x00\x00\x00\x00\x00\x00\x00\x07") }
		suite.OK(e.t, e.number.ForceSet(e.t.Context(), 5))
		for range 4 {
			e.network.On(jute.OpSetData, suite.Late, change)
		}
		e.wantRequests("five tries", 4, 5, increment(1))
		e.wantOnServer(8)
	})
}

// A number that is given out of a block costs its part of one request.
func TestRequestsOfBlocks(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		ids := suite.Got(atomics.NewCachedAtomicNumber(e.number, 50)).OK(e.t)
		e.add(1, 1)
		e.add(1, 2) // a node's first version is not remembered
		e.wantRequests("200 numbers", 0, 4, func() {
			for i := range int64(200) {
				id, err := ids.Next(e.t.Context())
				if err != nil || id != 2+i {
					e.t.Fatalf("number %d is %d, %v", i, id, err)
				}
			}
		})
		e.wantOnServer(202)
	})
}
