package zkserver_test

import (
	"testing"

	"github.com/go-curator/curator/internal/jute"
)

// TestSequenceNumbersEnd shows what a server does that has no more numbers: it repeats the
// last one. ZooKeeper 3.8.0 gave the answers wanted here when its own count was set.
func TestSequenceNumbersEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		c := s.connect(20 * tick)
		do(t, c, jute.OpCreate, newNode("/x", "", 0))
		s.SetSequence("/x", 1<<31-3)
		for i, want := range []struct {
			child    string // created, if it could be
			cversion int32
			pzxid    int64
			remove   string // afterwards
		}{
			{"/x/s-2147483645", -5, 3, ""},
			{"/x/s-2147483646", -4, 4, ""},
			{"/x/s-2147483647", -5, 4, ""},
			{"", -5, 4, ""},
			{"", -5, 4, "/x/s-2147483647"},
			{"/x/s-2147483647", -5, 8, ""},
			{"", -5, 8, ""},
		} {
			f, err := c.Do(jute.OpCreate, newNode("/x/s-", "", jute.FlagSequential))
			if err != nil {
				t.Fatal(err)
			}
			var got jute.CreateResponse
			if f.Err == jute.CodeOK {
				err = jute.Decode(f.Body, &got)
			}
			if err != nil || got.Path != want.child || (f.Err == jute.CodeNodeExists) != (want.child == "") {
				t.Errorf("%d: %q, code %d, %v", i, got.Path, f.Err, err)
			}
			var stat jute.StatResponse
			if err := jute.Decode(do(t, c, jute.OpExists, &jute.PathWatchRequest{Path: "/x"}).Body, &stat); err != nil {
				t.Fatal(err)
			}
			if stat.Stat.Cversion != want.cversion || stat.Stat.Pzxid != want.pzxid {
				t.Errorf("%d: cversion %d, pzxid %d", i, stat.Stat.Cversion, stat.Stat.Pzxid)
			}
			if want.remove != "" {
				do(t, c, jute.OpDelete, &jute.DeleteRequest{Path: want.remove, Version: -1})
			}
		}
	})
}
