package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/view"
)

const locksHelp = `Shows the locks at PATH and below it that somebody holds or waits for: the kind,
the holders, and the waiters in order. PATH is / by default.

FOR is the age of a contender's node: how long it has waited and held together.
The server does not record when a waiter became a holder. TOKEN is the fencing
token. An InterProcessSemaphore has the same nodes as a mutex, so all its
holders but the first are shown as waiters. A client that takes a lease of an
InterProcessSemaphoreV2 is a waiter, although the lease has a node already.
After curator revoke the owner of a node is not known, because the request
replaces its name.

With -o json the output is {"locks": [LOCK...]}, which is stable. A LOCK has
path, kind (mutex, read-write, semaphore-v2 or latch), holders and waiters, or
an error if its node cannot be read. Each holder and waiter has node, owner,
session, token, since (UTC) and revocationRequested, and if they are known
label, host and pid.`

func (p *program) locksCommand() *cobra.Command {
	return p.lookCommand(request{
		use: "locks [PATH]", short: "Show who holds locks and who waits for them", help: locksHelp,
		example: "  curator locks --watch /locks\n  curator locks /locks -o json | jq '.locks[].holders[].owner'",
	}, lookAtLocks)
}

func lookAtLocks(ctx context.Context, a *answer, path string) (result, error) {
	list, err := view.Locks(ctx, a.client, path)
	if a.gone(err) {
		list, err = []view.Lock{}, nil
	}
	document := struct {
		Locks []view.Lock `json:"locks"`
	}{list}
	return result{document, func() [][]string { return lockRows(list) }}, err
}

func lockRows(list []view.Lock) [][]string {
	rows := [][]string{{"PATH", "KIND", "PLACE", "OWNER", "FOR", "TOKEN", "SESSION"}}
	for _, lock := range list {
		for _, c := range lock.Holders {
			rows = append(rows, lockRow(lock, "holder", c))
		}
		for i, c := range lock.Waiters {
			rows = append(rows, lockRow(lock, "waiter "+strconv.Itoa(i+1), c))
		}
		if lock.Error != "" {
			rows = append(rows, []string{lock.Path, "?", "-", lock.Error, "-", "-", "-"})
		}
	}
	return rows
}

func lockRow(lock view.Lock, place string, c view.Contender) []string {
	return []string{lock.Path, lock.Kind, place, ownerOf(c), age(c.Since), strconv.FormatInt(c.Token, 10), c.Session}
}

// ownerOf returns the name of a contender for a table or a message.
func ownerOf(c view.Contender) string {
	switch {
	case c.RevocationRequested:
		return "(revocation requested)"
	case c.Owner == "":
		return "(unknown)"
	}
	return c.Owner
}

// age returns the time since a server's time as text. It is 0 if the server's clock is ahead.
func age(since time.Time) string { return fmt.Sprint(max(time.Since(since), 0).Round(time.Second)) }
