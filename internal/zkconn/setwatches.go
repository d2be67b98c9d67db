package zkconn

import (
	"errors"

	"github.com/go-curator/curator/internal/jute"
)

// ErrPersistentWatch is returned when one of several watches is on a path that has a persistent
// watch, whose place it would take at the server. Nothing was sent.
var ErrPersistentWatch = errors.New("there is a persistent watch on the path")

// SetWatches returns the call that sets several data watches, all at one moment: those of
// present on nodes that are expected to be there, those of missing on nodes that are not. A
// watch whose node is not as expected, or has changed since seen, fires before the call is
// answered, and is not set; so does, as if it was news, who else on this connection watches
// that node. seen is the zxid of something that was answered.
//
// Clients use the request to put watches back after a reconnect. It is one, where to read the
// nodes is one for each. The server does not ask whether the client may read them; but newer
// servers tell it of no change of those that it may not.
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

// watches yields all watches of the call.
func (c *Call) watches(yield func(*Watch) bool) {
	if c.Watch != nil && !yield(c.Watch) {
		return
	}
	for _, several := range [][]*Watch{c.present, c.missing} {
		for _, watch := range several {
			if !yield(watch) {
				return
			}
		}
	}
}
