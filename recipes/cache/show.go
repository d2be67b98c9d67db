package cache

import (
	"time"

	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// A version is exact when it is shown at a reply while nothing is to be read: the reply comes
// behind the events of all changes up to its zxid and ahead of those of all later ones, and since
// nothing is to be read, the last reply about each changed node came behind its last event. An
// event alone is no such moment, because the next event may be of the same transaction.

// showExact shows the tree, if it is the one that the server had at the reply which was just taken
// over.
func (r *replica) showExact() {
	if !r.requests.idle() {
		return
	}
	exact := r.exact()
	if r.changed || r.last > r.shown.zxid || exact && !r.shown.exact || !r.cutSince.IsZero() || !r.loaded {
		r.show(r.last, exact)
	}
}

// minHold is how soon a load is looked at again.
const minHold = 10 * time.Millisecond

// showOverdue shows the tree as it is, if changes have been held back for the maximal lag. A load
// is waited for, and for as long again for an exact version after it.
func (r *replica) showOverdue() {
	switch {
	case r.heldSince.IsZero() || time.Since(r.heldSince) < r.cfg.maxLag:
	case r.requests.walking > 0:
		r.heldSince = time.Now()
		r.lag.Reset(max(r.cfg.maxLag, minHold))
	case r.changed || !r.loaded:
		r.show(max(r.requests.since(r.last), r.shown.zxid), false)
	}
}

// show shows the tree, unless somebody is told of its changes for whom data is to be read first.
func (r *replica) show(zxid int64, exact bool) {
	heard := r.output.heard()
	if heard && r.cfg.dataless && r.readFresh() {
		return
	}
	if r.connected && !r.cutSince.IsZero() {
		r.cutSince = time.Time{}
		r.updateStale()
	}
	r.shown = version{
		root: r.tree.Publish(), epoch: r.epoch, zxid: zxid, exact: exact, fresh: r.fresh, told: r.stream.take(), unread: r.names(), heard: heard,
	}
	r.changed, r.fresh, r.loaded = false, nil, true
	r.heldSince = time.Time{}
	r.lag.Stop()
	if !r.requests.idle() {
		r.touched()
	}
	r.output.show(r.shown)
}

// readFresh has the data read of the changes that are to be shown and were not kept: nobody was told of
// changes when they were read, or the node is shown because of a node below it that was created since. It
// reports whether there are such.
func (r *replica) readFresh() bool {
	missing := false
	pathtree.Diff(r.shown.root, r.tree.Root(), compare, func(c pathtree.Change[content]) bool {
		if c.New == nil || r.cfg.shape == childrenOnly && c.New.Path() == r.paths.root {
			return true
		}
		path := c.New.Path()
		if _, ok := r.fresh[path]; ok {
			return true
		}
		if u := r.out[path]; u == nil || !u.kept || !u.get {
			r.requests.add(path, get, !r.loaded || !r.cutSince.IsZero(), r.last)
			missing = true
		}
		return true
	})
	return missing
}
