package lockqueue

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/watchset"
	"github.com/go-curator/curator/state"
)

// Errors of [Contender.Acquire], in addition to those of the client and the context.
var (
	// ErrBusy is returned when others are ahead and Spec.Try is set.
	ErrBusy = errors.New("others are ahead")
	// ErrNothingToWatch is returned when the rules neither let the contender in nor name a node
	// that must be deleted first, or do not know the contender's name.
	ErrNothingToWatch = errors.New("the rules neither let the contender in nor say what to watch")
	// ErrPlaceLost is returned when the node of Spec.InPlaceOf is gone.
	ErrPlaceLost = errors.New("the node whose place was to be taken is gone")
	// ErrGuardGone is returned when the node of Spec.Guard is gone.
	ErrGuardGone = errors.New("the node that guards the queue is gone")
	// ErrSequenceExhausted is returned when the sequence numbers of the queue are nearly used
	// up.
	ErrSequenceExhausted = errors.New("the sequence numbers of the path are used up")
)

// Spec describes a contender of a queue.
type Spec struct {
	Client      *zkclient.Client
	NodeClient  ephemeral.Client // the client as the contender's nodes see it; tests put something between
	ErrorPolicy state.ErrorPolicy
	Dir         string            // the client's path of the queue
	FullDir     string            // the server's
	Name        string            // the beginning of the node's name, behind the protection: layout.LockMark, for example
	Node        zkclient.NodeSpec // the contender's node, without its path
	Rules       Rules
	Nodes       int  // how many nodes are made together; 0 means one
	Try         bool // decide at once
	Plain       bool // send request by request, as Java does
	Stays       bool // a Join or an Acquire that fails keeps its nodes, until Leave

	InPlaceOf *ephemeral.Node                 // take the number of this node; nil for a new number
	Guard     *ephemeral.Node                 // without this node the wait is useless; nil for none
	Changed   func(wake func()) (stop func()) // calls wake when the rules may decide otherwise; nil for never

	// Admit is called before the contender is granted. If again is true, the contender lists
	// the queue once more. Nil admits every contender.
	Admit func(ctx context.Context, node zkclient.Created) (again bool, err error)
	// OnBusy is called when others are ahead, with the name of the first node in the queue and
	// the paths of the nodes that the contender waits for. Nil does nothing.
	OnBusy func(first string, behind []string)
	// GiveUp returns further operations for the delete of a node that is given up. Nil means
	// none.
	GiveUp func(node zkclient.Created) ephemeral.Release
	// Unwatched is that of ephemeral.Config.
	Unwatched func(err error)

	CleanUp    time.Duration // bounds the wait for the deletion of nodes that are given up
	WatchAfter time.Duration // see ephemeral.Config
	Span       *telemetry.Acquisition
}

// phase is the state of a Contender. See the package documentation.
type phase int8

const (
	create phase = iota
	look
	arm
	wait
	grant
	restart
	granted
)

// Tags of watches: why a node is watched.
const (
	ownNode   int8 = iota // the contender's
	marker                // of the node right ahead: see marker.go
	nodeAhead             // one of these must go
	children              // of the queue
	guardNode             // Spec.Guard
)

// Contender is one acquisition in a queue. One goroutine uses it.
type Contender struct {
	spec  *Spec
	state phase
	hold  func(nodes []*ephemeral.Node) error // that of Acquire

	nodes []zkclient.Created // the last one is the one that waits
	owned []*ephemeral.Node  // the same nodes, once they were first
	names []string           // the children as they were listed last; nil if they must be listed

	leaving []leaving // deletes whose outcome may not be known, with Spec.Stays

	behind     []string // paths of nodes of which one must go
	behindAll  bool     // behind has all nodes that are ahead
	next       bool     // the end of the one node of behind is a grant: see next.go
	byChildren bool     // any change of the children is waited for, not behind
	decidedOn  []string // the children, sorted, with byChildren

	watches *watchset.Set         // of the wait
	waited  bool                  // the contender has armed watches before
	unread  bool                  // the watches were set without reading the nodes
	ownRead *jute.GetDataResponse // the own node as it was read; nil if it was not
	recheck *time.Timer           // while it waits

	recheckDue atomic.Bool
	changed    atomic.Bool // Spec.Changed has said so
	reported   bool        // telemetry knows the place in the queue
}

// New returns a contender without nodes. It keeps spec.
func New(spec *Spec) *Contender {
	spec.Nodes = max(spec.Nodes, 1)
	return &Contender{spec: spec, watches: watchset.New()}
}

// Forget leaves the nodes to their holders. The next Acquire creates other nodes.
func (c *Contender) Forget() {
	c.state, c.nodes, c.owned, c.names, c.ownRead, c.waited = create, nil, nil, nil, nil, false
}

// last returns the node that waits.
func (c *Contender) last() zkclient.Created { return c.nodes[len(c.nodes)-1] }

// Name returns the last part of a path.
func Name(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// AwaitRemovals waits until the nodes are deleted, but not longer than bound. The end of ctx
// does not matter. Without this wait a caller could return, or queue again, while its former
// node is still ahead.
func AwaitRemovals(ctx context.Context, bound time.Duration, removals ...*zkclient.Removal) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	for _, removal := range removals {
		if removal == nil {
			continue
		}
		select {
		case <-removal.Done:
		case <-ctx.Done():
			return
		}
	}
}
