package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/view"
)

const leadersHelp = `Shows the elections at PATH and below it: the leader, and the candidates in
order. PATH is / by default. FOR is the age of a participant's node: how long it
has been a candidate and the leader together. TOKEN is the fencing token.

The kind is latch for a LeaderLatch, and selector for a LeaderSelector and for
curator elect. The nodes of a selector have the same names as those of a mutex.
Their data tells them apart: an id for a selector, an owner for a mutex. If PATH
itself is the path of a mutex, it is shown as an election.

With -o json the output is {"elections": [ELECTION...]}, which is stable. An
ELECTION has path, kind, leader, and candidates, those who wait; leader and each
candidate have id, node, session, token and since (UTC). leader is null if there
is none. A node that cannot be read is an ELECTION with an error.`

func (p *program) leadersCommand() *cobra.Command {
	return p.lookCommand(request{
		use: "leaders [PATH]", short: "Show leaders and candidates of elections", help: leadersHelp,
		example: "  curator leaders --watch /leaders\n  curator leaders /leaders -o json | jq -r '.elections[].leader.id'",
	}, func(ctx context.Context, a *answer, path string) (result, error) {
		list, err := view.Elections(ctx, a.client, path)
		if a.gone(err) {
			list, err = []view.Election{}, nil
		}
		document := struct {
			Elections []view.Election `json:"elections"`
		}{list}
		return result{document, func() [][]string { return leaderRows(list) }}, err
	})
}

func leaderRows(list []view.Election) [][]string {
	rows := [][]string{{"PATH", "KIND", "PLACE", "ID", "FOR", "TOKEN", "SESSION"}}
	add := func(e view.Election, place string, c view.Candidate) {
		rows = append(rows, []string{e.Path, e.Kind, place, c.ID, age(c.Since), strconv.FormatInt(c.Token, 10), c.Session})
	}
	for _, e := range list {
		if e.Error != "" {
			rows = append(rows, []string{e.Path, "?", "-", e.Error, "-", "-", "-"})
			continue
		}
		if e.Leader != nil {
			add(e, "leader", *e.Leader)
		}
		for i, c := range e.Candidates {
			add(e, "candidate "+strconv.Itoa(i+1), c)
		}
	}
	return rows
}
