package queue

import (
	"sync"

	"github.com/go-curator/curator/internal/zkclient"
)

// claims are the lock nodes that the consumers of one client have, or try to create. Consumers of
// one client share its session. Without the claims a consumer that finds a lock node of that
// session after a lost reply could not tell whether it is its own.
type claims struct {
	mu    sync.Mutex
	taken map[string]struct{} // the server's paths
}

// claimsOf returns the claims of a client.
func claimsOf(api *zkclient.Client) *claims {
	return zkclient.SharedOf[claims](api)
}

// take takes the claim. It returns false if another consumer has it.
func (c *claims) take(full string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.taken[full]; taken {
		return false
	}
	if c.taken == nil {
		c.taken = map[string]struct{}{}
	}
	c.taken[full] = struct{}{}
	return true
}

func (c *claims) drop(full string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.taken, full)
}
