package queueview

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/layout"
)

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
