package zkconn

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn/lease"
)

// firstXid is the first of our own requests; they count down from here.
const firstXid = -1000

// requestQueue holds the requests of a connection: those that wait to be written, and those that
// wait for an answer. The lock of the connection guards it.
type requestQueue struct {
	outgoing    []outgoing
	pending     pendingQueue // in the order in which they were written
	xid         int32
	connectSent time.Duration // when the connect request was sent; zero before
	evidence    lease.Evidence
	ephemeral   int           // what the creates take that were queued and not answered, see batch.ephemeral
	gate        gate          // ahead of outgoing
	wake        chan struct{} // tells the writer of requests that wait
}

// outgoing is what waits to be written: a batch, or one frame of the driver's.
type outgoing struct {
	batch *batch
	frame []byte
	xid   int32
}

// add hands o to the writer; the connection must not have ended.
func (q *requestQueue) add(o outgoing) {
	q.outgoing = append(q.outgoing, o)
	select {
	case q.wake <- struct{}{}:
	default: // it has been told already
	}
}

// collect appends all frames that wait to buf; from then on they wait for an answer.
func (q *requestQueue) collect(buf []byte, now lease.Stamp) []byte {
	for _, o := range q.outgoing {
		switch {
		case o.batch == nil && q.connectSent == 0: // the handshake, whose answer has no header
			q.connectSent = now.Sent
			buf = append(buf, o.frame...)
		case o.batch == nil:
			buf = append(buf, o.frame...)
			q.pending.add(pending{xid: o.xid, stamp: now})
		case o.batch.phase.CompareAndSwap(batchQueued, batchSent):
			for i, start := range o.batch.starts {
				xid := q.nextXid()
				binary.BigEndian.PutUint32(o.batch.frames[start+4:], uint32(xid))
				q.pending.add(pending{xid: xid, stamp: now, batch: o.batch, index: i})
			}
			buf = append(buf, o.batch.frames...)
			o.batch.frames = nil
		default: // withdrawn
			q.gate.leave(o.batch)
			q.ephemeral -= int(o.batch.ephemeral)
		}
	}
	clear(q.outgoing)
	q.outgoing = q.outgoing[:0]
	return buf
}

func (q *requestQueue) nextXid() int32 {
	xid := q.xid
	q.xid--
	if q.xid == math.MinInt32 {
		q.xid = firstXid
	}
	return xid
}

// answered takes the request with this answer off the queue: the oldest. A server answers in the
// order of the requests; another order means that the stream cannot be relied upon. There are two
// exceptions, whose answers may overtake others: credentials, which a server uses from the next request
// on, but answers at once; and addWatch and getEphemerals, which a server before 3.6 refuses at once, before
// it closes the connection.
func (q *requestQueue) answered(xid int32, code jute.Code) (pending, error) {
	waiting := q.pending.waiting()
	i := slices.IndexFunc(waiting, func(p pending) bool { return p.xid == xid })
	switch {
	case i < 0:
	case i == 0:
		return q.pending.take(), nil
	case overtakes(waiting[i].op(), code):
		q.pending.advance(i)
		return q.pending.take(), nil
	}
	return pending{}, fmt.Errorf("request %d was answered out of order", xid)
}

// overtakes tells whether an answer may come ahead of those to older requests.
func overtakes(op jute.Op, code jute.Code) bool {
	switch op {
	case jute.OpAuth:
		return true
	case jute.OpAddWatch, jute.OpGetEphemerals:
		return code == jute.CodeUnimplemented
	}
	return false
}

// len returns how many requests wait.
func (q *requestQueue) len() int {
	return len(q.outgoing) + len(q.pending.waiting()) + len(q.gate.waiting)
}

// drain empties the queue and finishes all batches, with an error for those that were sent and
// one for those that were not. It returns what is to be called without locks.
func (q *requestQueue) drain(sent, unsent error) (then []func()) {
	for _, p := range q.pending.waiting() {
		if p.batch != nil && p.batch.err == nil {
			p.batch.finish(sent)
			then = append(then, p.batch.then)
		}
	}
	withdraw := func(b *batch) {
		if b != nil && b.withdraw() {
			b.finish(unsent)
			then = append(then, b.then)
		}
	}
	for _, o := range q.outgoing {
		withdraw(o.batch)
	}
	for _, b := range q.gate.waiting {
		withdraw(b)
	}
	q.pending, q.outgoing, q.gate.waiting = pendingQueue{}, nil, nil
	return then
}

// pending is a request that was written and not answered.
type pending struct {
	xid   int32
	stamp lease.Stamp
	batch *batch // nil for the driver's own
	index int
}

// call returns the request; nil for one of the driver's own.
func (p *pending) call() *Call {
	if p.batch == nil {
		return nil
	}
	return p.batch.calls[p.index]
}

// op returns the operation. The driver's own are like pings: they prove nothing.
func (p *pending) op() jute.Op {
	if call := p.call(); call != nil {
		return call.Op
	}
	return jute.OpPing
}

// followUp is what the connection itself has to know about a request behind its answer. The call belongs to the caller
// by then, who may use it again.
type followUp struct {
	op              jute.Op
	ofDriver        bool
	vital, restores bool
	added           *Auth
	req             jute.Record
}

// followUp must be called before reply.
func (p *pending) followUp() followUp {
	call := p.call()
	if call == nil {
		return followUp{op: p.op(), ofDriver: true}
	}
	restores := call.Op == jute.OpSetWatches2 || len(call.kept) > 0
	return followUp{op: call.Op, vital: call.vital, restores: restores, added: call.added, req: call.Req}
}

// reply takes over the answer, of which rest bytes were dropped because it is too large. It tells
// whether that was the last one of the batch.
func (p *pending) reply(header jute.ReplyHeader, body []byte, rest int) (last bool) {
	b := p.batch
	b.replies = append(b.replies, reply{header.Zxid, header.Err, body, rest})
	if last = len(b.replies) == len(b.calls); last {
		b.finish(nil)
	}
	return last
}

// pendingQueue is where what is pending waits, in memory that is used again.
type pendingQueue struct {
	all   []pending
	taken int // of all, from the beginning
}

// waiting returns what has not been taken, the oldest first. It is valid until the next change.
func (l *pendingQueue) waiting() []pending { return l.all[l.taken:] }

func (l *pendingQueue) add(p pending) { l.all = append(l.all, p) }

// advance moves the i-th of those that wait ahead of the others.
func (l *pendingQueue) advance(i int) {
	waiting := l.waiting()
	p := waiting[i]
	copy(waiting[1:], waiting[:i])
	waiting[0] = p
}

// take takes the oldest, of which there must be one.
func (l *pendingQueue) take() pending {
	p := l.all[l.taken]
	l.all[l.taken] = pending{} // the answer need not live on
	l.taken++
	if rest := len(l.all) - l.taken; rest <= l.taken { // moving this few costs no more than taking the others did
		copy(l.all, l.all[l.taken:])
		clear(l.all[rest:])
		l.all, l.taken = l.all[:rest], 0
	}
	if cap(l.all) > 1<<10 && len(l.all) == 0 {
		l.all = nil // an exceptionally long one shall not be kept for ever
	}
	return p
}
