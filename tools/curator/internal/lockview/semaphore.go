package lockview

import (
	"context"
	"errors"
	"slices"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
)

// readSemaphore tells the holders of a semaphore in Java's layout from its waiters. lock has all leases as
// holders, which were listed before the waiters. It returns nil if the node only has children of such
// names.
func readSemaphore(ctx context.Context, client *framework.Client, lock *Lock) (*Lock, error) {
	names, err := childrenOf(ctx, client, lock.Path)
	if err != nil {
		return nil, err
	}
	leases, err := childrenOf(ctx, client, lock.Path+"/"+layout.LeasesDir)
	if err != nil {
		return nil, err
	}
	if !layout.IsSemaphoreV2(layout.CountChildren(names), countOf(lock.Holders), countOf(lock.Waiters)) {
		return nil, nil
	}
	// The owner of a lease that was given up meanwhile is not among the waiters any more, so the lease
	// would look like a holder's.
	slices.Sort(leases)
	lock.Holders = slices.DeleteFunc(lock.Holders, func(c Contender) bool {
		_, found := slices.BinarySearch(leases, c.name())
		return !found
	})
	s := layout.ReadSemaphoreV2(owned(lock.Holders), owned(lock.Waiters))
	result := &Lock{Path: lock.Path, Kind: lock.Kind, Holders: pick(lock.Holders, s.Holders), Waiters: pick(lock.Waiters, s.Waiters)}
	if s.Undecided != nil {
		result.Undecided = &pick(lock.Holders, []layout.Owned{*s.Undecided})[0]
	}
	return result, nil
}

// childrenOf returns the names of a node's children, none if it is missing.
func childrenOf(ctx context.Context, client *framework.Client, path string) ([]string, error) {
	names, err := client.GetChildren().ForPath(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

func countOf(list []Contender) layout.Children {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.name()
	}
	return layout.CountChildren(names)
}

func owned(list []Contender) []layout.Owned {
	nodes := make([]layout.Owned, len(list))
	for i, c := range list {
		nodes[i] = layout.Owned{Name: c.name(), Session: c.session, Czxid: c.Token}
	}
	return nodes
}

// pick returns the contenders of some nodes, in the order of the nodes.
func pick(list []Contender, nodes []layout.Owned) []Contender {
	byName := make(map[string]Contender, len(list))
	for _, c := range list {
		byName[c.name()] = c
	}
	picked := make([]Contender, len(nodes)) // not nil, so that it is not null in JSON
	for i, n := range nodes {
		picked[i] = byName[n.Name]
	}
	return picked
}
