package zkconn

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-curator/curator/internal/jute"
)

// The phases of a batch. The phase is decided once, by the writer or by the caller that gives up.
const (
	batchQueued int32 = iota
	batchSent
	batchWithdrawn
)

// A batch is several requests that travel in one write. Its answers are owned by the
// connection until done is closed and by the caller of Do afterwards.
type batch struct {
	calls  []*Call
	frames []byte // with zeros in place of the xids
	starts []int  // where each frame begins
	size   uint32 // of all frames
	// ephemeral is what the ephemeral nodes that it creates take, see ephemerals.
	ephemeral uint32

	phase  atomic.Int32
	gated  bool // it has passed the gate, or waits there
	waits  bool // at the gate; guarded by muxConn.mu
	counts bool // it lists the session's ephemeral nodes, and is that request alone
	done   chan struct{}
	then   func() // is called after done was closed, without muxConn.mu; may be nil

	// guarded by muxConn.mu
	replies []reply
	err     error // why there are no more replies

	// Room for the batch that is one request or two, as most are.
	fewCalls   [2]*Call
	fewStarts  [2]int
	fewReplies [2]reply
}

// newBatch encodes calls, refusing a request of more than limit bytes.
func newBatch(calls []*Call, limit int) (*batch, error) {
	b := &batch{done: make(chan struct{}), frames: make([]byte, 0, 256*len(calls))}
	b.calls = append(b.fewCalls[:0], calls...) // the caller may change its list when it gives up
	b.starts, b.replies = b.fewStarts[:0], b.fewReplies[:0]
	for _, call := range calls {
		start := len(b.frames)
		b.starts = append(b.starts, start)
		b.frames = append(b.frames, make([]byte, 8)...) // length and xid
		b.frames = jute.AppendInt32(b.frames, call.Op)
		if call.Req != nil {
			b.frames = call.Req.Append(b.frames)
		}
		b.ephemeral += uint32(ephemeralSize(call))
		b.counts = len(calls) == 1 && counts(call)
		call.plain = false // it may have been in another batch before
		size := len(b.frames) - start - 4
		if size > limit {
			return nil, fmt.Errorf("%w: %s of %d bytes, the limit is %d", ErrTooLarge, jute.OpName(call.Op), size, limit)
		}
		binary.BigEndian.PutUint32(b.frames[start:], uint32(size))
	}
	b.size = uint32(len(b.frames))
	return b, nil
}

// setWatch says whether a read asks the server for a watch. The request of every kind of read has this
// in its last byte.
func (b *batch) setWatch(i int, watch bool) {
	end := len(b.frames)
	if i+1 < len(b.starts) {
		end = b.starts[i+1]
	}
	b.frames[end-1] = 0
	if watch {
		b.frames[end-1] = 1
	}
}

// withdraw takes the batch back unless it has been sent.
func (b *batch) withdraw() bool {
	return b.phase.CompareAndSwap(batchQueued, batchWithdrawn) || b.isWithdrawn()
}

func (b *batch) isWithdrawn() bool { return b.phase.Load() == batchWithdrawn }

// finish ends the batch; the caller holds muxConn.mu, or is alone with the batch.
func (b *batch) finish(err error) {
	b.err = err
	close(b.done)
}

var errTurn = errors.New("as many operations as the client's limit permits were in flight")

// withdrawnError is the error of a batch that was withdrawn when ctx ended.
func (b *batch) withdrawnError(ctx context.Context) error {
	err := ctxError(ctx, false)
	if b.waits {
		err.Detail = join(err.Detail, errTurn)
	}
	return err
}

// gate lets limit batches of a connection be under way at a time. The others wait in the order in which
// they came. It is for what users and recipes send: proofs, pings, credentials, restored watches, watches
// that are given back, and the end of the session do not pass it. A batch is under way until the server has
// answered it, or the connection ends: it never waits for another batch, so the gate cannot block for good.
// The lock of the connection guards it.
type gate struct {
	limit    int // zero for none
	underWay int
	shut     bool     // the end of the session is queued: nothing follows it
	waiting  []*batch // only while as many as the limit are under way
}

// enter reports whether a batch may be sent now. If not, next returns it when it may.
func (g *gate) enter(b *batch) bool {
	if g.limit == 0 {
		return true
	}
	b.gated = true
	if g.underWay == g.limit {
		b.waits = true
		g.waiting = append(g.waiting, b)
		return false
	}
	g.underWay++
	return true
}

// leave takes note that a batch that may have entered is no longer under way.
func (g *gate) leave(b *batch) {
	if b.gated {
		g.underWay--
	}
}

// next returns a batch that has waited and may be sent now, nil if there is none.
func (g *gate) next() *batch {
	for !g.shut && g.underWay < g.limit && len(g.waiting) > 0 {
		b := g.waiting[0]
		g.waiting[0] = nil
		if g.waiting = g.waiting[1:]; len(g.waiting) == 0 {
			g.waiting = nil
		}
		if !b.isWithdrawn() {
			b.waits = false
			g.underWay++
			return b
		}
	}
	return nil
}

// forget drops the batches whose callers have given up.
func (g *gate) forget() { g.waiting = slices.DeleteFunc(g.waiting, (*batch).isWithdrawn) }
