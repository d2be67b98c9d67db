package suite

import (
	"encoding/binary"
	"sync"

	"github.com/go-curator/curator/internal/jute"
)

// refusedRequests are the requests of one connection that are refused.
type refusedRequests struct {
	mu      sync.Mutex
	refused map[int32]jute.Code // by their xids
}

// refuse returns what is sent in place of a frame that is to be refused with a code. Its answer is turned
// into the refusal.
func (u *refusedRequests) refuse(frame []byte, code jute.Code) []byte {
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.refused == nil {
		u.refused = map[int32]jute.Code{}
	}
	u.refused[xid] = code
	header := jute.RequestHeader{Xid: xid, Op: jute.OpExists}
	sent := (&jute.PathWatchRequest{Path: "/"}).Append(header.Append(make([]byte, 4)))
	binary.BigEndian.PutUint32(sent, uint32(len(sent)-4))
	return sent
}

// refusal returns the refusal in place of an answer, and whether there is one.
func (u *refusedRequests) refusal(frame []byte) ([]byte, bool) {
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	u.mu.Lock()
	defer u.mu.Unlock()
	code, refused := u.refused[xid]
	if !refused {
		return frame, false
	}
	header := jute.ReplyHeader{Xid: xid, Err: code}
	frame = header.Append(make([]byte, 4))
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame, true
}

// needsQuorum tells whether a server without a quorum refuses what is asked for in a frame.
func needsQuorum(frame []byte) bool {
	switch jute.Op(binary.BigEndian.Uint32(frame[8:])) {
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL, jute.OpDelete, jute.OpSetData,
		jute.OpSetACL, jute.OpMulti, jute.OpCheck, jute.OpSync:
		return true
	}
	return false
}
