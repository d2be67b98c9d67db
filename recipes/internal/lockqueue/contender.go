package lockqueue

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// Errors of [Contender.Next], in addition to those of the client and the context.
var (
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

// ErrLookAgain is for [Contender.Again]: the nodes are not to be held before another look at the
// queue.
var ErrLookAgain = errors.New("the queue is to be listed again")

// Spec describes a contender of a queue.
type Spec struct {
	Client *zkclient.Client
	Owned  ephemeral.Config // of its nodes, when they are first

	Dir     string            // the client's path of the queue
	FullDir string            // the server's
	Name    string            // the beginning of the node's name, behind the protection: layout.LockMark, for example
	Node    zkclient.NodeSpec // its path is Dir, a slash and Name
	Rules   Rules
	Nodes   int           // how many nodes are made together; 0 means one
	Plain   bool          // send request by request, as Java does
	Stays   bool          // the nodes are kept until Leave, whether they are held or not
	CleanUp time.Duration // bounds the wait for the deletion of nodes that are given up

	InPlaceOf *ephemeral.Node // take the number of this node; nil for a new number
	Guard     *ephemeral.Node // without this node the wait is useless; nil for none
}

// Step is how far a contender has come in the queue.
type Step struct {
	// First has the contender's nodes if the queue lets them in. It is nil if others are ahead.
	First []*ephemeral.Node
	// Holder is the name of the first node in the queue that is not the contender's own, "" if there is none.
	Holder string
	// Behind has the server's paths of the nodes of which one must be deleted first. There are none
	// if any change of the children may let the contender in.
	Behind []string
	// Ahead is how many nodes of others were ahead in the last list of the queue. It is 0 with First.
	Ahead int
	// Of is how many nodes were in that list, with First without those that were ahead. It is 0 if the order says
	// nothing: then Ahead counts all nodes of others.
	Of int
}

// phase is the state of a Contender. See the package documentation.
type phase int8

const (
	create phase = iota
	look
	arm
	wait
	first
	restart
	held
)

// Contender is one acquisition in a queue. One goroutine uses it, except for Wake.
//
//	c := lockqueue.New(spec)
//	defer c.End(ctx)
//	for {
//		step, err := c.Next(ctx)
//		switch {
//		case err != nil:
//			return err
//		case step.First == nil:
//			continue // or return: others are ahead
//		}
//		if err = step.First[0].Hold(holder); err == nil {
//			c.Held()
//			return nil
//		}
//		if err = c.Again(ctx, err); err != nil {
//			return err
//		}
//	}
type Contender struct {
	spec  *Spec
	state phase
	place place
	ahead ahead

	watches *watchset.Set // of the wait
	recheck recheck
	changed atomic.Bool // see Wake

	inUse    *zkconn.Conn // from the first Next until End
	leaving  []leaving    // deletes whose outcome may not be known, with Spec.Stays
	reported bool         // telemetry knows the place in the queue
	listed   int32        // how many nodes were in the last list of the queue
}

// place is a contender's place in the queue.
type place struct {
	nodes   []zkclient.Created // the last one is the one that waits
	owned   []*ephemeral.Node  // the same nodes, once they were first
	names   []string           // the children as they were listed last; nil if they must be listed
	waited  bool               // watches were set
	ownRead ephemeral.Content  // the own node as it was read
}

// ahead is what a contender waits for.
type ahead struct {
	holder    string   // see Step
	nodes     []string // paths of nodes of which one must go
	all       bool     // nodes has all that are ahead
	isNext    bool     // the end of the one node of nodes is a grant: see wait.go
	children  bool     // any change of the children is waited for, not nodes
	count     int32    // of the nodes of others that are ahead
	decidedOn []string // the children, sorted, with children
}

// last returns the node that waits.
func (c *Contender) last() zkclient.Created { return c.place.nodes[len(c.place.nodes)-1] }

// recheck is a read of the nodes that were not read when their watches were set.
type recheck struct {
	unread bool        // the watches were set without reading the nodes
	timer  *time.Timer // while the contender waits
	due    atomic.Bool
}

// Tags of watches: why a node is watched.
const (
	ownNode   int8 = iota // the contender's
	marker                // of the node right ahead: see wait.go
	nodeAhead             // one of these must go
	children              // of the queue
	guardNode             // Spec.Guard
)

// New returns a contender without nodes. It keeps spec.
func New(spec *Spec) *Contender {
	spec.Nodes = max(spec.Nodes, 1)
	return &Contender{spec: spec, watches: watchset.New()}
}
