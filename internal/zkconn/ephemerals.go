package zkconn

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// ephemerals counts what the ephemeral nodes of the session take in the transaction that ends it. Since 3.6 that
// lists their paths, and no server limits it. But followers, and every server at its start, refuse to read a
// transaction that is larger than jute.maxbuffer and some more: then the ensemble fails, and does not start again
// (ZOOKEEPER-4306). So the client refuses to create more ephemeral nodes ahead of that.
//
// The count is never too low. Answers move it, in their order, so that it has no request of its own: a create adds its
// path, as the server has named it; one whose answer was lost adds its path, too, because the node may be there. What
// leaves the count must have been in it, and not every deleted node is an ephemeral one of the session. A set of all
// paths would tell, at the cost of memory for each node. In its place there are the hashes of the newest paths, which are
// enough for all who have few nodes. An older node stays in the count when it is deleted, and so does one that somebody
// else has deleted unless a watch tells of it. So before the count warns, and before it refuses, the session's nodes
// are listed: the length of that answer is the exact count, because the answer has its place among the others. Servers
// that do not know the request are older than the transaction's list of paths.
type ephemerals struct {
	limit int         // jute.maxbuffer, zero to count nothing; it does not change, as tell
	tell  func(Event) // is called without mu
	seed  maphash.Seed

	mu      sync.Mutex // is taken last
	session int64      // whose nodes they are
	size    int
	recent  []uint64 // hashes of paths that are in size, the newest last
	near    bool     // the listeners know that it is large
	recount recount
}

// recount is the request that lists the nodes.
type recount struct {
	due      int           // the size from which on the nodes are to be listed again
	underWay chan struct{} // while the request is under way: is closed at its end
	last     time.Time     // when the nodes were listed
	losses   int           // how often in a row servers have closed the connection in place of the answer
	off      bool          // no create is refused: see giveUp and unlimited
}

const (
	// maxRecent is how many hashes are kept, 2 KiB.
	maxRecent = 256
	// recountPause is the least time between a list of the nodes and one because a create is to be refused.
	recountPause = time.Second
	// maxCountLosses is how many connections servers may close in a row in place of the answer. Some servers that are
	// not ZooKeeper do so when they do not know a request.
	maxCountLosses = 2
)

var errNotListed = errors.New("the servers do not list the session's ephemeral nodes")

// listEphemerals returns the request that lists a session's ephemeral nodes. Its answer is measured, and not decoded.
func listEphemerals(session int64) *Call {
	call := Ephemerals("/")
	call.Session, call.Res = session, nil
	return call
}

// counts reports whether a call is such a request.
func counts(call *Call) bool {
	req, ok := call.Req.(*jute.PathRequest)
	return ok && call.Op == jute.OpGetEphemerals && req.Path == "/"
}

// begin counts the nodes of another session, which has none, zero for no session. Its servers may be other ones, after an
// upgrade: so it is found out anew whether they list the nodes. One before 3.6 closes a connection for that, but only of
// a session whose nodes have reached half of the limit.
func (e *ephemerals) begin(session int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.session, e.size, e.near = session, 0, false
	e.recent = e.recent[:0]
	e.endCount()
	e.recount = recount{due: e.limit / 2, off: e.recount.off && session == 0}
}

// refuses returns why calls that create ephemeral nodes are not to be sent, nil if they may be. queued is what the
// creates take that have no answer yet. ask says that the nodes are to be listed now.
func (e *ephemerals) refuses(session int64, calls []*Call, queued int) (full *EphemeralsTooLarge, ask bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.limit == 0 || e.recount.off || session != e.session {
		return nil, false
	}
	grows := 0
	for _, call := range calls {
		grows += ephemeralSize(call) - e.deletes(call)
	}
	size := e.size + queued + grows
	if grows <= 0 || size <= e.limit/4*3 {
		return nil, false
	}
	if e.recount.underWay == nil && time.Since(e.recount.last) >= recountPause {
		e.recount.underWay, ask = make(chan struct{}), true
	}
	return &EphemeralsTooLarge{Size: size, Limit: e.limit, counted: e.recount.underWay}, ask
}

// deletes returns what the nodes take that a transaction deletes, as far as it is known that they are counted; e.mu is
// held.
func (e *ephemerals) deletes(call *Call) (size int) {
	multi, ok := call.Req.(*MultiRequest)
	if !ok {
		return 0
	}
	for _, op := range multi.Ops {
		if req, ok := op.Req.(*jute.DeleteRequest); ok && slices.Contains(e.recent, e.hash(req.Path)) {
			size += sizeOf(req.Path)
		}
	}
	return size
}

func (e *ephemerals) hash(path string) uint64 { return maphash.String(e.seed, path) }

// answered takes note of the answer to a call. rest is that of readFrame. ask says that the nodes are to be listed now.
func (e *ephemerals) answered(call *Call, code jute.Code, body []byte, rest int) (ask bool) {
	switch call.Op {
	case jute.OpCreate, jute.OpCreate2, jute.OpMulti:
		if code != jute.CodeOK {
			return false
		}
	case jute.OpDelete:
		if code != jute.CodeOK && code != jute.CodeNoNode {
			return false
		}
	case jute.OpGetEphemerals:
	default:
		return false
	}
	e.mu.Lock()
	if e.limit == 0 || call.Session != e.session {
		e.mu.Unlock()
		return false
	}
	var event Event
	switch req := call.Req.(type) {
	case *jute.CreateRequest:
		e.created(body, req)
	case *jute.DeleteRequest:
		e.gone(req.Path)
	case *MultiRequest:
		e.applied(req.Ops, body)
	case *jute.PathRequest:
		if counts(call) {
			event = e.counted(code, body, rest)
		}
	}
	if ask = !e.recount.off && e.recount.underWay == nil && e.size >= e.recount.due; ask {
		e.recount.underWay = make(chan struct{})
	}
	e.mu.Unlock()
	if event.Kind != 0 {
		e.tell(event)
	}
	return ask
}

// created counts a node whose path begins an answer, and returns what follows there. asked is its path in the request.
// e.mu is held.
func (e *ephemerals) created(answer []byte, asked jute.Record) (rest []byte) {
	path, rest, ok := cutString(answer)
	switch size := createSize(asked); {
	case size == 0:
	case ok:
		e.add(maphash.Bytes(e.seed, path), 4+len(path))
	default:
		e.size += size
	}
	return rest
}

// add counts a node that is there, or may be, unless it is counted already: then it was deleted by somebody else, or is
// the node of a create whose answer was lost. e.mu is held.
func (e *ephemerals) add(hash uint64, size int) {
	if slices.Contains(e.recent, hash) {
		return
	}
	e.size += size
	if len(e.recent) == maxRecent {
		copy(e.recent, e.recent[1:])
		e.recent = e.recent[:maxRecent-1]
	}
	e.recent = append(e.recent, hash)
}

// gone takes a node that is gone out of the count, if it is known to be there; e.mu is held.
func (e *ephemerals) gone(path string) {
	i := slices.Index(e.recent, e.hash(path))
	if len(e.recent) == 0 || i < 0 {
		return
	}
	e.recent = slices.Delete(e.recent, i, i+1)
	e.size -= sizeOf(path)
	if e.size <= e.limit*3/8 {
		e.near, e.recount.due = false, e.limit/2
	}
}

// deleted takes note of an event that tells of a deleted node.
func (e *ephemerals) deleted(session int64, path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if session == e.session && len(e.recent) > 0 {
		e.gone(path)
	}
}

// applied takes note of the results of a transaction; e.mu is held.
func (e *ephemerals) applied(ops []MultiOp, answer []byte) {
	const header, stat = 9, 68
	for _, op := range ops {
		var kind jute.Op
		if len(answer) >= header {
			kind, answer = jute.Op(binary.BigEndian.Uint32(answer)), answer[header:]
		}
		switch kind {
		case jute.OpError:
			return // nothing was applied
		case jute.OpCreate, jute.OpCreate2:
			answer = e.created(answer, op.Req)
		case jute.OpDelete:
			if req, ok := op.Req.(*jute.DeleteRequest); ok {
				e.gone(req.Path)
			}
		}
		if kind == jute.OpCreate2 || kind == jute.OpSetData {
			answer = answer[min(stat, len(answer)):]
		}
	}
}

// lost takes note of a call that was sent and is never answered: what it creates may be there.
func (e *ephemerals) lost(call *Call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.limit == 0 || call.Session != e.session {
		return
	}
	maybe := func(op jute.Record) {
		if create, ok := op.(*jute.CreateRequest); ok && create.Flags == jute.FlagEphemeral {
			e.add(e.hash(create.Path), sizeOf(create.Path))
			return
		}
		e.size += createSize(op)
	}
	switch req := call.Req.(type) {
	case *jute.CreateRequest:
		maybe(req)
	case *MultiRequest:
		for _, op := range req.Ops {
			maybe(op.Req)
		}
	}
}

// uncounted takes note that the nodes of a session are not listed, because the connection has ended. closed says that the
// server has closed it, and may have done so because of the request.
func (e *ephemerals) uncounted(session int64, closed bool) {
	e.mu.Lock()
	if e.limit == 0 || session != e.session {
		e.mu.Unlock()
		return
	}
	e.endCount()
	var event Event
	if closed {
		if e.recount.losses++; e.recount.losses == maxCountLosses {
			event = e.giveUp(nil)
		}
	}
	e.mu.Unlock()
	if event.Kind != 0 {
		e.tell(event)
	}
}

// counted takes over the answer that lists the nodes; e.mu is held. It returns what is to be told, the zero value for
// nothing.
func (e *ephemerals) counted(code jute.Code, body []byte, rest int) (event Event) {
	e.endCount()
	e.recount.losses = 0
	switch {
	case code == jute.CodeUnimplemented:
		return e.giveUp(codeError(code))
	case code != jute.CodeOK || len(body)+rest < 4:
		e.recount.due = e.size + e.limit/16
		return event
	}
	e.size, e.recount.last = len(body)+rest-4, time.Now()
	e.recent = e.recent[:0]
	for names := body[min(4, len(body)):]; rest == 0; {
		path, more, ok := cutString(names)
		if !ok {
			break
		}
		if len(e.recent) < maxRecent {
			e.recent = append(e.recent, maphash.Bytes(e.seed, path))
		}
		names = more
	}
	e.recount.due = max(e.limit/2, e.size+e.limit/16)
	switch near := e.size >= e.limit/2; {
	case near && !e.near:
		event = Event{Kind: EphemeralsLarge, Session: e.session, Bytes: e.size, Limit: e.limit}
		e.near = true
	case e.size <= e.limit*3/8:
		e.near = false
	}
	return event
}

// endCount notes that no list of the nodes is under way; e.mu is held.
func (e *ephemerals) endCount() {
	if e.recount.underWay != nil {
		close(e.recount.underWay)
		e.recount.underWay = nil
	}
}

// giveUp has no create of the session refused, because the servers do not list the nodes; e.mu is held.
func (e *ephemerals) giveUp(why error) Event {
	e.recount.off = true
	return Event{Kind: EphemeralsLarge, Session: e.session, Bytes: e.size, Limit: e.limit, Err: join(errNotListed, why)}
}

// unlimited has no create refused: the servers are no ZooKeeper, and have no such transaction.
func (e *ephemerals) unlimited() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.recount.off = true
}

// figures returns the count, which may be too high, and the limit, zero for none.
func (e *ephemerals) figures() (size, limit int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if limit = e.limit; e.recount.off {
		limit = 0
	}
	return e.size, limit
}
