package locks

import (
	"context"
	"errors"
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
	name    string // the name of the node that it has written last; "" before
	version int32  // of the record then
}

// admit writes the record of a contender that is first. It writes nothing and returns what is left of the
// delay if holder was lost. Its errors are for Contender.Again.
func (r *delayRecord) admit(ctx context.Context, node *ephemeral.Node) (holder string, left time.Duration, err error) {
	path, own := r.dir+recordSuffix, lockqueue.Name(node.Path())
	var stat framework.Stat
	data, err := r.client.GetData().Undecompressed().StoringStatIn(&stat).ForPath(ctx, path)
	missing := errors.Is(err, framework.ErrNoNode)
	switch holder = string(data); {
	case err != nil && !missing:
		return "", 0, err
	case err == nil && holder == own: // an earlier try has written it
		r.wrote(node, stat.Version)
		return "", 0, nil
	case err == nil && holder != r.name: // an earlier node of the contender was never granted
		if left, err := r.left(ctx, node, holder); left > 0 || err != nil {
			return holder, left, err
		}
	}
	op := r.client.TransactionOp()
	write := op.SetData().Uncompressed().WithVersion(stat.Version).ForPath(path, []byte(own))
	version := stat.Version + 1
	if missing {
		write = op.Create().Uncompressed().WithData([]byte(own)).ForPath(path)
		version = 0
	}
	r.wrote(node, version)
	// Without the check it could replace the record of the present holder.
	exists := op.Check().ForPath(r.api.ClientPath(node.Path()))
	_, err = r.client.Transaction().ForOperations(ctx, exists, write)
	for _, other := range []error{framework.ErrNoNode, framework.ErrNodeExists, framework.ErrBadVersion} {
		if errors.Is(err, other) {
			return "", 0, lockqueue.ErrLookAgain
		}
	}
	if framework.MaybeApplied(err) {
		return "", 0, lockqueue.ErrLookAgain
	}
	return "", 0, err
}

// wrote notes that the record may have been written for the node. From then on it goes with the node, by
// its version, so that the record of another holder stays.
func (r *delayRecord) wrote(node *ephemeral.Node, version int32) {
	r.name, r.version = lockqueue.Name(node.Path()), version
	node.SetRecord(ephemeral.Release{HolderRecord: r.full + recordSuffix, RecordVersion: version})
}

// left returns what is left of the delay after the loss of a holder.
func (r *delayRecord) left(ctx context.Context, node *ephemeral.Node, holder string) (time.Duration, error) {
	names, err := lockqueue.List(ctx, r.api, r.dir, r.full, node.Session())
	switch {
	case errors.Is(err, lockqueue.ErrLeft):
		return 0, lockqueue.ErrLookAgain // the contender finds that out, too, and takes another place
	case err != nil:
		return 0, err
	case !slices.Contains(names, lockqueue.Name(node.Path())):
		return 0, lockqueue.ErrLookAgain // the record may be that of the present holder
	}
	return r.delay - time.Since(r.since(holder)), nil
}

// pause waits for d, or until the session is over or the client is closed. The queue is listed again in
// any case.
func (r *delayRecord) pause(ctx context.Context, session int64, d time.Duration) error {
	bound, cancel := context.WithCancel(ctx)
	defer cancel()
	forget := r.api.OnLoss("", func(loss zkclient.Loss) {
		if loss.Kind == zkclient.LossClosed || loss.Kind == zkclient.LossSession && loss.Session == session {
			cancel()
		}
	})
	defer forget()
	if conn, err := r.api.Conn(); err == nil {
		if _, alive := conn.Deadline(session); alive {
			_ = wait.For(bound, d)
		}
	}
	if ctx.Err() != nil {
		return zkclient.ContextError(ctx)
	}
	return lockqueue.ErrLookAgain
}
