package zkconn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// An answer that is too large fails its request alone: those before and behind it, in the same
// write too, get their answers, and the connection lives on.
func TestLargeReply(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) { cfg.MaxReply = 64 << 10 })
		made, _ := create("/dir", 0)
		t.do(made)
		for i := range 400 {
			made, _ := create(fmt.Sprintf("/dir/%03d%s", i, strings.Repeat("x", 200)), 0)
			t.do(made)
		}
		list := func(path string) (*zkconn.Call, *jute.GetChildren2Response) {
			res := &jute.GetChildren2Response{}
			return &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: path}, Res: res}, res
		}
		before, behind := exists("/dir"), exists("/dir")
		large, _ := list("/dir")
		t.want(t.conn.Do(t.Context(), 0, before, large, behind))
		t.want(large.Err, zkconn.ErrTooLarge)
		if before.Err != nil || behind.Err != nil {
			t.Errorf("the others failed with %v and %v", before.Err, behind.Err)
		}
		small, res := list("/")
		t.do(small)
		if len(res.Children) == 0 {
			t.Error("nothing was listed behind it")
		}
		if _, states := t.took(); len(states) != 1 {
			t.Errorf("states %v", states)
		}
	})
}
