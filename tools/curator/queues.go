package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/view"
)

const queuesHelp = `Shows Curator's queues with items at PATH and below it, / by default. KIND is
found by the names of the items. LENGTH is the number of items, and OLDEST the
age of the item with the lowest number. DETAILS has the number of delayed items
and when the next is due, the number of items of each priority, and the number
of items that consumers have locked.

Consumers are known only by their lock nodes, which only queues with a lock path
have. They are shown if the lock path is at PATH or below it. If the id of an
item has eleven hexadecimal digits, in upper case, it is shown as the time of a
delayed item.

With -o json the output is {"queues": [QUEUE...]}, which is stable. A QUEUE has
path, kind (plain, priority, delay, id, simple or mixed), length, delayed,
inWork and consumers (session, items), or an error if its node cannot be read.
If they are known it also has oldest (node, created, bytes), nextDue, priorities
(priority, length) and lockPath. Times are UTC.`

func (p *program) queuesCommand() *cobra.Command {
	return p.lookCommand(request{
		use: "queues [PATH]", short: "Show how many items queues have", help: queuesHelp,
		example: "  curator queues --watch /queues\n  curator queues /queues -o json | jq '.queues[] | select(.length > 100).path'",
	}, func(ctx context.Context, a *answer, path string) (result, error) {
		list, err := view.Queues(ctx, a.client, path, time.Now())
		if a.gone(err) {
			list, err = []view.Queue{}, nil
		}
		document := struct {
			Queues []view.Queue `json:"queues"`
		}{list}
		return result{document, func() [][]string { return queueRows(list) }}, err
	})
}

func queueRows(list []view.Queue) [][]string {
	rows := [][]string{{"PATH", "KIND", "LENGTH", "OLDEST", "DETAILS"}}
	for _, q := range list {
		oldest, details := "-", queueDetails(q)
		if q.Oldest != nil {
			oldest = age(q.Oldest.Created)
		}
		if q.Error != "" {
			details = q.Error
		}
		rows = append(rows, []string{q.Path, orDash(q.Kind), strconv.Itoa(q.Length), oldest, orDash(details)})
	}
	return rows
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func queueDetails(q view.Queue) string {
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
