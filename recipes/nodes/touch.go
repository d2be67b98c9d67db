package nodes

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
)

// touchChild keeps a node with a time to live alive: it sets the data of the child, or creates the
// child. The node itself is left alone, so that those who watch it hear nothing. framework.ErrNoNode
// says that the node is missing.
func (k *keeper) touchChild(ctx context.Context) error {
	_, err := k.client.SetData().Idempotent().ForPath(ctx, k.touchPath(), k.client.DefaultData())
	if errors.Is(err, framework.ErrNoNode) {
		b := k.client.Create().OrSetData().WithMode(framework.PersistentWithTTL).WithTTL(k.ttl)
		if k.acl != nil {
			b = b.WithACL(k.acl...)
		}
		_, err = b.ForPath(ctx, k.touchPath())
	}
	if err == nil {
		k.touched()
	}
	return err
}

// touched takes note that the child has just been set.
func (k *keeper) touched() { k.touchAt = time.Now().Add(k.ttl / time.Duration(k.factor)) }

// touchDue reports whether the child is to be set now.
func (k *keeper) touchDue() bool { return !k.touchAt.IsZero() && !time.Now().Before(k.touchAt) }
