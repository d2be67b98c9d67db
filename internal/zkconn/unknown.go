package zkconn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-curator/curator/internal/jute"
)

// ZooKeeper answers a request that it does not know with ErrUnimplemented. ClickHouse Keeper ends the connection
// instead, and with it the session: it resumes none. So a request that it may not know is replaced, or refused here:
//
//   - A server that grants sessions without a password cannot resume them, and is a Keeper. It gets create in place of
//     create2, reads in place of setWatches, and no removeWatches: every release knows what is sent instead. As soon as a
//     Keeper has answered addWatch, it is known to have the other requests of watches, too.
//   - Any server may end the connections on which create2 is the first request without an answer. After two of them
//     create is tried. If that is answered, it stays so.
//   - A Keeper that does so at another request, such as addWatch, is not sent it any more: it fails with ErrUnimplemented.
//
// What a server has ever answered is not suspected later: a connection that is lost, be it over and over, shows nothing
// then. And where create is sent without need, nothing is lost: its answer has the path, its header the czxid, and the
// rest of the Stat but the times is what the request asks for.

// newer are the requests that not every server knows.
var newer = [...]jute.Op{
	jute.OpCreate2, jute.OpSetWatches, jute.OpRemoveWatches, jute.OpAddWatch, jute.OpSetWatches2,
	jute.OpCreateContainer, jute.OpCreateTTL, jute.OpReconfig, jute.OpWhoAmI,
}

// newerBit returns the bit of a request among newer, 0 if every server knows it.
func newerBit(op jute.Op) uint32 {
	if op < jute.OpCreate2 { // as most are
		return 0
	}
	if i := slices.Index(newer[:], op); i >= 0 {
		return 1 << i
	}
	return 0
}

// enoughEnds is how many connections must have ended at a request without an answer.
const enoughEnds = 2

// unknownRequests is which requests the servers do not know. mu is taken after all other locks but that of reports, which
// report takes.
type unknownRequests struct {
	report   func(error) // gets what the log is to say, once each
	keeper   atomic.Bool
	answered atomic.Uint32 // what servers have answered
	missing  atomic.Uint32 // what they are not sent

	mu    sync.Mutex
	ends  [len(newer)]int // how many connections have ended at the request
	trial bool            // create is sent in place of create2, and was not answered yet
}

// lacks tells whether the servers do not know a request.
func (u *unknownRequests) lacks(op jute.Op) bool { return u.missing.Load()&newerBit(op) != 0 }

// noteKeeper notes that a server has granted a session without a password.
func (u *unknownRequests) noteKeeper() {
	if u.keeper.Swap(true) {
		return
	}
	u.missing.Or((newerBit(jute.OpCreate2) | newerBit(jute.OpSetWatches) | newerBit(jute.OpRemoveWatches)) &^ u.answered.Load())
	u.report(errors.New("sessions have no password, as those of ClickHouse Keeper: each ends with its connection; create is sent in place of create2"))
}

// onAnswer notes that a request was answered.
func (u *unknownRequests) onAnswer(call *Call, code jute.Code) {
	bit := newerBit(call.Op)
	switch {
	case bit == 0, u.answered.Load()&bit != 0, code == jute.CodeUnimplemented:
		return
	case call.plain:
		u.endTrial(true)
		return
	}
	if call.Op == jute.OpAddWatch { // the others came before it, or with it
		bit |= newerBit(jute.OpSetWatches) | newerBit(jute.OpSetWatches2) | newerBit(jute.OpRemoveWatches)
		u.missing.And(^bit)
	}
	u.answered.Or(bit)
}

// endTrial ends the trial of create, and reports whether there was one.
func (u *unknownRequests) endTrial(answered bool) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.trial {
		return false
	}
	u.trial = false
	if answered {
		u.report(errors.New("they end connections at create2: create is sent in its place"))
	} else {
		u.ends[0] = 0
		u.missing.And(^newerBit(jute.OpCreate2))
	}
	return true
}

// onEnd notes that a server has ended a connection on which these requests were not answered, the oldest first. A Keeper
// ends it as soon as it has read a request that it does not know. It may not have answered those ahead of that, so all are
// looked at. Any other server is suspected at the oldest request alone: if it has not even answered that, be it a ping or
// the sync behind a reconnect, nothing is known of those that follow.
func (u *unknownRequests) onEnd(waiting []pending) {
	keeper := u.keeper.Load()
	for i := range waiting {
		call := waiting[i].call()
		op := newest(call)
		switch {
		case newerBit(op)&^u.answered.Load() == 0:
			continue
		case call.plain && !u.endTrial(false):
			continue
		case call.plain:
		case keeper || op == jute.OpCreate2 && i == 0:
			u.suspect(op)
		}
		return
	}
}

// newest returns the request of a call, or the first of its operations that is among newer.
func newest(call *Call) jute.Op {
	if call == nil {
		return jute.OpPing
	}
	if multi, ok := call.Req.(*MultiRequest); ok {
		for _, op := range multi.Ops {
			if newerBit(op.Op) != 0 {
				return op.Op
			}
		}
	}
	return call.Op
}

// suspect counts a connection that has ended at a request.
func (u *unknownRequests) suspect(op jute.Op) {
	if op == jute.OpSetWatches2 { // it puts back what addWatch has set, or was to set
		op = jute.OpAddWatch
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	i := slices.Index(newer[:], op)
	u.ends[i]++
	if u.ends[i] < enoughEnds || u.lacks(op) {
		return
	}
	switch op {
	case jute.OpCreate2:
		u.trial = true
	case jute.OpAddWatch:
		u.missing.Or(newerBit(jute.OpSetWatches2))
		fallthrough
	default:
		u.report(fmt.Errorf("they end connections at %s, which is not sent any more", jute.OpName(op)))
	}
	u.missing.Or(newerBit(op))
}

// hungUp tells whether a connection has ended because the other side has closed it, not by a timeout or by us.
func hungUp(err error) bool {
	var failed *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &failed) && !failed.Timeout() && !errors.Is(err, net.ErrClosed)
}

// replaceUnknown replaces the requests of a batch that the servers do not know, or returns an ErrUnimplemented.
func (u *unknownRequests) replaceUnknown(b *batch) error {
	for i, call := range b.calls {
		switch {
		case !u.lacks(newest(call)):
		case call.Op == jute.OpCreate2: // of which the body is that of create
			call.plain = true
			binary.BigEndian.PutUint32(b.frames[b.starts[i]+8:], uint32(jute.OpCreate))
		default:
			return refusal(newest(call), jute.CodeUnimplemented)
		}
	}
	return nil
}

// grantsNoPassword tells whether the password of a session is that of all sessions, which no ZooKeeper grants.
func grantsNoPassword(passwd []byte) bool { return string(passwd) == noPassword }

const noPassword = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
