package zkconn

import (
	"sync"
	"sync/atomic"

	"github.com/go-curator/curator/internal/jute"
)

// lists observes how large the lists of children are. A client that does not accept an answer of that size, as those of
// Java do not above their own jute.maxbuffer, cannot read the list, and loses its connection.
type lists struct {
	limit int // zero to observe nothing; it does not change, as tell
	tell  func(Event)

	largest atomic.Int64 // since figures was called last
	told    atomic.Int32 // how many paths there are in near

	mu   sync.Mutex          // is taken last
	near map[string]struct{} // the nodes whose lists are large, as the listeners know
}

// maxNear is how many nodes with large lists are remembered. What there is beyond that is not told.
const maxNear = 64

// answered takes note of the size of an answer, if it is a list.
func (l *lists) answered(call *Call, code jute.Code, size int) {
	if call.Op != jute.OpGetChildren && call.Op != jute.OpGetChildren2 || code != jute.CodeOK || l.limit == 0 {
		return
	}
	storeMax(&l.largest, int64(size))
	req, ok := call.Req.(*jute.PathWatchRequest)
	if !ok || size < l.limit/2 && l.told.Load() == 0 {
		return
	}
	l.mu.Lock()
	_, near := l.near[req.Path]
	news := !near && size >= l.limit/2 && len(l.near) < maxNear
	switch {
	case news && l.near == nil:
		l.near = map[string]struct{}{req.Path: {}}
	case news:
		l.near[req.Path] = struct{}{}
	case near && size <= l.limit*3/8:
		delete(l.near, req.Path)
	}
	l.told.Store(int32(len(l.near)))
	l.mu.Unlock()
	if news {
		l.tell(Event{Kind: ListLarge, Session: call.Session, Path: req.Path, Bytes: size, Limit: l.limit})
	}
}

// storeMax sets a to v unless it is higher already.
func storeMax(a *atomic.Int64, v int64) {
	for {
		old := a.Load()
		if v <= old || a.CompareAndSwap(old, v) {
			return
		}
	}
}
