package suite

import (
	"encoding/binary"

	"github.com/go-curator/curator/internal/jute"
)

// WithoutQuorum closes the connection, and makes every new one one to a server that has lost its quorum,
// until restore is called: it takes a client that asks for reads alone (framework.WithReadOnly), repeats
// the earlier answers to reads that this network has made before, and refuses all else.
func (n *Network) WithoutQuorum() (restore func()) {
	n.setAlone(true)
	n.Cut()
	return func() { n.setAlone(false) }
}

func (n *Network) setAlone(alone bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.alone = alone
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
