package acl_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/retry"
)

// failure drops what a constructor has made.
func failure[T any](_ T, err error) error { return err }

// constructors are those of all recipes that make nodes, with an ACL.
var constructors = map[string]func(c *framework.Client, acl ...framework.ACL) error{
	"NewInterProcessMutex": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(locks.NewInterProcessMutex(c, "/x", locks.WithACL(acl...)))
	},
	"NewInterProcessReadWriteLock": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(locks.NewInterProcessReadWriteLock(c, "/x", locks.WithACL(acl...)))
	},
	"NewInterProcessSemaphore": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(locks.NewInterProcessSemaphore(c, "/x", 1, locks.WithACL(acl...)))
	},
	"NewInterProcessSemaphoreV2": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(locks.NewInterProcessSemaphoreV2(c, "/x", 1, locks.WithACL(acl...)))
	},
	"NewInterProcessSemaphoreMutex": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(locks.NewInterProcessSemaphoreMutex(c, "/x", locks.WithACL(acl...)))
	},
	"NewLeaderLatch": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(leader.NewLeaderLatch(c, "/x", leader.WithACL(acl...)))
	},
	"NewLeaderSelector": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(leader.NewLeaderSelector(c, "/x", leader.WithACL(acl...)))
	},
	"NewDistributedAtomicLong": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(atomics.NewDistributedAtomicLong(c, "/x", retry.None(), atomics.WithACL(acl...)))
	},
	"NewDistributedAtomicValue": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(atomics.NewDistributedAtomicValue(c, "/x", retry.None(), atomics.WithACL(acl...)))
	},
	"NewValue": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(shared.NewValue(c, "/x", "", codec.String(), shared.WithACL(acl...)))
	},
	"NewCount": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(shared.NewCount(c, "/x", 0, shared.WithACL(acl...)))
	},
	"NewDistributedBarrier": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(barriers.NewDistributedBarrier(c, "/x", barriers.WithACL(acl...)))
	},
	"NewDistributedDoubleBarrier": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(barriers.NewDistributedDoubleBarrier(c, "/x", 1, barriers.WithACL(acl...)))
	},
	"NewDistributedQueue": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(queue.NewDistributedQueue(c, "/x", codec.String(), queue.WithACL(acl...)))
	},
	"NewSimpleDistributedQueue": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(queue.NewSimpleDistributedQueue(c, "/x", queue.WithACL(acl...)))
	},
	"NewPersistentNode": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(nodes.NewPersistentNode(c, "/x", framework.Ephemeral, nil, nodes.WithACL(acl...)))
	},
	"NewPersistentTTLNode": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(nodes.NewPersistentTTLNode(c, "/x", time.Hour, nil, nodes.WithACL(acl...)))
	},
	"NewGroupMember": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(nodes.NewGroupMember(c, "/x", "id", nil, nodes.WithACL(acl...)))
	},
	"NewServiceDiscovery": func(c *framework.Client, acl ...framework.ACL) error {
		return failure(discovery.NewServiceDiscovery(c, "/x", discovery.JSON[string](), discovery.WithACL(acl...)))
	},
}

// Constructors refuse lists that no server accepts, and those that permit nothing.
func TestRefused(t *testing.T) {
	bad := map[string][]framework.ACL{
		"it is empty":          {},
		"has no scheme":        {framework.WorldACL(), {Perms: framework.PermAll}},
		"is of world:":         {{Perms: framework.PermAll, Scheme: "world"}},
		"permits nothing":      {framework.DigestACL("user", "password", 0), framework.WorldACL()},
		"has the permissions ": {{Perms: framework.PermAll + 1, Scheme: "sasl", ID: "user"}},
	}
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		for name, construct := range constructors {
			for want, acl := range bad {
				err := construct(client, acl...)
				if !errors.Is(err, framework.ErrInvalidACL) || !errors.Is(err, framework.ErrInvalidOption) ||
					!strings.Contains(err.Error(), "WithACL: ") || !strings.Contains(err.Error(), want) {
					t.Errorf("%s(%v): %v, want %q", name, acl, err, want)
				}
			}
			if err := construct(client, ofRecipe...); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for what, c := range map[string]*framework.Client{"nil": nil, "zero": {}} {
				if err := construct(c, ofRecipe...); !errors.Is(err, framework.ErrNotStarted) {
					t.Errorf("%s of a %s client: %v", name, what, err)
				}
			}
		}
		for name, err := range map[string]error{
			"barrier":        failure(barriers.NewDistributedBarrier(client, "/x", nil)),
			"double barrier": failure(barriers.NewDistributedDoubleBarrier(client, "/x", 1, nil)),
			"simple queue":   failure(queue.NewSimpleDistributedQueue(client, "/x", nil)),
		} {
			if !errors.Is(err, framework.ErrInvalidOption) {
				t.Errorf("%s with a nil option: %v", name, err)
			}
		}
	})
}

// The last one counts, and the list of the caller is copied.
func TestTwice(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, nil)
		acl := aclOf("recipe")
		l := must(locks.NewInterProcessMutex(e.client, e.dir, locks.WithACL(ofClient...), locks.WithACL(acl...)))(e)
		clear(acl)
		held(e, l, nil, "", 0)
		lock := recipe{nodes: []string{"/_c_#-lock-#"}}
		lock.want(e, ofRecipe, nil)
	})
}

// What only a server knows fails where nodes are made, and leaves nothing.
func TestRefusedByServer(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t) // without credentials
		lock, err := locks.NewInterProcessMutex(client, b.Path("lock"), locks.WithACL(framework.AuthACL()))
		if err != nil {
			t.Fatal(err)
		}
		_, err = lock.Acquire(t.Context())
		suite.WantErr(t, err, framework.ErrInvalidACL)
		if there, err := client.CheckExists().ForPath(t.Context(), b.Path("lock")); there || err != nil {
			t.Errorf("%t, %v", there, err)
		}
	})
}
