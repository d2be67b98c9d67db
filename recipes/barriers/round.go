package barriers

// view is one look at a double barrier.
type view struct {
	ready   stat     // of the "ready" node; nil if there is none
	names   []string // of the members' nodes, sorted
	barrier stat     // of the barrier's own node, in the list; nil if there is none
}

// standing is what a look tells a member that enters (rule B3). The members of a round are those
// whose node is older than the round's "ready".
type standing int

const (
	outside standing = iota // no round is open
	inside                  // in the open round
	late                    // a round is open, and we are not in it
	unclear                 // "ready" is older than our node: the nodes of the others decide
)

// standingOf compares our node with "ready". Nodes are ordered by czxid, the transactions that
// created them.
func (v view) standingOf(czxid int64) standing {
	switch {
	case v.ready == nil:
		return outside
	case v.ready.Czxid > czxid:
		return inside
	}
	return unclear
}

// clear decides an unclear standing by the stats of the others' nodes. A "ready" that is older
// than every node is left of a round whose members have died: it is dead.
func (v view) clear(others []stat) standing {
	for _, other := range others {
		if other != nil && other.Czxid < v.ready.Czxid {
			return late
		}
	}
	return outside
}
