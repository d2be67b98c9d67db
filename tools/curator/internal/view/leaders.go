package view

import (
	"context"
	"slices"
	"strconv"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
)

// Election is an election with a leader or candidates.
type Election struct {
	Path       string      `json:"path"`
	Kind       string      `json:"kind"` // "latch", "selector", or "" with an error
	Leader     *Candidate  `json:"leader"`
	Candidates []Candidate `json:"candidates"` // those who wait, in order
	Error      string      `json:"error,omitempty"`
}

// Candidate is a participant of an election: the leader, or one that waits. Fields that are not known are "" or 0.
type Candidate struct {
	ID      string `json:"id"` // the id that the participant has chosen
	Node    string `json:"node"`
	Session string `json:"session"` // hexadecimal, as in ZooKeeper's logs
	Token   int64  `json:"token"`   // the fencing token
	Since   Time   `json:"since"`   // when its node was created, by the server's clock
}

// Elections returns the elections at path and below it, ordered by path. The nodes of a LeaderSelector
// have the same names as those of a mutex, but their data differs: a selector's has an id, a mutex's
// an address or an owner. A mutex at path itself is an election, whatever its data is. The errors are
// those of Locks.
func Elections(ctx context.Context, client *framework.Client, path string) ([]Election, error) {
	list, err := Locks(ctx, client, path)
	if err != nil {
		return nil, err
	}
	found := []Election{}
	for _, lock := range list {
		e := Election{Path: lock.Path, Candidates: []Candidate{}, Error: lock.Error}
		switch {
		case lock.Error != "":
		case lock.Kind == layout.KindLatch:
			e.Kind = "latch"
		case lock.Kind == layout.KindMutex && (lock.Path == path || hasIDs(lock)):
			e.Kind = "selector"
		default:
			continue
		}
		for _, c := range lock.Holders {
			e.Leader = candidate(c)
		}
		for _, c := range lock.Waiters {
			e.Candidates = append(e.Candidates, *candidate(c))
		}
		found = append(found, e)
	}
	return found, nil
}

func candidate(c Contender) *Candidate {
	return &Candidate{ID: c.Owner, Node: c.Node, Session: c.Session, Token: c.Token, Since: c.Since}
}

// hasIDs reports whether the data of a mutex's nodes is that of an election's nodes.
func hasIDs(lock Lock) bool {
	lacksID := func(c Contender) bool { return !c.hasID }
	return !slices.ContainsFunc(lock.Holders, lacksID) && !slices.ContainsFunc(lock.Waiters, lacksID)
}

// LeaderRows returns the rows of a table of elections.
func LeaderRows(list []Election) [][]string {
	rows := [][]string{{"PATH", "KIND", "PLACE", "ID", "FOR", "TOKEN", "SESSION"}}
	add := func(e Election, place string, c Candidate) {
		rows = append(rows, []string{e.Path, e.Kind, place, c.ID, Age(c.Since.Time), strconv.FormatInt(c.Token, 10), orDash(c.Session)})
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
