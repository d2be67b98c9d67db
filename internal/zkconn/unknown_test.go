package zkconn

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/jute"
)

// A request that the servers do not know fails with the release that knows it, and one that is sent again is no longer
// what was sent in its place.
func TestReplaceUnknown(t *testing.T) {
	var u unknownRequests
	u.missing.Store(newerBit(jute.OpCreate2) | newerBit(jute.OpAddWatch))
	node := &Call{Op: jute.OpCreate2, Req: &jute.CreateRequest{Path: "/a"}}
	for i, plain := range []bool{true, false} {
		b, err := newBatch([]*Call{node}, maxFrame)
		if err != nil {
			t.Fatal(err)
		}
		if err := u.replaceUnknown(b); err != nil || node.plain != plain {
			t.Errorf("%d: create in place of create2: %t, error %v", i, node.plain, err)
		}
		u.missing.Store(newerBit(jute.OpAddWatch))
	}
	watch, err := newBatch([]*Call{{Op: jute.OpAddWatch, Req: &jute.AddWatchRequest{Path: "/a"}}}, maxFrame)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.replaceUnknown(watch); !errors.Is(err, ErrUnimplemented) || !strings.Contains(err.Error(), "3.6") {
		t.Errorf("error %v, want one that names the release", err)
	}
}

// The end of a connection does not end the count of the next session's nodes.
func TestUncountedOfAnotherSession(t *testing.T) {
	e := ephemerals{limit: 8000, tell: func(e Event) { t.Errorf("told of %+v", e) }}
	e.begin(1)
	e.begin(2)
	underWay := make(chan struct{})
	e.recount.underWay = underWay
	for range maxCountLosses {
		e.uncounted(1, true)
	}
	select {
	case <-underWay:
		t.Error("the count has ended")
	default:
	}
	if _, limit := e.figures(); limit == 0 {
		t.Error("nothing is limited")
	}
}
