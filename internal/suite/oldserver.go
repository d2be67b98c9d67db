package suite

import (
	"encoding/binary"
	"sync"

	"github.com/go-curator/curator/internal/jute"
)

// unknownRequests are the requests of one connection that a server before 3.6 does not know.
type unknownRequests struct {
	mu      sync.Mutex
	refused map[int32]bool // by their xids
}

// unknown tells whether such a server does not know what is asked for in a frame.
func unknown(frame []byte) bool {
	op := jute.Op(binary.BigEndian.Uint32(frame[8:]))
	return op == jute.OpAddWatch || op == jute.OpSetWatches2
}

// refuse returns what is sent in place of a frame that the server does not know. Its answer is
// turned into a refusal.
func (u *unknownRequests) refuse(frame []byte) []byte {
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.refused == nil {
		u.refused = map[int32]bool{}
	}
	u.refused[xid] = true
	header := jute.RequestHeader{Xid: xid, Op: jute.OpExists}
	sent := (&jute.PathWatchRequest{Path: "/"}).Append(header.Append(make([]byte, 4)))
	binary.BigEndian.PutUint32(sent, uint32(len(sent)-4))
	return sent
}

// refusal returns the refusal in place of an answer, and whether there is one.
func (u *unknownRequests) refusal(frame []byte) ([]byte, bool) {
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.refused[xid] {
		return frame, false
	}
	header := jute.ReplyHeader{Xid: xid, Err: jute.CodeUnimplemented}
	frame = header.Append(make([]byte, 4))
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame, true
}
