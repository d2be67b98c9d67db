package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/tools/curator/internal/output"
)

// Queues returns the queues with items at path and below it, ordered by path. A node that cannot be
// listed is a Queue with an Error. If the node at path does not exist, the error matches
// framework.ErrNoNode.
//
// Consumers are known only by the nodes with which they lock items. These are found if they are at
// path or below it, too. A lock node has the name of its item, so their parent belongs to the queue
// with items of these names; if there are several such queues, it belongs to none.
func Queues(ctx context.Context, client *framework.Client, path string, now time.Time) ([]Queue, error) {
	f := &queueFinder{client: client, now: now, locks: map[string][]string{}, items: map[string][]string{}}
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

type queueFinder struct {
	client *framework.Client
	now    time.Time
	found  []Queue
	items  map[string][]string // names of items, by the path of the queue
	locks  map[string][]string // names of lock nodes, by the path of their parent
}

// find adds the queues and lock nodes at path and below it.
func (f *queueFinder) find(ctx context.Context, path string) error {
	names, err := f.client.GetChildren().ForPath(ctx, path)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return nil // it was deleted meanwhile
	case errors.Is(err, framework.ErrNoAuth):
		f.found = append(f.found, Queue{Path: path, Consumers: []Consumer{}, Error: err.Error()})
		return nil
	case err != nil:
		return err
	}
	slices.Sort(names)
	var items []layout.Item
	var others []string // an item has no children
	for _, name := range names {
		if it, ok := layout.ParseItem(name); ok {
			items = append(items, it)
		} else {
			others = append(others, name)
		}
	}
	if len(items) > 0 {
		if err := f.add(ctx, path, items); err != nil {
			return err
		}
	}
	for _, name := range others {
		if err := f.find(ctx, join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// mostRefused is the number of items that may not be read after which no more items of a queue are asked for:
// usually all of them have the same ACL.
const mostRefused = 10

// add adds the queue at path, or its lock nodes if its children are lock nodes of items.
func (f *queueFinder) add(ctx context.Context, path string, items []layout.Item) error {
	q := Queue{Path: path, Length: len(items), Consumers: []Consumer{}}
	slices.SortFunc(items, layout.Item.CompareNumber)
	names := make([]string, len(items))
	for i, it := range items {
		names[i] = it.Name()
	}
	var refused []string
	for _, name := range names {
		if len(refused) == mostRefused {
			break
		}
		var stat framework.Stat
		exists, err := f.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, join(path, name))
		switch {
		case errors.Is(err, framework.ErrNoAuth):
			refused = append(refused, err.Error())
			continue
		case err != nil:
			return err
		case !exists:
			continue // a consumer has taken the item meanwhile
		}
		if stat.EphemeralOwner != 0 {
			f.locks[path] = names
			return nil
		}
		q.Oldest = &Item{Node: join(path, name), Created: stat.Ctime.UTC(), Bytes: stat.DataLength}
		break
	}
	if q.Oldest == nil && len(refused) > 0 { // whether these are items or lock nodes is not known
		q = Queue{Path: path, Consumers: []Consumer{}, Error: refused[0]}
	} else {
		q.classify(items, f.now)
		f.items[path] = names
	}
	f.found = append(f.found, q)
	return nil
}

// addConsumers adds the sessions that have locked items of a queue.
func (f *queueFinder) addConsumers(ctx context.Context, lockPath string, locked []string) error {
	var owner *Queue
	for i := range f.found {
		q := &f.found[i]
		if slices.ContainsFunc(locked, func(name string) bool { return slices.Contains(f.items[q.Path], name) }) {
			if owner != nil {
				return nil // another queue has items of these names, too
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
		switch {
		case errors.Is(err, framework.ErrNoAuth): // it exists, and its session is not known
			owner.InWork++
		case err != nil:
			return err
		case exists:
			bySession[stat.EphemeralOwner]++
			owner.InWork++
		}
	}
	for session, items := range bySession {
		owner.Consumers = append(owner.Consumers, Consumer{output.Hex(session), items})
	}
	slices.SortFunc(owner.Consumers, func(a, b Consumer) int { return strings.Compare(a.Session, b.Session) })
	return nil
}

// Queue is a queue of Curator with items.
type Queue struct {
	Path       string     `json:"path"`
	Kind       string     `json:"kind"` // "plain", "priority", "delay", "id", "simple" or "mixed"; "" with an error
	Length     int        `json:"length"`
	Oldest     *Item      `json:"oldest,omitempty"`     // the item with the lowest number
	Delayed    int        `json:"delayed"`              // items that are not due yet
	NextDue    *time.Time `json:"nextDue,omitempty"`    // when the first of these is due
	Priorities []Priority `json:"priorities,omitempty"` // the most urgent first
	InWork     int        `json:"inWork"`               // items that consumers have locked
	LockPath   string     `json:"lockPath,omitempty"`   // the node with their lock nodes; "" if it is not known
	Consumers  []Consumer `json:"consumers"`            // those that have locked items
	Error      string     `json:"error,omitempty"`
}

// Item is an item of a queue.
type Item struct {
	Node    string    `json:"node"`
	Created time.Time `json:"created"` // by the server's clock
	Bytes   int32     `json:"bytes"`
}

// Priority is the number of items of a priority.
type Priority struct {
	Priority int32 `json:"priority"`
	Length   int   `json:"length"`
}

// Consumer is a session that has locked items.
type Consumer struct {
	Session string `json:"session"` // hexadecimal, as in ZooKeeper's logs
	Items   int    `json:"items"`
}

// classify sets the fields that the names of the items determine.
func (q *Queue) classify(items []layout.Item, now time.Time) {
	priorities := map[int32]int{}
	for _, it := range items {
		if kind := string(it.Kind); q.Kind == "" || q.Kind == kind {
			q.Kind = kind
		} else {
			q.Kind = mixed
		}
		if it.Kind == layout.DelayItems && it.Due.After(now) {
			q.Delayed++
			if q.NextDue == nil || it.Due.Before(*q.NextDue) {
				q.NextDue = &it.Due
			}
		}
		if it.Kind == layout.PriorityItems {
			priorities[it.Priority]++
		}
	}
	for n, length := range priorities {
		q.Priorities = append(q.Priorities, Priority{n, length})
	}
	slices.SortFunc(q.Priorities, func(a, b Priority) int { return cmp.Compare(a.Priority, b.Priority) })
}

// mixed is the kind of a queue with items of several kinds.
const mixed = "mixed"

// QueueRows returns the rows of a table of queues.
func QueueRows(list []Queue) [][]string {
	rows := [][]string{{"PATH", "KIND", "LENGTH", "OLDEST", "DETAILS"}}
	for _, q := range list {
		oldest, details := "-", queueDetails(q)
		if q.Oldest != nil {
			oldest = Age(q.Oldest.Created)
		}
		if q.Error != "" {
			details = q.Error
		}
		rows = append(rows, []string{q.Path, orDash(q.Kind), strconv.Itoa(q.Length), oldest, orDash(details)})
	}
	return rows
}

func queueDetails(q Queue) string {
	var parts []string
	if q.Delayed > 0 {
		parts = append(parts, fmt.Sprintf("%d delayed, the next is due in %v", q.Delayed, max(time.Until(*q.NextDue), 0).Round(time.Second)))
	}
	for _, p := range q.Priorities {
		parts = append(parts, fmt.Sprintf("%d of priority %d", p.Length, p.Priority))
	}
	if q.LockPath != "" {
		consumers := "consumers"
		if len(q.Consumers) == 1 {
			consumers = "consumer"
		}
		parts = append(parts, fmt.Sprintf("%d locked by %d %s", q.InWork, len(q.Consumers), consumers))
	}
	return strings.Join(parts, "; ")
}
