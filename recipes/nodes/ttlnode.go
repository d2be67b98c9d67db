package nodes

import (
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
)

// maxTTL is the longest time to live that a server can store.
const maxTTL = (1<<40 - 1) * time.Millisecond

// NewPersistentTTLNode returns a keeper of a node that the server deletes when nobody has kept
// it for ttl, by the server's clock. Unlike an ephemeral node it survives the end of a session,
// and can have children; while it has children of others, it stays. ttl is in whole
// milliseconds.
//
// A child, "touch", keeps the node alive: its data is set twice within ttl, so watches on the
// node itself do not fire. WithTouch changes both. Close stops this and removes no node.
// Several programs may keep one node.
//
// Without zookeeper.extendedTypesEnabled on the servers, Start returns
// framework.ErrUnimplemented. Errors: those of NewPersistentNode, and
// framework.ErrInvalidOption for a ttl that is out of range.
//
// Java: PersistentTtlNode.
func NewPersistentTTLNode(client *framework.Client, path string, ttl time.Duration, data []byte, opts ...Option) (*PersistentNode, error) {
	cfg, err := newConfig(opts)
	switch {
	case err != nil:
	case ttl%time.Millisecond != 0 || ttl < time.Duration(cfg.factor)*time.Millisecond || ttl > maxTTL:
		err = fmt.Errorf("%w: the ttl %v is not in whole milliseconds from %d ms to %v", framework.ErrInvalidOption, ttl, cfg.factor, maxTTL)
	}
	if err != nil {
		return nil, err
	}
	n, err := newNode(client, path, framework.PersistentWithTTL, data, cfg)
	if err != nil {
		return nil, err
	}
	n.keeper.ttl = ttl
	return n, nil
}
