package cache

import (
	"slices"
	"testing"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// Deletions whose events have a zxid, as those of ZooKeeper 3.9, stand at that zxid; one without stands
// behind the changes that were told before it.
func TestDatedDeletions(t *testing.T) {
	tree := pathtree.New[content]("/r")
	put := func(path string, czxid, mzxid int64) {
		tree.Put(path, content{stat: jute.Stat{Czxid: czxid, Mzxid: mzxid}}, true)
	}
	for i, path := range []string{"/r", "/r/a", "/r/a/x", "/r/b", "/r/c", "/r/d", "/r/e"} {
		put(path, int64(i+1), int64(i+1))
	}
	before := tree.Publish()
	for _, path := range []string{"/r/a", "/r/b", "/r/c", "/r/e"} {
		tree.Delete(path)
	}
	put("/r/d", 6, 22)
	put("/r/f", 20, 20)
	put("/r/c", 26, 26)

	var s stream
	tell := func(path string, czxid, zxid int64) {
		s.events++
		s.deletedAt(path, czxid, zxid, 10)
	}
	s.events++ // f at 20
	s.changedAt("/r/f", s.events, 20)
	tell("/r/a/x", 3, 21)
	s.events++ // d at 22
	change := s.events
	tell("/r/a", 2, 23)
	tell("/r/b", 4, -1) // at 24, which is not told
	tell("/r/c", 5, 25)
	tell("/r/c", 26, 27) // another one, which was not shown
	s.changedAt("/r/d", change, 22)
	var got []string
	for _, c := range ordered(before, tree.Root(), func(c *content) *jute.Stat { return &c.stat }, s.take()) {
		if c.New == nil {
			got = append(got, "-"+c.Old.Path())
		} else {
			got = append(got, c.New.Path())
		}
	}
	// Nobody has told of the deletion of e, and a is deleted behind a/x.
	if want := []string{"-/r/e", "/r/f", "-/r/a/x", "/r/d", "-/r/b", "-/r/a", "-/r/c", "/r/c"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if s.take() != nil {
		t.Error("deletions are left")
	}
}
