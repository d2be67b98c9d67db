package model

import (
	"slices"
	"time"

	"github.com/go-curator/curator/internal/layout"
)

// recipe is the state of a recipe that is kept between changes.
type recipe struct {
	path    string
	kind    Kind
	problem string
	holds   []*Hold // of the present holders
	grants  int
	granted int64
	until   int64 // when the last hold ended
	most    int
	max     int
	// While somebody waits for a lease: the number of leases that are held, since fullSince.
	full      int
	fullSince time.Time
}

// moment is the time at which a change was seen. seen is false if the change may have happened
// earlier: for the first contents of the tree, and after a loss of the connection. skew is added to
// the server's times.
type moment struct {
	now  time.Time
	seen bool
	skew time.Duration
}

// ms returns a time of the server as ms since 1970 by this machine's clock.
func (m moment) ms(t time.Time) int64 { return t.Add(m.skew).UnixMilli() }

// begin returns the hold of a node that has got the lock.
func (r *recipe) begin(n *Node, c layout.Class, m moment, fresh bool) *Hold {
	h := &Hold{
		Path: r.path, Kind: r.kind, Name: n.Facts.Name, Session: SessionName(n.Session), Token: tokenOf(n),
		Role: roleOf(c), Since: m.ms(n.Created), From: m.now.UnixMilli(), Exact: m.seen,
	}
	if fresh || !m.seen { // it is not known that it has waited
		h.From = min(h.From, h.Since)
	}
	h.Since = min(h.Since, h.From)
	return h
}

// settle replaces the former holders by the present ones, and returns the holds that have ended.
// fresh reports whether a node was created in this step.
func (r *recipe) settle(holders []*child, m moment, fresh func(n *Node) bool) (ended []*Hold) {
	var kept, begun []*Hold
	for _, c := range holders {
		token := tokenOf(c.node)
		i := slices.IndexFunc(r.holds, func(h *Hold) bool { return h.Token == token })
		if i >= 0 {
			if name := c.node.Facts.Name; name != "" { // it is "" if a revocation request has replaced it
				r.holds[i].Name = name
			}
			kept = append(kept, r.holds[i])
			continue
		}
		begun = append(begun, r.begin(c.node, c.class, m, fresh(c.node)))
	}
	for _, h := range r.holds {
		if slices.Contains(kept, h) {
			continue
		}
		h.Until = max(m.now.UnixMilli(), h.From)
		if n := len(ended); n < len(begun) {
			h.Next, h.NextToken = begun[n].Name, begun[n].Token
		}
		ended = append(ended, h)
		r.until = max(r.until, h.Until)
	}
	if r.kind == Lock || r.kind == Election { // holds do not overlap, although the clocks differ
		for _, h := range begun {
			h.From = max(h.From, r.until)
		}
	}
	if len(begun) > 0 && m.seen {
		r.grants += len(begun)
		r.granted = begun[len(begun)-1].From
	}
	r.holds = slices.Concat(kept, begun)
	r.most = max(r.most, len(r.holds))
	return ended
}

// confirmAfter is how long a lease must wait until observe concludes that the others are the maximum.
// Every lease seems to wait for a moment, also one that is granted at once.
const confirmAfter = 500 * time.Millisecond

// observe infers the maximum of a semaphore. It reports whether it must be called again later.
func (r *recipe) observe(waits bool, now time.Time) (again bool) {
	if len(r.holds) > r.max {
		r.max = 0
	}
	if !waits {
		r.full = 0
		return false
	}
	if r.full != len(r.holds) {
		r.full, r.fullSince = len(r.holds), now
	}
	if r.full > 0 && now.Sub(r.fullSince) >= confirmAfter {
		r.max = r.full
		return false
	}
	return true
}

// hold returns the present hold with a token, or nil.
func (r *recipe) hold(token string) *Hold {
	for _, h := range r.holds {
		if h.Token == token {
			return h
		}
	}
	return nil
}

func roleOf(c layout.Class) string {
	switch c {
	case layout.ReadNode:
		return "read"
	case layout.WriteNode:
		return "write"
	}
	return ""
}
