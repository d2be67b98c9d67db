package suite

import (
	"encoding/binary"

	"github.com/go-curator/curator/internal/jute"
)

// Old has every connection from now on be one to a server before 3.6, which knows no persistent
// watches: it refuses requests for them, and then closes the connection.
func (n *Network) Old() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.old = true
}

// unknown tells whether the server does not know what is asked for in a frame.
func (c *conn) unknown(frame []byte) bool {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	op := jute.Op(binary.BigEndian.Uint32(frame[8:]))
	return c.network.old && (op == jute.OpAddWatch || op == jute.OpSetWatches2)
}

// refuse returns what is sent in place of a frame that the server does not know. The answer is
// turned into a refusal.
func (c *conn) refuse(frame []byte) []byte {
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	c.mu.Lock()
	if c.refused == nil {
		c.refused = map[int32]bool{}
	}
	c.refused[xid] = true
	c.mu.Unlock()
	header := jute.RequestHeader{Xid: xid, Op: jute.OpExists}
	sent := (&jute.PathWatchRequest{Path: "/"}).Append(header.Append(make([]byte, 4)))
	binary.BigEndian.PutUint32(sent, uint32(len(sent)-4))
	return sent
}

// refusal returns the refusal in place of an answer, and whether there is one. The connection is
// closed behind it.
func (c *conn) refusal(frame []byte) ([]byte, bool) {
	xid := int32(binary.BigEndian.Uint32(frame[4:]))
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.refused[xid] {
		return frame, false
	}
	header := jute.ReplyHeader{Xid: xid, Err: jute.CodeUnimplemented}
	frame = header.Append(make([]byte, 4))
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame, true
}
