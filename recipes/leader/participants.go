package leader

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// Participant is a candidate or the leader of an election.
//
// Java: Participant.
type Participant struct {
	// ID is the participant's id, see WithID: the data of its node. It is "" if the client may not
	// read the node, or not so much data; see framework.WithMaxReply.
	ID string
	// Leader says whether it is the first in the queue.
	Leader bool

	Path      string
	Token     int64     // see locks.Lease.Token
	SessionID int64     // of the client that owns the node
	Since     time.Time // when it joined, by the server's clock
}

// maxReads bounds how many nodes are read at a time.
const maxReads = 16

// participants lists the nodes of the election and reads them. Nodes that go away meanwhile are
// left out.
func (e *election) participants(ctx context.Context) ([]Participant, error) {
	queue, err := e.line(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]Participant, len(queue))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(maxReads)
	for i, name := range queue {
		reads.Go(func() (err error) {
			found[i], err = e.read(ctx, name)
			if errors.Is(err, framework.ErrNoNode) {
				return nil
			}
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(p Participant) bool { return p.Path == "" })
	if len(found) > 0 {
		found[0].Leader = true
	}
	return found, nil
}

// leader reads the nodes of the election in their order, until one is there.
func (e *election) leader(ctx context.Context) (Participant, error) {
	queue, err := e.line(ctx)
	if err != nil {
		return Participant{}, err
	}
	for _, name := range queue {
		p, err := e.read(ctx, name)
		if errors.Is(err, framework.ErrNoNode) {
			continue
		}
		p.Leader = err == nil
		return p, err
	}
	return Participant{}, ErrNoLeader
}

// line returns the names of the election's nodes, in their order.
func (e *election) line(ctx context.Context) ([]string, error) {
	if ctx == nil {
		return nil, errNilCtx
	}
	names, err := lockqueue.List(ctx, e.api, e.path, e.full, 0)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	if err == nil {
		err = e.rules.Check(names)
	}
	if err != nil {
		return nil, err
	}
	return layout.Sort(names, e.rules.Order), nil
}

func (e *election) read(ctx context.Context, name string) (Participant, error) {
	path := e.path + "/" + name
	var stat framework.Stat
	data, err := e.client.GetData().Undecompressed().StoringStatIn(&stat).ForPath(ctx, path)
	if errors.Is(err, framework.ErrNoAuth) || errors.Is(err, framework.ErrTooLarge) {
		var exists bool // to ask needs no permission
		if exists, err = e.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, path); !exists && err == nil {
			err = framework.ErrNoNode
		}
	}
	if err != nil {
		return Participant{}, err
	}
	return Participant{
		ID: string(data), Path: path, Token: stat.Czxid, SessionID: stat.EphemeralOwner, Since: stat.Ctime,
	}, nil
}
