package model

import (
	"strconv"
	"strings"

	"github.com/go-curator/curator/internal/layout"
)

// Summary is the maximum number of holders, and of waiters, of a Recipe in Recipes and Take.
const Summary = 20

// show returns a recipe with at most count holders and count waiters, from number from on.
func (x *index) show(r *recipe, m moment, from, count int) Recipe {
	shown := Recipe{
		Path: r.path, Kind: r.kind, Holders: []Contender{}, Waiters: []Contender{}, Problem: r.problem,
		Grants: r.grants, Granted: r.granted, Max: r.max, Most: r.most,
	}
	switch r.kind {
	case Counter, Barrier:
		x.showLeaf(&shown, m)
		return shown
	case Lock, ReadWrite, Semaphore, Election:
		x.showQueue(&shown, r, m, from, count)
		return shown
	}
	d := x.dirs[r.path]
	classes := parts(r.kind)
	shown.Holding = d.live(classes...)
	i := 0
	d.each(func(c *child) bool {
		if i >= from {
			shown.Holders = append(shown.Holders, contender(c, m))
		}
		i++
		return i < from+count
	}, classes...)
	switch r.kind {
	case DoubleBarrier:
		shown.Open = d.live(layout.ReadyNode) > 0
	case Queue:
		x.showItems(&shown, d, m)
	}
	return shown
}

// showLeaf fills in a recipe that is a single node.
func (x *index) showLeaf(shown *Recipe, m moment) {
	n := x.nodes[shown.Path]
	if n == nil {
		return
	}
	shown.Since = m.ms(n.Modified)
	if shown.Kind == Barrier {
		shown.Since = m.ms(n.Created)
	}
	if n.Facts.Number != nil {
		shown.Value = strconv.FormatInt(*n.Facts.Number, 10)
		shown.Variant = strconv.Itoa(n.Facts.Bits) + " bits"
	}
}

// fewItems is how many items are looked at to find the variant of their queue.
const fewItems = 100

func (x *index) showItems(shown *Recipe, d *dir, m moment) {
	looked := 0
	d.each(func(c *child) bool {
		if looked++; looked == 1 {
			shown.Since = m.ms(c.node.Created)
		}
		it, _ := layout.ParseItem(c.name)
		if it.Kind != layout.PlainItems {
			shown.Variant = string(it.Kind)
		}
		return it.Kind == layout.PlainItems && looked < fewItems // Java puts an item back without its time or id
	}, parts(Queue)...)
}

// showQueue fills in a recipe with holders and waiters.
func (x *index) showQueue(shown *Recipe, r *recipe, m moment, from, count int) {
	d, classes := x.queueOf(r.path, r.kind)
	waiting := d.live(classes...)
	holds := map[string]bool{}
	for i, c := range x.holders(r.path, r.kind) {
		token := tokenOf(c.node)
		holds[token] = true
		shown.Holding++
		if i < from || i >= from+count {
			continue
		}
		held := contender(c, m)
		held.Held, held.Exact = held.Since, false
		if h := r.hold(token); h != nil {
			held.Held, held.Exact = h.From, h.Exact
			held.Name = h.Name
		}
		held.Since = min(held.Since, held.Held)
		shown.Holders = append(shown.Holders, held)
	}
	if r.kind != Semaphore { // the holders of a semaphore are not among the nodes of its queue
		waiting -= shown.Holding
	}
	shown.Waiting = max(waiting, 0)
	i := 0
	d.each(func(c *child) bool {
		if holds[tokenOf(c.node)] {
			return true
		}
		if i >= from {
			shown.Waiters = append(shown.Waiters, contender(c, m))
		}
		i++
		return i < from+count
	}, classes...)
}

// contender returns a child as a Contender.
func contender(c *child, m moment) Contender {
	f := c.node.Facts
	shown := Contender{
		Node: c.node.Path, Name: f.Name, Label: f.Label, Host: f.Host, PID: f.PID, Session: SessionName(c.node.Session),
		Token: tokenOf(c.node), Role: roleOf(c.class), Since: m.ms(c.node.Created), Asked: f.Asked,
		Service: f.Service,
	}
	switch c.class {
	case layout.ItemNode:
		if it, _ := layout.ParseItem(c.name); it.Kind == layout.DelayItems {
			shown.Due = it.Due.UnixMilli()
		}
		shown.Name = c.name
	case layout.SimpleNode, layout.BarrierNode, layout.MemberNode:
		shown.Name = c.name
	case layout.ClaimNode:
		shown.Name = strings.TrimSpace(c.name + " " + f.Name)
	}
	return shown
}
