package zkconn

import (
	"errors"

	"github.com/go-curator/curator/internal/jute"
)

// ErrPersistentWatch is returned when one of several watches is on a path that has a persistent
// watch, whose place it would take at the server. Nothing was sent.
var ErrPersistentWatch = errors.New("there is a persistent watch on the path")

// SetWatches returns the call that sets several data watches at one moment: those of present on nodes
// that are expected to exist, those of missing on nodes that are not. If a node is not as expected, or
// has changed since seen, its watch fires before the call is answered, and is not set; other watches
// on that node from this connection fire as well. seen is the zxid of an earlier answer.
//
// The protocol has this request for clients that set their watches again after a reconnect. It is one
// request; to read the nodes would be one for each. The server does not check whether the client may
// read the nodes. But newer servers send no events of nodes that the client may not read.
func SetWatches(seen int64, present, missing []*Watch) *Call {
	return &Call{
		Op: jute.OpSetWatches,
		Req: &jute.SetWatches{
			// Servers fail on lists that are missing instead of empty.
			RelativeZxid: seen, DataWatches: paths(present), ExistWatches: paths(missing), ChildWatches: []string{},
		},
		present: present, missing: missing,
	}
}

func paths(watches []*Watch) []string {
	all := make([]string, len(watches))
	for i, watch := range watches {
		all[i] = watch.path
	}
	return all
}
