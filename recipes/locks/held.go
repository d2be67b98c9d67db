package locks

import "sync"

// holds counts what is held in this process, of every client.
var holds counter

// counter counts by lock.
type counter struct {
	mu sync.Mutex
	n  map[leaseKey]int
}

func (c *counter) add(key leaseKey, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[leaseKey]int{}
	}
	if c.n[key] += n; c.n[key] == 0 {
		delete(c.n, key)
	}
}

// held tells whether the lock's client holds it.
func (in *internals) held() bool {
	if in == nil {
		return false
	}
	holds.mu.Lock()
	defer holds.mu.Unlock()
	return holds.n[in.key()] > 0
}
