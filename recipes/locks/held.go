package locks

import (
	"slices"
	"sync"
)

// holds are what is held in this process, of every client.
var holds registry

// registry has holds by lock and by node.
type registry struct {
	mu     sync.Mutex
	counts map[leaseKey]int
	nodes  map[nodeKey]*hold
}

// nodeKey is a node of a client's server.
type nodeKey struct {
	client any
	path   string
}

func (h *hold) nodeKey() nodeKey { return nodeKey{h.in.inside.Identity(), h.node.Path} }

func (r *registry) add(h *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts, r.nodes = map[leaseKey]int{}, map[nodeKey]*hold{}
	}
	r.counts[h.in.key()]++
	r.nodes[h.nodeKey()] = h
}

func (r *registry) remove(h *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := h.in.key()
	if r.counts[key]--; r.counts[key] == 0 {
		delete(r.counts, key)
	}
	delete(r.nodes, h.nodeKey())
}

// at returns the hold of a node, or nil.
func (r *registry) at(key nodeKey) *hold {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.nodes[key]
}

// of returns a hold of a lock that somebody has a lease of, or nil.
func (r *registry) of(key leaseKey) *hold {
	r.mu.Lock()
	var all []*hold
	for _, h := range r.nodes {
		if h.in.key() == key {
			all = append(all, h)
		}
	}
	r.mu.Unlock()
	if i := slices.IndexFunc(all, (*hold).leased); i >= 0 {
		return all[i]
	}
	return nil
}

// leased tells whether there is or was a lease of the hold. Of those of an AcquireN on its way
// there is none yet.
func (h *hold) leased() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.spanCtx != nil
}

// held tells whether the lock's client holds it.
func (in *internals) held() bool {
	if in == nil {
		return false
	}
	holds.mu.Lock()
	defer holds.mu.Unlock()
	return holds.counts[in.key()] > 0
}
