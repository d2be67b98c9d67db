package zkconn

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/go-curator/curator/internal/jute"
)

// reply is an answer as it came.
type reply struct {
	zxid int64
	code jute.Code
	body []byte
	rest int // bytes that were dropped
}

// decode notes what the server answered.
func (c *Call) decode(r reply) error {
	c.answered, c.Zxid, c.Err = true, r.zxid, codeError(r.code)
	if c.Err == nil && r.rest > 0 {
		c.Err = &ReplyTooLarge{jute.OpName(c.Op), len(r.body) + r.rest}
	}
	if c.Err != nil || c.Res == nil {
		return nil //nolint:nilerr // the server's refusal is an answer
	}
	if err := jute.Decode(r.body, c.Res); err != nil {
		c.answered = false
		return fmt.Errorf("answer to %s: %w", jute.OpName(c.Op), err)
	}
	return nil
}

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
	size   int    // of all frames

	phase atomic.Int32
	gated bool // it has passed the gate, or waits there
	waits bool // at the gate; guarded by muxConn.mu
	done  chan struct{}
	then  func() // is called after done was closed, without w.mu; may be nil

	// guarded by muxConn.mu
	replies []reply
	err     error // why there are no more replies

	// Room for the batch that is one request or two, as most are.
	fewStarts  [2]int
	fewReplies [2]reply
}

// newBatch encodes calls, refusing a request of more than limit bytes.
func newBatch(calls []*Call, limit int) (*batch, error) {
	b := &batch{calls: calls, done: make(chan struct{}), frames: make([]byte, 0, 256*len(calls))}
	b.starts, b.replies = b.fewStarts[:0], b.fewReplies[:0]
	for _, call := range calls {
		start := len(b.frames)
		b.starts = append(b.starts, start)
		b.frames = append(b.frames, make([]byte, 8)...) // length and xid
		b.frames = jute.AppendInt32(b.frames, call.Op)
		if call.Req != nil {
			b.frames = call.Req.Append(b.frames)
		}
		size := len(b.frames) - start - 4
		if size > limit {
			return nil, fmt.Errorf("%w: %s of %d bytes, the limit is %d", ErrTooLarge, jute.OpName(call.Op), size, limit)
		}
		binary.BigEndian.PutUint32(b.frames[start:], uint32(size))
	}
	b.size = len(b.frames)
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
