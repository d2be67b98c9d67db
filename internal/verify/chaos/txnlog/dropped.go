package txnlog

import (
	"strings"

	"github.com/go-curator/curator/internal/jute"
)

// splitDropped takes out transactions that the servers have dropped: ZooKeeper 3.8.0 can do so with what
// two of three servers have logged, if its leader is cut off at that moment. A transaction was dropped, and
// with it the rest of its epoch, if one of a later epoch contradicts it.
func splitDropped(all []Txn) (committed, dropped []Txn) {
	for {
		from := contradicted(all)
		if from == 0 {
			return all, dropped
		}
		var left []Txn
		for _, t := range all {
			if t.Zxid >= from && epoch(t.Zxid) == epoch(from) {
				dropped = append(dropped, t)
			} else {
				left = append(left, t)
			}
		}
		all = left
	}
}

func epoch(zxid int64) int64 { return zxid >> 32 }

// tree is what transactions have left.
type tree struct {
	nodes     map[string]Txn     // that exist, with the transaction that has created each
	gone      map[string]Txn     // the last transaction that has deleted each of the others
	newest    map[string]last    // child of each node, also if it is gone
	ofSession map[int64][]string // ephemeral nodes, also those that are gone
}

// last is the last creation of a child.
type last struct {
	cversion int32
	by       Txn
}

// contradicted returns the zxid of a transaction that one of a later epoch contradicts, or 0.
func contradicted(all []Txn) int64 {
	w := &tree{nodes: map[string]Txn{}, gone: map[string]Txn{}, newest: map[string]last{}, ofSession: map[int64][]string{}}
	for _, t := range all {
		for _, c := range t.Changes {
			var before Txn
			switch c.Op {
			case jute.OpCreate:
				before = w.create(t, c)
			case jute.OpDelete:
				before = w.remove(t, c.Path)
			}
			if before.Zxid != 0 && epoch(before.Zxid) < epoch(t.Zxid) {
				return before.Zxid
			}
		}
		if t.Ends {
			for _, path := range w.ofSession[t.Session] {
				if made, there := w.nodes[path]; there && made.Session == t.Session {
					w.remove(t, path)
				}
			}
			delete(w.ofSession, t.Session)
		}
	}
	return 0
}

// create creates a node. It returns the transaction that contradicts this, if there is one: the number of
// creations below the parent must have risen.
func (w *tree) create(t Txn, c Change) (before Txn) {
	parent := c.Path[:max(1, strings.LastIndexByte(c.Path, '/'))]
	if newest, ok := w.newest[parent]; ok && c.Cversion <= newest.cversion {
		before = newest.by
	}
	if made, there := w.nodes[c.Path]; there {
		before = made
	}
	w.newest[parent] = last{c.Cversion, t}
	w.nodes[c.Path] = t
	delete(w.gone, c.Path)
	if c.Ephemeral {
		w.ofSession[t.Session] = append(w.ofSession[t.Session], c.Path)
	}
	return before
}

// remove deletes a node. It returns the transaction that has deleted it already, if there is one.
func (w *tree) remove(t Txn, path string) (before Txn) {
	if _, there := w.nodes[path]; !there {
		before = w.gone[path]
	}
	delete(w.nodes, path)
	delete(w.newest, path)
	w.gone[path] = t
	return before
}
