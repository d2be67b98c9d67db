package cache

import (
	"fmt"
	"slices"
	"testing"
)

// Requests that are finished use no memory while an older one goes on failing.
func TestFinishedRequestsUseNoMemory(t *testing.T) {
	q := newRequests()
	q.add("/fails", get, false, 1)
	failing := q.first()
	q.shift()
	q.fail(failing)
	for i := range 1000 {
		path := fmt.Sprint("/", i)
		q.add(path, get, false, int64(2+i%7))
		r := q.first()
		q.shift()
		q.finish(r)
		q.finish(r) // does nothing
	}
	if n := len(q.oldest); n != 1 {
		t.Errorf("%d requests are kept, want the one that fails", n)
	}
}

// The zxid up to which everything has been read is the least of the requests that are left.
func TestOldestRequest(t *testing.T) {
	q := newRequests()
	var zxids []int64
	for i := range 100 {
		zxid := int64(i*37%101 + 1)
		zxids = append(zxids, zxid)
		q.add(fmt.Sprint("/", i), get, false, zxid)
	}
	for i, zxid := range slices.Clone(zxids) {
		if got, want := q.since(1000), slices.Min(zxids[i:]); got != want {
			t.Fatalf("after %d of them: %d, want %d", i, got, want)
		}
		r := q.get(fmt.Sprint("/", i), get)
		if r.since != zxid {
			t.Fatalf("since %d, want %d", r.since, zxid)
		}
		q.finish(r)
	}
	if got := q.since(1000); got != 1000 {
		t.Errorf("without requests: %d", got)
	}
}
