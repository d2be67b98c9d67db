package leader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
	"github.com/go-curator/curator/recipes/locks"
)

// election is a path, and the kind of nodes by which it elects.
type election struct {
	client *framework.Client
	api    *zkclient.Client
	path   string // as the client names it
	full   string // as the server names it
	id     string
	rules  rules
}

func newElection(client *framework.Client, path string, cfg config, r rules) (*election, error) {
	api := zkclient.Of(client)
	full, err := api.ServerPath(path)
	if err == nil && path == "/" {
		err = fmt.Errorf("%w %q: an election needs a path of its own", framework.ErrInvalidPath, path)
	}
	if err != nil {
		return nil, err
	}
	id := cfg.id
	if !cfg.idGiven {
		id = api.Telemetry().OwnerText()
	}
	return &election{client: client, api: api, path: path, full: full, id: id, rules: r}, nil
}

// rules are those of a queue whose first node leads. No event begins a term: a candidate that is
// next lists the queue when the node ahead is gone (rule L3). Nobody marks a release.
type rules struct {
	kind     string // of package layout
	nodeName string
}

var _ lockqueue.Rules = rules{}

var (
	latchRules    = rules{layout.KindLatch, layout.LatchMark}
	selectorRules = rules{layout.KindMutex, layout.LockMark}
)

// Order returns the server's number at the end of a participant's name.
func (r rules) Order(name string) string { return layout.Number(name, r.nodeName) }

// Check refuses the nodes of other kinds of queues.
func (r rules) Check(names []string) error {
	for _, name := range names {
		if kind := layout.LockKind(name); kind != "" && kind != r.kind {
			return fmt.Errorf("%w: %s (%s)", locks.ErrKindMismatch, kind, name)
		}
	}
	return nil
}

// Decide lets the first one in. Each other one waits for the node right ahead.
func (r rules) Decide(queue []string, own string) lockqueue.Decision {
	i := slices.Index(queue, own)
	if i <= 0 {
		return lockqueue.Decision{Admitted: i == 0}
	}
	return lockqueue.Decision{Behind: []string{queue[i-1]}}
}

// Marks reports false: no node of a latch is released with a marker.
func (rules) Marks(string) bool { return false }

// Participant is a candidate or the leader of an election. If the client may not read its node, and the server is
// ZooKeeper 3.8.4, 3.9.2 or newer, only Path and Leader are set: such a server does not even show the node's Stat
// then. See framework's CheckExists.
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
		return nil, zkclient.ErrNilContext
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
		var exists bool
		exists, err = e.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, path)
		switch {
		case errors.Is(err, framework.ErrNoAuth): // newer servers show no Stat either, but say only so of a node that exists
			return Participant{Path: path}, nil
		case !exists && err == nil:
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
