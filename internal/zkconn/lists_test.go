package zkconn_test

import (
	"fmt"
	"testing"

	"github.com/go-curator/curator/internal/zkconn"
)

// TestLargeLists: a list of children that is near the limit is told once, until it is shorter again.
func TestLargeLists(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.limited(8000)
		dir, name := t.made("/dir", 0), func(i int) string { return fmt.Sprintf("/dir/%096d", i) }
		list := func() int {
			t.do(zkconn.List(dir, nil))
			return t.conn.Stats().List
		}
		if size := list(); size != 16+4+68 || t.conn.Stats().List != 0 {
			t.Errorf("an empty list has %d bytes, and then %d", size, t.conn.Stats().List)
		}
		for range 2 {
			for i := range 40 {
				t.made(name(i), 0)
			}
			if size := list(); size != 16+4+40*100+68 || list() != size {
				t.Errorf("a list has %d bytes", size)
			}
			events := t.told(zkconn.ListLarge)
			if len(events) != 1 || events[0].Path != dir || events[0].Bytes != 4088 || events[0].Limit != 8000 {
				t.Errorf("told of %+v", events)
			}
			for i := range 20 {
				t.do(remove(name(i)))
			}
			list()
			for i := range 20 {
				t.do(remove(name(20 + i)))
			}
		}
		for d := range 80 {
			t.made(fmt.Sprintf("/d%d", d), 0)
			for i := range 40 {
				t.made(fmt.Sprintf("/d%d/%096d", d, i), 0)
			}
		}
		for range 2 {
			for d := range 80 {
				t.do(zkconn.List(fmt.Sprintf("/d%d", d), nil))
			}
		}
		if events := t.told(zkconn.ListLarge); len(events) != 64 {
			t.Errorf("told of %d nodes, want the 64 that are remembered", len(events))
		}
	})
}
