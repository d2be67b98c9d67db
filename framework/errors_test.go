package framework_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-curator/curator/framework"
)

// The text of an error says what failed, and for a create which node is missing.
func TestErrorText(t *testing.T) {
	for want, err := range map[string]framework.OpError{
		"delete /a/b: no such node":                           {Op: "delete", Path: "/a/b", Err: framework.ErrNoNode},
		"create /a/b: no such node: the parent /a is missing": {Op: "create", Path: "/a/b", Err: framework.ErrNoNode},
		"create /a: no such node: the parent / is missing":    {Op: "create", Path: "/a", Err: framework.ErrNoNode}, // a chroot
		"create a: no such node":                              {Op: "create", Path: "a", Err: framework.ErrNoNode},
		"create /a/: node already exists (2 attempts)":        {Op: "create", Path: "/a/", Attempts: 2, Err: framework.ErrNodeExists},
		"create /a/: no such node: the parent /a is missing":  {Op: "create", Path: "/a/", Attempts: 1, Err: framework.ErrNoNode},
		"batch: connection lost: context canceled":            {Op: "batch", Err: fmt.Errorf("%w: %w", framework.ErrConnectionLoss, context.Canceled)},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
