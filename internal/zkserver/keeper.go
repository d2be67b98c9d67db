package zkserver

import (
	"slices"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// Keeper says what a Server does as ClickHouse Keeper does it. The zero Keeper is ZooKeeper.
type Keeper struct {
	// NewSessions has every handshake grant a new session. Which one it asks to continue, with which
	// password, and what it has seen does not matter, and the answer does not say that the old one is
	// over: that lives on, with its ephemeral nodes, until its timeout. Sessions have no password, and
	// count from 1, again from 1 for a server that has lost its data.
	NewSessions bool
	// DropUnknown ends the connection at a request that releases up to 25.10 do not know, in place of
	// an answer. What the connection was still to be sent is lost.
	DropUnknown bool
}

// unknownToKeeper are the requests of ZooKeeper 3.8 that Keeper does not know up to release 25.10. Some of
// them a Keeper has as an option, or only since a later release.
var unknownToKeeper = []jute.Op{
	jute.OpCreate2, jute.OpCreateContainer, jute.OpDeleteContainer, jute.OpCreateTTL,
	jute.OpSetWatches, jute.OpSetWatches2, jute.OpAddWatch, jute.OpCheckWatches, jute.OpRemoveWatches,
	jute.OpReconfig, jute.OpMultiRead, jute.OpGetEphemerals, jute.OpGetAllChildrenNumber, jute.OpWhoAmI,
}

// drops tells whether a request ends its connection.
func (k Keeper) drops(state *tree.State, op jute.Op, body []byte) bool {
	return k.DropUnknown && slices.ContainsFunc(tree.Ops(op, body), func(op jute.Op) bool {
		switch op {
		case jute.OpAuth, jute.OpClose, jute.OpCheck: // newer releases of ZooKeeper know check in a multi only
			return false
		}
		return slices.Contains(unknownToKeeper, op) || !state.Knows(op)
	})
}
