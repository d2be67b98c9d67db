package leader

import (
	"sync"

	"github.com/go-curator/curator/internal/zkclient"
)

// twins counts the latches of one client by election and id. Two of them are two participants
// that nobody can tell apart, which is rarely meant.
type twins struct {
	mu    sync.Mutex
	count map[twin]int
}

type twin struct{ full, id string }

// twinsOf returns those of a client.
func twinsOf(api *zkclient.Client) *twins { return zkclient.SharedOf[twins](api) }

// add counts a latch, and reports whether it is the second one.
func (t *twins) add(of twin) (second bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil {
		t.count = map[twin]int{}
	}
	t.count[of]++
	return t.count[of] == 2
}

func (t *twins) remove(of twin) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count[of]--; t.count[of] == 0 {
		delete(t.count, of)
	}
}
