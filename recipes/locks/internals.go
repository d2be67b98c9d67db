package locks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/seam"
	"github.com/go-curator/curator/internal/zkconn"
)

// Kinds of locks; a lease re-enters only its own.
const mutexKind = "mutex"

// lockName is what Curator calls a mutex's nodes.
const lockName = "lock-"

// internals are what an acquisition needs to know of its lock.
type internals struct {
	client *framework.Client
	inside seam.Client
	path   string
	full   string // the server's
	kind   string
	cfg    config
}

func newInternals(client *framework.Client, path, kind string, cfg config) (*internals, error) {
	inside := seam.Of(client)
	full, err := inside.Path(path)
	if err == nil && path == "/" {
		err = fmt.Errorf("%w %q: a lock needs a path of its own", framework.ErrInvalidPath, path)
	}
	if err != nil {
		return nil, err
	}
	return &internals{client: client, inside: inside, path: path, full: full, kind: kind, cfg: cfg}, nil
}

// leaseKey is what a context carries a lease under: the lock's identity, whatever object
// it was made by.
type leaseKey struct {
	client     any
	full, kind string
}

func (in *internals) key() leaseKey { return leaseKey{in.inside.Identity(), in.full, in.kind} }

// carried returns the live lease of this lock that ctx carries, or nil.
func (in *internals) carried(ctx context.Context) *Lease {
	lease, _ := ctx.Value(in.key()).(*Lease)
	if lease.Err() != nil {
		return nil
	}
	return lease
}

// builder describes a contender's node.
func (in *internals) builder() framework.CreateBuilder {
	b := in.client.Create().CreatingParentContainersIfNeeded().WithProtection().WithMode(framework.EphemeralSequential)
	if in.cfg.nodeDataGiven {
		b = b.WithData(in.cfg.nodeData)
	}
	return b
}

// contenders returns the names of the lock's contenders, in the order of their creation.
// Other children are ignored, but those of another kind of lock are an error: the two
// would not exclude each other.
func contenders(names []string) ([]string, error) {
	queue := make([]string, 0, len(names))
	for _, name := range names {
		switch {
		case isContender(name):
			queue = append(queue, name)
		case strings.Contains(name, "__READ__"), strings.Contains(name, "__WRIT__"):
			return nil, fmt.Errorf("%w: a read-write lock (%s)", ErrKindMismatch, name)
		case name == "leases", name == "locks":
			return nil, fmt.Errorf("%w: a semaphore (%s)", ErrKindMismatch, name)
		}
	}
	slices.SortStableFunc(queue, func(a, b string) int { return strings.Compare(sequence(a), sequence(b)) })
	return queue, nil
}

// sequence returns what a contender is sorted by, as Java does: the text behind the last
// lock name, which is the number that the server gave it.
func sequence(name string) string {
	return name[strings.LastIndex(name, lockName)+len(lockName):]
}

// reserve is how many numbers before the last a lock stops to be used. A server repeats
// its last number, and knows none above: order, and with it exclusion, ends there.
const reserve = 1_000_000

// nearEnd tells whether a contender's number is so high, or has wrapped around.
func nearEnd(name string) bool {
	n, err := strconv.ParseInt(sequence(name), 10, 32)
	return err != nil || n < 0 || n > math.MaxInt32-reserve
}

// isContender tells whether name is that of a mutex's node, Java's, ours or the driver's.
func isContender(name string) bool {
	i := strings.LastIndex(name, lockName)
	if i < 0 {
		return false
	}
	digits := strings.TrimPrefix(name[i+len(lockName):], "-")
	return len(digits) == 10 && strings.Trim(digits, "0123456789") == ""
}

// list reads the queue on the session that owns node, which must be over or see it.
func (in *internals) list(ctx context.Context, session int64) (names []string, err error) {
	over := false
	err = in.inside.Run(ctx, "getChildren", in.path, func(ctx context.Context, conn *zkconn.Conn) error {
		var res jute.GetChildren2Response
		call := &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: in.full}, Res: &res}
		err := conn.Do(ctx, session, call)
		if session != 0 && errors.Is(err, framework.ErrSessionExpired) {
			over = true // a new session does not help this contender: no retry
			return nil
		}
		names = res.Children
		return errors.Join(err, call.Err)
	})
	if over || session != 0 && errors.Is(err, framework.ErrNoNode) {
		return nil, errStartOver
	}
	return names, err
}

func (in *internals) participants(ctx context.Context) ([]string, error) {
	names, err := in.list(ctx, 0)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	queue, err := contenders(names)
	for i, name := range queue {
		queue[i] = in.path + "/" + name
	}
	return queue, err
}

type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
