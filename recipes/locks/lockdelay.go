package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// The lock delay needs a record of the holder that outlives the holder's session: a persistent
// node beside the lock's path. Its data is the name of the holder's node. A release deletes the
// record in the transaction that deletes the holder's node. So a contender that is first, and
// finds a record with the name of another node, knows that a holder was lost.

// WithLockDelay keeps the mutex from others for d after its holder was lost: by the end of its
// session, by Close, by the deletion of its node, or because its lease had ended before it was
// released. It is for resources that check no token: requests that the lost holder has sent can
// arrive during d. A request that takes longer still arrives after the next grant.
//
// All users of the mutex must set the option. The delay starts when this object first sees that
// the holder was lost. Acquire waits for it, as long as its context and WithMaxWait allow;
// TryAcquire returns ErrNotAcquired until d has passed. The option costs a read and a write for
// every Acquire, and the persistent node path+".holder". With WithLocalHandover the constructor
// returns framework.ErrInvalidOption.
//
// Chubby and Consul have a lock delay, too; Java Curator does not.
func WithLockDelay(d time.Duration) MutexOption {
	return durationOption("WithLockDelay", d, func(c *config) { c.lockDelay = d })
}

// checkDelay refuses WithLocalHandover beside the lock delay, because a node that is handed over
// would have one record for several holders.
func (c *config) checkDelay() error {
	if c.lockDelay > 0 && c.handover > 0 {
		return fmt.Errorf("%w: WithLockDelay and WithLocalHandover cannot be combined", framework.ErrInvalidOption)
	}
	return nil
}

const recordSuffix = ".holder"

// lockDelay keeps a mutex from others for a while after its holder was lost.
type lockDelay struct {
	client    *framework.Client
	api       *zkclient.Client
	dir, full string // the lock's path, the client's and the server's
	delay     time.Duration

	mu     sync.Mutex
	holder string // the name in the record that was seen last
	seen   time.Time
}

// since returns when the record with the name of the holder was seen first.
func (d *lockDelay) since(holder string) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holder != holder {
		d.holder, d.seen = holder, time.Now()
	}
	return d.seen
}

// delayRecord is the record that one acquisition writes.
type delayRecord struct {
	*lockDelay
	try     bool
	busy    func(holder string) // called when the delay has not passed since that node was lost
	name    string              // the name of the node that it has written last; "" before
	version int32               // of the record then
}

// admit writes the record of a contender that is first. During the delay it waits instead. again
// reports that the queue must be listed again.
func (r *delayRecord) admit(ctx context.Context, node zkclient.Created) (again bool, err error) {
	path, own := r.dir+recordSuffix, lockqueue.Name(node.Path)
	var stat framework.Stat
	holder, err := r.client.GetData().Undecompressed().StoringStatIn(&stat).ForPath(ctx, path)
	missing := errors.Is(err, framework.ErrNoNode)
	switch {
	case err != nil && !missing:
		return false, err
	case err == nil && string(holder) == own: // an earlier try has written it
		r.name, r.version = own, stat.Version
		return false, nil
	case err == nil && string(holder) != r.name: // an earlier node of the contender was never granted
		if over, err := r.waitOut(ctx, node, string(holder)); !over {
			return err == nil, err
		}
	}
	op := r.client.TransactionOp()
	write := op.SetData().Uncompressed().WithVersion(stat.Version).ForPath(path, []byte(own))
	r.name, r.version = own, stat.Version+1
	if missing {
		write = op.Create().Uncompressed().WithData([]byte(own)).ForPath(path)
		r.version = 0
	}
	// Without the check it could replace the record of the present holder.
	exists := op.Check().ForPath(r.api.ClientPath(node.Path))
	_, err = r.client.Transaction().ForOperations(ctx, exists, write)
	for _, other := range []error{framework.ErrNoNode, framework.ErrNodeExists, framework.ErrBadVersion} {
		again = again || errors.Is(err, other)
	}
	if again || framework.MaybeApplied(err) {
		return true, nil
	}
	return false, err
}

// release returns what goes with the delete of a node: the record, if it was written for that
// node. It is deleted by its version, so that the record of another holder stays.
func (r *delayRecord) release(node string) ephemeral.Release {
	if r.name != lockqueue.Name(node) {
		return ephemeral.Release{}
	}
	return ephemeral.Release{HolderRecord: r.full + recordSuffix, RecordVersion: r.version}
}

// waitOut reports whether the delay after the loss of a holder is over. If it is not, and err is
// nil, waitOut has waited, and the queue is to be listed again.
func (r *delayRecord) waitOut(ctx context.Context, node zkclient.Created, holder string) (over bool, err error) {
	names, err := lockqueue.List(ctx, r.api, r.dir, r.full, node.Session)
	switch {
	case errors.Is(err, lockqueue.ErrLeft):
		return false, nil // the contender finds that out, too, and takes another place
	case err != nil, !slices.Contains(names, lockqueue.Name(node.Path)):
		return false, err // the record may be that of the present holder
	}
	left := r.delay - time.Since(r.since(holder))
	if left <= 0 {
		return true, nil
	}
	r.busy(holder)
	if r.try {
		return false, ErrNotAcquired
	}
	r.pause(ctx, node.Session, left)
	if ctx.Err() != nil {
		return false, zkclient.ContextError(ctx)
	}
	return false, nil
}

// pause waits for d, or until the session is over or the client is closed.
func (r *delayRecord) pause(ctx context.Context, session int64, d time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	forget := r.api.OnLoss("", func(loss zkclient.Loss) {
		if loss.Kind == zkclient.LossClosed || loss.Kind == zkclient.LossSession && loss.Session == session {
			cancel()
		}
	})
	defer forget()
	conn, err := r.api.Conn()
	if err != nil {
		return
	}
	if _, alive := conn.Deadline(session); alive {
		_ = wait.For(ctx, d) // the queue is listed again in any case
	}
}
