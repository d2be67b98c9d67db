package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
)

// Kinds of locks; a lease re-enters only its own.
const (
	mutexKind     = "mutex"
	semaphoreKind = "semaphore"
	// semaphoreV2Kind is a semaphore in Java's layout.
	semaphoreV2Kind = "semaphore-v2"
	readKind        = "read"
	writeKind       = "write"

	readWriteKind = "read-write" // of both, as far as children go
)

// What Curator calls the nodes of a mutex, and of readers and writers.
const (
	lockName  = "lock-"
	leaseName = "lease-" // of a semaphore in Java's layout
	readName  = "__READ__"
	writeName = "__WRIT__"
)

// internals are what an acquisition needs to know of its lock.
type internals struct {
	client *framework.Client
	inside recipeapi.Client
	path   string
	full   string // the server's
	cfg    config
	seen   telemetry.Lock
	rules

	// The other side of a read-write lock. Which of its leases a context carries is looked
	// at right before the queue is joined: behind a lease of its own it would wait for ever.
	readers, writers *internals

	semaphore *leased // in Java's layout, that this is a part of; nil without one

	absence absence // with WithLockDelay
}

// rules are what differs between kinds of locks.
type rules struct {
	kind      string
	lockName  string
	driver    LockInternalsDriver
	maxLeases int
	children  string // the kind, as kindOf has it, beside whose children no others may be; "" for any
	baton     batonRules
	shared    bool // nested leases do not exclude each other
	flat      bool // leases do not nest
}

func newInternals(client *framework.Client, path string, cfg config, r rules) (*internals, error) {
	inside := recipeapi.Of(client)
	full, err := inside.ServerPath(path)
	if err == nil && path == "/" {
		err = fmt.Errorf("%w %q: a lock needs a path of its own", framework.ErrInvalidPath, path)
	}
	if err != nil {
		return nil, err
	}
	if cfg.plain {
		r.baton, cfg.handover = batonRules{}, 0
	}
	seen := inside.Telemetry().Lock(kinds[r.kind], cfg.name, path)
	return &internals{client: client, inside: inside, path: path, full: full, cfg: cfg, rules: r, seen: seen}, nil
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

// ownedBy tells whether ctx carries a live lease of this lock.
func (in *internals) ownedBy(ctx context.Context) bool {
	return in != nil && ctx != nil && in.carried(ctx) != nil
}

// builder describes a contender's node, which says whose it is.
func (in *internals) builder(span *telemetry.Acquisition) framework.CreateBuilder {
	b := in.client.Create().CreatingParentContainersIfNeeded().WithProtection().WithMode(framework.EphemeralSequential)
	if in.cfg.nodeDataGiven {
		b = b.WithData(in.cfg.nodeData)
	} else if data, ok := in.inside.Telemetry().NodeData(span); ok && !in.cfg.plainData {
		b = b.WithData(data)
	}
	return in.driver.CreatesTheLock(b.Uncompressed()) // Java reads it, and so does who looks into the lock
}

// contenders returns the names of the lock's contenders, in the order of their creation.
// Other children are ignored, but those of another kind of lock are an error: the two
// would not exclude each other.
func (in *internals) contenders(names []string) ([]string, error) {
	type contender struct{ name, order string }
	all := make([]contender, 0, len(names))
	for _, name := range names {
		if err := in.refuse(name); err != nil {
			return nil, err
		}
		if order := in.driver.FixForSorting(name, in.lockName); order != "" {
			all = append(all, contender{name, order})
		}
	}
	slices.SortFunc(all, func(a, b contender) int { // servers list in no order, so names decide last
		return cmp.Or(strings.Compare(a.order, b.order), strings.Compare(a.name, b.name))
	})
	queue := make([]string, len(all))
	for i, c := range all {
		queue[i] = c.name
	}
	return queue, nil
}

// kindOf returns the kind of lock that a child of a lock's path is of, "" if it is of none. A
// mutex and an InterProcessSemaphore have the same children.
func kindOf(name string) string {
	switch {
	case isReader(name), isWriter(name):
		return readWriteKind
	case name == "leases", name == "locks":
		return semaphoreV2Kind
	case StandardLockInternalsDriver{}.FixForSorting(name, lockName) != "":
		return mutexKind
	}
	return ""
}

// refuse returns an error if a child is that of a kind of lock that does not exclude this one.
func (r rules) refuse(name string) error {
	if r.children == "" {
		return nil
	}
	switch kind := kindOf(name); kind {
	case "", r.children:
		return nil
	case mutexKind:
		return fmt.Errorf("%w: mutex or semaphore (%s)", ErrKindMismatch, name)
	default:
		return fmt.Errorf("%w: %s (%s)", ErrKindMismatch, kind, name)
	}
}

// reserve is how many numbers before the last a lock stops to be used. A server repeats
// its last number, and knows none above: order, and with it exclusion, ends there.
const reserve = 1_000_000

// nearEnd tells whether the number that a server gave to a node is so high, or has wrapped
// around.
func nearEnd(name string) bool {
	n, err := strconv.ParseInt(name[max(0, len(name)-10):], 10, 32)
	return err != nil || n < 0 || n > math.MaxInt32-reserve
}

// list reads the queue on the session that owns node, which must be over or see it.
func (in *internals) list(ctx context.Context, session int64) (names []string, err error) {
	over := false
	err = in.inside.Retry(ctx, "getChildren", in.path, func(ctx context.Context, conn *zkconn.Conn) error {
		var res jute.GetChildren2Response
		call := listCall(in.full, &res)
		err := conn.Do(ctx, session, call)
		if session != 0 && errors.Is(err, framework.ErrSessionExpired) {
			over = true // a new session does not help this contender: no retry
			return nil
		}
		if err != nil {
			return err
		}
		names = res.Children
		return call.Err
	})
	if over || session != 0 && errors.Is(err, framework.ErrNoNode) {
		return nil, errStartOver
	}
	return names, err
}

// listCall returns the read of a node's children.
func listCall(path string, res *jute.GetChildren2Response) *zkconn.Call {
	return &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: path}, Res: res}
}

func (in *internals) participants(ctx context.Context) ([]string, error) {
	names, err := in.list(ctx, 0)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	queue, err := in.contenders(names)
	for i, name := range queue {
		queue[i] = in.path + "/" + name
	}
	return queue, err
}

type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
