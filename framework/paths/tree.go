package paths

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// MkdirsOption is an option of Mkdirs.
type MkdirsOption interface{ apply(*mkdirs) error }

type mkdirsOption func(*mkdirs) error

func (o mkdirsOption) apply(m *mkdirs) error { return o(m) }

type mkdirs struct {
	containers bool
	exceptLast bool
	acl        []framework.ACL // nil for the client's
}

// WithContainers creates the nodes as containers, which the server removes after their last
// child was deleted. The default is persistent nodes. A client with WithoutContainerParents
// still creates persistent nodes.
func WithContainers() MkdirsOption {
	return mkdirsOption(func(m *mkdirs) error {
		m.containers = true
		return nil
	})
}

// WithACL sets the ACL of the created nodes, which must not be empty. The default is the
// client's default ACL.
func WithACL(acl ...framework.ACL) MkdirsOption {
	acl = slices.Clone(acl)
	return mkdirsOption(func(m *mkdirs) error {
		if len(acl) == 0 {
			return fmt.Errorf("%w: WithACL without an ACL", framework.ErrInvalidOption)
		}
		m.acl = acl
		return nil
	})
}

// WithoutLastNode creates only the parents of the node.
func WithoutLastNode() MkdirsOption {
	return mkdirsOption(func(m *mkdirs) error {
		m.exceptLast = true
		return nil
	})
}

// missingChild is the name of the child whose parents Mkdirs creates.
const missingChild = "-"

// tries is how often Mkdirs tries if the server removes a container meanwhile.
const tries = 5

// Mkdirs creates the node at path and its parents, if they are missing, without data. A node
// that exists is not changed, and need not be readable. Operations are repeated by the retry policy, also after a lost
// reply. The server may remove containers without children at any time.
//
// The client sends a checkExists of a child of the node, with the name "-" and a step that
// creates parents. A schema set checks that operation.
//
// Creates with CreatingParentsIfNeeded or CreatingParentContainersIfNeeded do not need it.
// Errors: framework.ErrNoAuth, framework.ErrInvalidPath, framework.ErrInvalidOption.
//
// Java: mkdirs.
func Mkdirs(ctx context.Context, client *framework.Client, path string, opts ...MkdirsOption) error {
	var m mkdirs
	for _, o := range opts {
		if o == nil {
			return fmt.Errorf("%w: an option of Mkdirs is nil", framework.ErrInvalidOption)
		}
		if err := o.apply(&m); err != nil {
			return err
		}
	}
	if err := validate(client, path); err != nil {
		return err
	}
	check := client.CheckExists()
	if m.containers {
		check = check.CreatingParentContainersIfNeeded()
	} else {
		check = check.CreatingParentsIfNeeded()
	}
	if m.acl != nil {
		check = check.WithACL(m.acl...)
	}
	target := path
	if !m.exceptLast {
		target = Make(path, missingChild)
	}
	err := makeParents(ctx, check, target)
	if m.exceptLast && errors.Is(err, framework.ErrNoAuth) {
		// It may be that the node exists, and newer servers do not say so to a client that may not read it. They
		// answer for a node that is missing.
		parent, _ := ParentAndNode(path)
		err = makeParents(ctx, check, Make(parent, missingChild))
	}
	if err != nil {
		return fmt.Errorf("mkdirs %s: %w", path, err)
	}
	return nil
}

// makeParents creates the missing parents of the node at path, which check looks for.
func makeParents(ctx context.Context, check framework.CheckExistsBuilder, path string) (err error) {
	for range tries {
		_, err = check.ForPath(ctx, path)
		if !errors.Is(err, framework.ErrNoNode) { // a container went while its child was made
			break
		}
	}
	return err
}

// validate refuses what no operation of the client would take.
func validate(client *framework.Client, path string) error {
	if _, err := zkclient.Of(client).ServerPath(path); err != nil {
		return &framework.OpError{Op: "mkdirs", Path: path, Err: err}
	}
	return nil
}

// DeleteChildren deletes all nodes below the node at path and, with deleteSelf, the node. Nodes
// that others delete meanwhile, including the node itself, are no error. Nodes that others
// create meanwhile are deleted, too, if deleteSelf is set; otherwise they may be.
//
// Children are deleted before their parents. Otherwise the order is not defined. After an error
// some nodes are left. Errors: framework.ErrNoAuth.
//
// Java: deleteChildren.
func DeleteChildren(ctx context.Context, client *framework.Client, path string, deleteSelf bool) error {
	remove := client.Delete().DeletingChildrenIfNeeded().Quietly()
	if deleteSelf {
		return remove.ForPath(ctx, path)
	}
	names, err := client.GetChildren().ForPath(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range notDeleted(ctx, client, path, names) {
		if err := remove.ForPath(ctx, Make(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// notDeleted deletes the children that have none themselves, all in one write, and returns
// the others. If anything goes wrong it leaves that to the deletes that follow, which are
// repeated as the retry policy wants.
func notDeleted(ctx context.Context, client *framework.Client, path string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	ops := make([]framework.Op, len(names))
	for i, name := range names {
		ops[i] = client.TransactionOp().Delete().ForPath(Make(path, name))
	}
	results, err := client.Batch().ForOperations(ctx, ops...)
	if err != nil {
		return names
	}
	var left []string
	for i, result := range results {
		if result.Err != nil && !errors.Is(result.Err, framework.ErrNoNode) {
			left = append(left, names[i])
		}
	}
	return left
}

// SortedChildren returns the names of a node's children in ascending order, byte by byte. For
// names that differ only in their sequence numbers this is the order of creation. Errors:
// framework.ErrNoNode, framework.ErrNoAuth.
//
// Java: getSortedChildren.
func SortedChildren(ctx context.Context, client *framework.Client, path string) ([]string, error) {
	names, err := client.GetChildren().ForPath(ctx, path)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}
