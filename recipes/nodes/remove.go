package nodes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// removal is the deletion of a node that is not kept any more. It goes on in the background, and
// has what it needs for itself.
type removal struct {
	conn     *zkconn.Conn
	full     string
	sessions *sessions
	known    sighting // the node as it was seen last
	sure     bool     // the node is still as known: it is watched
	doubt    bool     // a create may have been applied since

	cancel context.CancelFunc
	done   chan struct{}
	err    error // after done
}

// remove deletes the node in the background, and waits for that until ctx ends.
func (k *keeper) remove(ctx context.Context) error {
	if k.ttl > 0 || k.full == "" || !k.doubt && (!k.known.there || k.sessions.foreign(k.known)) {
		return nil
	}
	conn, err := k.api.Conn()
	if err != nil {
		return k.whenClosed(ctx, err)
	}
	r := &removal{conn: conn, full: k.full, sessions: k.sessions, known: k.known, doubt: k.doubt, done: make(chan struct{})}
	r.sure = k.known.there && !k.doubt && k.mail.watched() && k.known.session == k.client.SessionID()
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.cancel = cancel
	tel := k.api.Telemetry()
	if !k.api.Go(func(client context.Context) {
		stop := context.AfterFunc(client, cancel)
		defer stop()
		r.run(life, tel)
	}) {
		cancel()
		return k.whenClosed(ctx, framework.ErrClosed)
	}
	k.removal = r
	return k.awaitRemoval(ctx)
}

// awaitRemoval waits for the removal until ctx ends.
func (k *keeper) awaitRemoval(ctx context.Context) error {
	select {
	case <-k.removal.done:
		if errors.Is(k.removal.err, framework.ErrClosed) {
			return k.whenClosed(ctx, k.removal.err)
		}
		return k.removal.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrDeletePending, zkclient.ContextError(ctx))
	}
}

// stopRemoval ends the removal that a failed begin has left: the node is wanted again.
func (k *keeper) stopRemoval() {
	if k.removal != nil {
		k.removal.cancel()
		<-k.removal.done
		k.removal = nil
	}
}

// whenClosed returns what the end of the client means for the node.
func (k *keeper) whenClosed(ctx context.Context, err error) error {
	if !k.ephemeral() {
		return fmt.Errorf("the node stays: %w", err)
	}
	sessions := []int64{k.known.owner}
	if k.doubt { // the node may be that of any create
		sessions = k.sessions.all()
	}
	for _, session := range sessions {
		if session != 0 && k.api.SessionEnd(ctx, session) == zkconn.SessionMayLive {
			return fmt.Errorf("the node stays until its session has timed out: %w", err)
		}
	}
	return nil // the node has gone with its session
}

// run deletes the node until the outcome is known, or the client ends.
func (r *removal) run(ctx context.Context, tel *telemetry.Telemetry) {
	defer close(r.done)
	defer r.cancel()
	ctx, traced := tel.Operation(ctx, r.conn, telemetry.Op{Name: "delete", Path: r.full, Full: true, Missing: true, Background: true})
	tries := 0
	defer func() { traced.End(tries, r.err) }()
	pauses := wait.Pace{First: firstRetryPause, Most: time.Second}
	for {
		tries++
		over, err := r.try(ctx)
		if err != nil && ctx.Err() != nil {
			err = framework.ErrClosed
		}
		if over || err != nil && !framework.Retryable(err) {
			r.err = err
			return
		}
		if err != nil {
			r.sure = false // another keeper may have made the node meanwhile
			if err = wait.For(ctx, pauses.Next()); err == nil {
				err = r.conn.Ready(ctx)
			}
			if err != nil {
				r.err = framework.ErrClosed
				return
			}
		}
	}
}

// try looks at the node, unless it is known, and deletes it if it is ours. over says that nothing
// is left to be done.
func (r *removal) try(ctx context.Context) (over bool, err error) {
	if !r.sure {
		seen, err := r.look(ctx)
		if err != nil || !r.deletes(seen) {
			return err == nil, err
		}
		r.known = seen
	}
	session := int64(0)
	if r.sure { // in another session the node may be that of another keeper
		session = r.known.session
	}
	call := &zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: r.full, Version: r.known.version}}
	err = r.conn.Do(ctx, session, call)
	if r.sure && errors.Is(err, framework.ErrSessionExpired) {
		r.sure = false
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch {
	case call.Err == nil, errors.Is(call.Err, framework.ErrNoNode):
		return true, nil
	case errors.Is(call.Err, framework.ErrBadVersion):
		r.sure = false
		return false, nil
	}
	return false, call.Err
}

// look reads the node as it is now, behind all that was sent before. A server without a quorum is not
// asked: what it shows may be older.
func (r *removal) look(ctx context.Context) (sighting, error) {
	read := watchset.ReadCall(watchset.Want{Path: r.full, Kind: watchset.Exists}, nil)
	if err := r.conn.DoAtQuorum(ctx, read); err != nil {
		return sighting{}, err
	}
	if errors.Is(read.Err, framework.ErrNoNode) {
		return sighting{}, nil
	}
	return newSighting(read), read.Err
}

// deletes reports whether the node is to be deleted: if it is the one that was kept, or one that a
// create of ours may have made whose answer was lost (K6).
func (r *removal) deletes(seen sighting) bool {
	switch {
	case !seen.there || r.sessions.foreign(seen):
		return false
	case r.known.there && seen.czxid == r.known.czxid:
		return true
	}
	return r.doubt && (seen.owner != 0 || seen.version == 0)
}
