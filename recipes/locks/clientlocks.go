package locks

import (
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// clientLocks is shared by all locks of one client. It has the client's holds, and the lines of
// goroutines that hand nodes over. It lives as long as the client.
type clientLocks struct {
	mu     sync.Mutex
	counts map[identity]int // of holds
	nodes  map[string]*hold // by the server's path of the node
	lines  localLines
}

// locksOf returns the clientLocks of a client.
func locksOf(api *zkclient.Client) *clientLocks { return zkclient.SharedOf[clientLocks](api) }

func (c *clientLocks) add(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts, c.nodes = map[identity]int{}, map[string]*hold{}
	}
	c.counts[h.key()]++
	c.nodes[h.node.Path()] = h
}

func (c *clientLocks) remove(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := h.key()
	if c.counts[key]--; c.counts[key] == 0 {
		delete(c.counts, key)
	}
	if c.nodes[h.node.Path()] == h {
		delete(c.nodes, h.node.Path())
	}
}

// isHeld reports whether the client holds the lock now: it looks at the clock.
func (c *clientLocks) isHeld(key identity) bool {
	return slices.ContainsFunc(c.of(key), (*hold).believed)
}

// of returns the holds of a lock. Their methods must be called without c.mu.
func (c *clientLocks) of(key identity) []*hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts[key] == 0 {
		return nil
	}
	var all []*hold
	for _, h := range c.nodes {
		if h.key() == key {
			all = append(all, h)
		}
	}
	return all
}

// holding returns the hold of one of the nodes. It is nil if another client holds them.
func (c *clientLocks) holding(paths []string) *hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range paths {
		if h := c.nodes[path]; h != nil {
			return h
		}
	}
	return nil
}

// holder returns the name of the node by which the client holds the lock, "" if it does not.
func (c *clientLocks) holder(key identity) string {
	if h := c.leased(key); h != nil {
		return lockqueue.Name(h.node.Path())
	}
	return ""
}

// leased returns a hold of the lock that has leases, or nil.
func (c *clientLocks) leased(key identity) *hold {
	all := c.of(key)
	if i := slices.IndexFunc(all, (*hold).leased); i >= 0 {
		return all[i]
	}
	return nil
}
