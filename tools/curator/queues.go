package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/queueview"
)

const queuesHelp = `Shows the queues of Curator at PATH and below it, / by default, that have items:
the kind, by the names of the items, how many there are, and the age of the
oldest, by its number. DETAILS has the items that are not due yet and when the
next one is, the items of each priority, and the items that consumers work on.

Consumers leave no trace but the nodes with which they lock items, where a queue
has a lock path. They are shown if that is at PATH or below it. An item with an
id of eleven hexadecimal digits is taken for one with a time.

With -o json it is {"queues": [QUEUE...]}, and stable. A QUEUE has path, kind
(plain, priority, delay, id, simple or mixed), length, oldest (node, created,
bytes), delayed, nextDue, priorities (priority, length), inWork, lockPath and
consumers (session, items); or an error, if the node cannot be read. oldest,
nextDue, priorities and lockPath are there if they are known. Times are UTC.`

func (p *program) queuesCommand() *cobra.Command {
	return p.lookCommand(request{
		use: "queues [PATH]", short: "Show how many items queues have", help: queuesHelp,
		example: "  curator queues --watch /queues\n  curator queues /queues -o json | jq '.queues[] | select(.length > 100).path'",
	}, func(ctx context.Context, a *answer, path string) (result, error) {
		list, err := queueview.Below(ctx, a.client, path, time.Now())
		if a.gone(err) {
			list, err = []queueview.Queue{}, nil
		}
		document := struct {
			Queues []queueview.Queue `json:"queues"`
		}{list}
		return result{document, func() [][]string { return queueRows(list) }}, err
	})
}

func queueRows(list []queueview.Queue) [][]string {
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

func queueDetails(q queueview.Queue) string {
	var parts []string
	if q.Delayed > 0 {
		parts = append(parts, fmt.Sprintf("%d delayed, the next one for %v", q.Delayed, max(time.Until(*q.NextDue), 0).Round(time.Second)))
	}
	for _, p := range q.Priorities {
		parts = append(parts, fmt.Sprintf("%d of priority %d", p.Length, p.Priority))
	}
	if q.LockPath != "" {
		consumers := "consumers"
		if len(q.Consumers) == 1 {
			consumers = "consumer"
		}
		parts = append(parts, fmt.Sprintf("%d in work at %d %s", q.InWork, len(q.Consumers), consumers))
	}
	return strings.Join(parts, "; ")
}
