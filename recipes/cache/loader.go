package cache

import (
	"container/heap"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// window is how much may be in flight: about as many reads of small nodes. More would only wait
// at the server, and in the memory of both.
const window = 256

// A server answers the requests of a connection one after the other, the client's pings among them. If many
// caches of a client fill their windows, the answers come too late for a short session, and the client gives the
// connection up. So there is a common limit: beyond crowd, of all that wait on the connection, a cache has
// no more than share in flight. The caches send at the same time, so each looks again after glance requests.
const (
	crowd  = 1024
	share  = 32
	glance = 8
)

// verb is what a request asks of a node.
type verb int8

const (
	get   verb = iota + 1 // the data
	check                 // the Stat alone
	list                  // the names of the children
)

// op is the operation's name in errors.
func (v verb) op() string {
	switch v {
	case list:
		return "getChildren"
	case check:
		return "exists"
	default:
		return "getData"
	}
}

// watches is the kind of the one-shot watch that goes with the read.
func (v verb) watches() zkconn.WatchKind {
	if v == list {
		return zkconn.WatchChildren
	}
	return zkconn.WatchData
}

// request is a read that is to be made, or under way. While there is one, what the cache has of
// the node may be behind.
type request struct {
	path   string // the client's
	verb   verb
	walk   bool  // part of a load: the children are to be compared, too
	since  int64 // up to this zxid what the cache has of the node is right
	weight int64 // how much of the window it takes; 0 while it is not sent
	stage  stage
	place  int       // where it is among the oldest; -1 if it is not among them
	event  int       // the last event of the node, see stream; 0 for none
	fails  int       // how often a server has refused it
	failed time.Time // when one did first on this connection
}

// stage is how far a request is.
type stage int8

const (
	wanted  stage = iota // to be sent, or in flight
	failing              // it has failed, and is tried again
	done                 // forgotten
)

// requestKey finds a request. get and check are not made at once.
type requestKey struct {
	path string
	list bool
}

func (r *request) key() requestKey { return requestKey{r.path, r.verb == list} }

// weigh returns how much of the window the request takes, if known is what is known of its node: a large node
// takes as much as several.
func (r *request) weigh(known *pathtree.Node[content]) int64 {
	const size, children = 16 << 10, 1 << 10
	switch {
	case known == nil || r.verb == check:
		return 1
	case r.verb == list:
		return min(1+int64(known.Value.stat.NumChildren)/children, window)
	default:
		return min(1+int64(known.Value.stat.DataLength)/size, window)
	}
}

// failure is the user's error of the request.
func (r *request) failure(attempts int, err error) error {
	return &framework.OpError{Op: r.verb.op(), Path: r.path, Attempts: attempts, Err: err}
}

// source is a list of nodes that are to be read. The request for each is made when it is sent,
// because there may be very many nodes.
type source struct {
	parent string                    // the client's path of the node that names are the children of
	names  []string                  // either these, which are not known
	nodes  []*pathtree.Node[content] // or these, which are compared; parent is "" then
	walk   bool
	since  int64
}

// compares tells whether the nodes are in the tree, and are to be compared with the server's.
func (s *source) compares() bool { return s.parent == "" }

// next returns the path of the next node, and false at the end.
func (s *source) next() (path string, ok bool) {
	switch {
	case len(s.nodes) > 0:
		path, s.nodes = s.nodes[0].Path(), s.nodes[1:]
		return path, true
	case len(s.names) > 0:
		path, s.names = zkclient.Join(s.parent, s.names[0]), s.names[1:]
		return path, true
	default:
		return "", false
	}
}

// requests is all that is to be read and what is being read.
type requests struct {
	window  *semaphore.Weighted
	all     map[requestKey]*request
	ready   []*request // to be sent, in this order
	failed  []*request // to be sent again after a pause
	failing int        // the requests that have failed, also those that are being tried again
	flying  int        // the requests that are in flight
	sources []*source  // behind the others, the last one first
	walking int        // the requests and sources that are part of a load
	oldest  bySince
}

func newRequests() requests {
	return requests{window: semaphore.NewWeighted(window), all: map[requestKey]*request{}}
}

// idle tells whether nothing is to be read.
func (q *requests) idle() bool { return len(q.all) == 0 && len(q.sources) == 0 }

// get returns the request for a node, nil if there is none.
func (q *requests) get(path string, v verb) *request {
	return q.all[requestKey{path, v == list}]
}

// make makes a request, unless there is one. It is not ready yet.
func (q *requests) make(path string, v verb, walk bool, since int64) (r *request, fresh bool) {
	if r := q.get(path, v); r != nil {
		q.mark(r, walk)
		return r, false
	}
	r = &request{path: path, verb: v, since: since, place: -1}
	q.all[r.key()] = r
	if q.mark(r, walk); !walk {
		heap.Push(&q.oldest, r)
	}
	return r, true
}

// add makes a request to be sent, unless there is one: its reply will show what this one would.
func (q *requests) add(path string, v verb, walk bool, since int64) *request {
	r, fresh := q.make(path, v, walk, since)
	if fresh {
		q.ready = append(q.ready, r)
	}
	return r
}

// mark makes a request part of a load.
func (q *requests) mark(r *request, walk bool) {
	if walk && !r.walk {
		r.walk = true
		q.walking++
	}
}

// finish forgets a request.
func (q *requests) finish(r *request) {
	switch r.stage {
	case done:
		return
	case failing:
		q.failing--
	}
	r.stage = done
	delete(q.all, r.key())
	if r.walk {
		q.walking--
	}
	if r.place >= 0 {
		heap.Remove(&q.oldest, r.place)
	}
}

// drop forgets the request for a node unless it is under way.
func (q *requests) drop(path string, v verb) {
	if r := q.get(path, v); r != nil && r.weight == 0 {
		q.finish(r)
	}
}

// depart takes note that the first request that is ready is in flight. It returns false if the window has no
// room for it.
func (q *requests) depart(r *request, weight int64) bool {
	if !q.window.TryAcquire(weight) {
		return false
	}
	q.shift()
	r.weight = weight
	q.flying++
	return true
}

// answered takes note that a request is not in flight any more.
func (q *requests) answered(r *request) {
	q.window.Release(r.weight)
	r.weight = 0
	q.flying--
}

// addSource has nodes read.
func (q *requests) addSource(s *source) {
	if s.walk {
		q.walking++
	}
	q.sources = append(q.sources, s)
}

// nextNode returns the path of the next node of a source; no source if there is none.
func (q *requests) nextNode() (path string, s *source) {
	for len(q.sources) > 0 {
		last := len(q.sources) - 1
		s = q.sources[last]
		if path, ok := s.next(); ok {
			return path, s
		}
		if s.walk {
			q.walking--
		}
		q.sources[last] = nil
		q.sources = q.sources[:last]
	}
	return "", nil
}

// first returns the first request that is ready, nil if there is none.
func (q *requests) first() *request {
	for len(q.ready) > 0 {
		if r := q.ready[0]; r.stage != done {
			return r
		}
		q.shift()
	}
	q.ready = nil
	return nil
}

// shift takes the first request off those that are ready.
func (q *requests) shift() {
	q.ready[0] = nil
	q.ready = q.ready[1:]
}

// restart makes everything part of a load that is to be read, and what is not in flight ready.
// Everything that was in flight has failed with its connection, and the time without one is no time in which
// a node could be read. The nodes that were still to be compared are forgotten, because the caller has the
// whole tree compared anew: else each connection that ends early would add a comparison of the tree.
func (q *requests) restart() {
	q.ready, q.failed = nil, nil
	for _, r := range q.all {
		r.failed = time.Time{}
		q.mark(r, true)
		if r.weight == 0 {
			q.ready = append(q.ready, r)
		}
	}
	q.sources = slices.DeleteFunc(q.sources, func(s *source) bool {
		if s.compares() && s.walk {
			q.walking--
		}
		return s.compares()
	})
	for _, s := range q.sources {
		if !s.walk {
			s.walk = true
			q.walking++
		}
	}
}

// fail has a request sent again after a pause. It tells whether the pause begins.
func (q *requests) fail(r *request) (first bool) {
	if r.stage != failing {
		r.stage = failing
		q.failing++
	}
	q.failed = append(q.failed, r)
	return len(q.failed) == 1
}

// retry makes ready what has failed.
func (q *requests) retry() {
	q.ready = append(q.ready, q.failed...)
	q.failed = nil
}

// since returns the zxid up to which everything has been read; current if nothing is to be read.
// It is not for loads.
func (q *requests) since(current int64) int64 {
	if len(q.oldest) > 0 {
		current = min(current, q.oldest[0].since)
	}
	for _, s := range q.sources {
		current = min(current, s.since)
	}
	return current
}

// bySince is a heap of requests that are no part of a load.
type bySince []*request

func (h bySince) Len() int           { return len(h) }
func (h bySince) Less(i, j int) bool { return h[i].since < h[j].since }
func (h bySince) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *bySince) Push(r any) {
	r.(*request).place = len(*h)
	*h = append(*h, r.(*request))
}

func (h *bySince) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	(*h)[last], r.place = nil, -1
	*h = (*h)[:last]
	return r
}
