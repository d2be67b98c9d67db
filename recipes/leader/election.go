package leader

import (
	"fmt"
	"slices"

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
