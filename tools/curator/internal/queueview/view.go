// Package queueview finds the queues below a path, and says how many items they have, in a form
// whose JSON is stable. It only reads. A view is no snapshot: nodes are read one by one. Its
// functions are safe for concurrent use, and end with an error when ctx ends.
package queueview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
)

// Below returns the queues at path and below it that have items, by path. A node that cannot be
// listed is a Queue with an Error. If the node at path does not exist the error matches
// framework.ErrNoNode.
//
// Consumers leave no trace but the nodes with which they lock items. Those are found if they are
// at path or below it, too: a folder belongs to the queue with items of the same names. If there
// are several such queues it belongs to none.
func Below(ctx context.Context, client *framework.Client, path string, now time.Time) ([]Queue, error) {
	f := &finder{client: client, now: now, locks: map[string][]string{}, items: map[string][]string{}}
	if _, err := client.GetChildren().ForPath(ctx, path); errors.Is(err, framework.ErrNoNode) {
		return nil, err
	}
	if err := f.find(ctx, path); err != nil {
		return nil, err
	}
	for _, lockPath := range slices.Sorted(maps.Keys(f.locks)) {
		if err := f.addConsumers(ctx, lockPath, f.locks[lockPath]); err != nil {
			return nil, err
		}
	}
	if f.found == nil {
		f.found = []Queue{}
	}
	return f.found, nil
}

type finder struct {
	client *framework.Client
	now    time.Time
	found  []Queue
	items  map[string][]string // names by the path of the queue
	locks  map[string][]string // names by the path of a folder of lock nodes
}

// find looks at a node, and below it.
func (f *finder) find(ctx context.Context, path string) error {
	names, err := f.client.GetChildren().ForPath(ctx, path)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return nil // it has gone meanwhile
	case errors.Is(err, framework.ErrNoAuth):
		f.found = append(f.found, Queue{Path: path, Consumers: []Consumer{}, Error: err.Error()})
		return nil
	case err != nil:
		return err
	}
	slices.Sort(names)
	var items []string
	for _, name := range names {
		if isItem(name) {
			items = append(items, name)
		}
	}
	if len(items) > 0 {
		if err := f.add(ctx, path, items); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !isItem(name) { // an item has no children
			if err := f.find(ctx, join(path, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds the queue at path, or the folder of lock nodes that it is.
func (f *finder) add(ctx context.Context, path string, items []string) error {
	q := Queue{Path: path, Length: len(items), Consumers: []Consumer{}}
	slices.SortFunc(items, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	for _, name := range items {
		var stat framework.Stat
		exists, err := f.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, join(path, name))
		if err != nil {
			return err
		}
		if !exists {
			continue // it was taken meanwhile
		}
		if stat.EphemeralOwner != 0 {
			f.locks[path] = items
			return nil
		}
		q.Oldest = &Item{Node: join(path, name), Created: stat.Ctime.UTC(), Bytes: stat.DataLength}
		break
	}
	q.classify(items, f.now)
	f.items[path] = items
	f.found = append(f.found, q)
	return nil
}

// addConsumers adds the sessions that have locked items of a queue.
func (f *finder) addConsumers(ctx context.Context, lockPath string, locked []string) error {
	var owner *Queue
	for i := range f.found {
		q := &f.found[i]
		if slices.ContainsFunc(locked, func(name string) bool { return slices.Contains(f.items[q.Path], name) }) {
			if owner != nil {
				return nil // it is not known whose they are
			}
			owner = q
		}
	}
	if owner == nil {
		return nil
	}
	owner.LockPath = lockPath
	bySession := map[int64]int{}
	for _, name := range locked {
		var stat framework.Stat
		exists, err := f.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, join(lockPath, name))
		if err != nil {
			return err
		}
		if exists {
			bySession[stat.EphemeralOwner]++
			owner.InWork++
		}
	}
	for session, items := range bySession {
		owner.Consumers = append(owner.Consumers, Consumer{fmt.Sprintf("0x%x", uint64(session)), items})
	}
	slices.SortFunc(owner.Consumers, func(a, b Consumer) int { return strings.Compare(a.Session, b.Session) })
	return nil
}

func join(path, name string) string { return strings.TrimSuffix(path, "/") + "/" + name }
