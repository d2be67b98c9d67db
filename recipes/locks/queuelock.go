package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// queueLock is a queue of nodes below a path. Every lock of this package is made of one or more.
type queueLock struct {
	rules
	client *framework.Client
	api    *zkclient.Client
	path   string // as the client names it
	full   string // as the server names it
	cfg    config
	spans  telemetry.Lock

	nodeClient ephemeral.Client // the client as the lock's nodes see it; tests put something between

	// The other side of a read-write lock. reenter looks for its leases in the context before
	// the queue is joined, because behind its own lease a caller would wait for ever.
	readers, writers *queueLock

	delay *lockDelay // with WithLockDelay; else nil
}

func newQueueLock(client *framework.Client, path string, cfg config, r rules) (*queueLock, error) {
	api := zkclient.Of(client)
	full, err := api.ServerPath(path)
	if err == nil && path == "/" {
		err = fmt.Errorf("%w %q: a lock needs a path of its own", framework.ErrInvalidPath, path)
	}
	if err != nil {
		return nil, err
	}
	if err := cfg.checkDelay(); err != nil {
		return nil, err
	}
	if cfg.plain {
		r.marksRelease, r.marks, r.next, cfg.handover = false, nil, nil, 0
	}
	l := &queueLock{
		rules: r, client: client, api: api, nodeClient: api, path: path, full: full, cfg: cfg,
		spans: api.Telemetry().Lock(cmp.Or(telemetryKinds[r.kind], r.kind), cfg.name, path),
	}
	if cfg.lockDelay > 0 {
		l.delay = &lockDelay{client: client, api: api, dir: path, full: full, delay: cfg.lockDelay}
	}
	return l, nil
}

func (l *queueLock) key() identity { return identity{l.api.Identity(), l.full, l.kind} }

// nodeBuilder describes a contender's node. Its data names the contender.
func (l *queueLock) nodeBuilder(span *telemetry.Acquisition) framework.CreateBuilder {
	b := l.client.Create().CreatingParentContainersIfNeeded().WithProtection().WithMode(framework.EphemeralSequential)
	if l.cfg.nodeDataGiven {
		b = b.WithData(l.cfg.nodeData)
	} else if data, ok := l.api.Telemetry().NodeData(span); ok && !l.cfg.plainData {
		b = b.WithData(data)
	}
	return l.driver.CreatesTheLock(b.Uncompressed()) // Java reads the data, and so does Inspect
}

// participants lists the nodes of the holders and the waiters, in order.
func (l *queueLock) participants(ctx context.Context) ([]string, error) {
	if l == nil {
		return nil, errNilArgument
	}
	names, err := lockqueue.List(ctx, l.api, l.path, l.full, 0)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	if err == nil {
		err = l.Check(names)
	}
	if err != nil {
		return nil, err
	}
	queue := layout.Sort(names, l.Order)
	for i, name := range queue {
		queue[i] = l.path + "/" + name
	}
	return queue, nil
}

// logUnwatched logs that the server refuses the watch on a holder's node. Nobody will notice
// when the node is deleted.
func (l *queueLock) logUnwatched(err error) {
	l.api.Log(func() {
		l.client.Logger().Warn("lock's node cannot be watched: if somebody deletes it, or asks for the lock, the holder does not learn of it",
			"path", l.path, "error", err)
	})
}

// observed is how a nil lock, which is not traced, and any other is traced.
func (l *queueLock) observed() (*telemetry.Telemetry, telemetry.Lock) {
	if l == nil {
		return nil, telemetry.Lock{}
	}
	return l.api.Telemetry(), l.spans
}

type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// config is what the options of a lock say.
type config struct {
	maxWait        time.Duration
	releaseTimeout time.Duration
	nodeData       []byte
	nodeDataGiven  bool
	plainData      bool // the node's data is that of Java's locks
	name           string
	driver         LockInternalsDriver
	maxHold        time.Duration
	plain          bool
	handover       int
	lockDelay      time.Duration
	revocable      bool
	onRevoke       func(ctx context.Context, lease *Lease) // nil ends the lease
	onQueued       func(place, of int)                     // nil for none
}

// checkDelay refuses WithLocalHandover beside the lock delay, because a node that is handed over
// would have one record for several holders.
func (c *config) checkDelay() error {
	if c.lockDelay > 0 && c.handover > 0 {
		return fmt.Errorf("%w: WithLockDelay and WithLocalHandover cannot be combined", framework.ErrInvalidOption)
	}
	return nil
}
