package nodes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// removal is the deletion of a node that is not kept any more. It goes on in the background, and
// has what it needs for itself.
type removal struct {
	conn     *zkconn.Conn
	full     string
	sessions *sessions
	known    sighting // the node as it was seen last
	sure     bool     // the node is still as known: it is watched, and may be read, or no event would come
	doubt    bool     // a create may have been applied since
	tries    int

	cancel context.CancelFunc
	done   chan struct{}
	err    error // after done
}

// remove deletes the node in the background, and waits for that until ctx ends. It returns nil in place of the
// removal if there is nothing to be done, or nothing can be.
func (n *node) remove(ctx context.Context) (*removal, error) {
	if n.timed() || n.full == "" || !n.doubt && (!n.known.there || n.sessions.foreign(n.known)) {
		return nil, nil
	}
	conn, err := n.api.Conn()
	if err != nil {
		return nil, n.whenClosed(ctx, err)
	}
	r := &removal{conn: conn, full: n.full, sessions: n.sessions, known: n.known, doubt: n.doubt, done: make(chan struct{})}
	r.sure = n.known.readable && !n.doubt && n.mail.watched() && n.known.session == n.client.SessionID()
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.cancel = cancel
	tel := n.api.Telemetry()
	if !n.api.Go(func(client context.Context) {
		stop := context.AfterFunc(client, cancel)
		defer stop()
		r.run(life, tel)
	}) {
		cancel()
		return nil, n.whenClosed(ctx, framework.ErrClosed)
	}
	return r, n.awaitRemoval(ctx, r)
}

// awaitRemoval waits for a removal until ctx ends.
func (n *node) awaitRemoval(ctx context.Context, r *removal) error {
	select {
	case <-r.done:
		if errors.Is(r.err, framework.ErrClosed) {
			return n.whenClosed(ctx, r.err)
		}
		return r.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrDeletePending, zkclient.ContextError(ctx))
	}
}

// whenClosed returns what the end of the client means for the node.
func (n *node) whenClosed(ctx context.Context, err error) error {
	if !n.ephemeral() {
		return fmt.Errorf("the node stays: %w", err)
	}
	sessions := []int64{n.known.owner}
	if n.doubt { // the node may be that of any create
		sessions = n.sessions.all()
	}
	for _, session := range sessions {
		if session != 0 && n.api.SessionEnd(ctx, session) == zkconn.SessionMayLive {
			return fmt.Errorf("the node stays until its session has timed out: %w", err)
		}
	}
	return nil // the node has gone with its session
}

// stop ends a removal: the node is wanted again.
func (r *removal) stop() {
	r.cancel()
	<-r.done
}

// run deletes the node until the outcome is known, or the client ends.
func (r *removal) run(ctx context.Context, tel *telemetry.Telemetry) {
	defer close(r.done)
	defer r.cancel()
	ctx, traced := tel.Operation(ctx, r.conn, telemetry.Op{Name: "delete", Path: r.full, Full: true, Missing: true, Background: true})
	defer func() { traced.End(r.tries, r.err) }()
	r.err = zkclient.RetryForever(ctx, r.conn, wait.Pace{First: firstRetryPause, Most: time.Second}, framework.Retryable, r.try)
	if ctx.Err() != nil && errors.Is(r.err, ctx.Err()) { // what the server has answered stays
		r.err = framework.ErrClosed
	}
}

// try deletes the node, as often as that has an answer after which another request is of use.
func (r *removal) try(ctx context.Context) error {
	for {
		r.tries++
		over, err := r.delete(ctx)
		if err != nil {
			r.sure = false // another keeper may have made the node meanwhile
		}
		if over || err != nil {
			return err
		}
	}
}

// delete looks at the node, unless it is known, and deletes it if it is ours. over says that nothing
// is left to be done.
func (r *removal) delete(ctx context.Context) (over bool, err error) {
	if !r.sure {
		seen, err := r.look(ctx)
		if err != nil || !r.deletes(seen) {
			return err == nil, err
		}
		r.known = seen
	}
	session := int64(0)
	if r.sure || r.known.unknown { // in another session the node may be that of another keeper
		session = r.known.session
	}
	call := zkconn.Delete(r.full, r.known.version)
	err = r.conn.Do(ctx, session, call)
	if session != 0 && errors.Is(err, framework.ErrSessionExpired) {
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
	read := zkconn.Exists(r.full, nil)
	if err := r.conn.DoAtQuorum(ctx, read); err != nil {
		return sighting{}, err
	}
	switch {
	case errors.Is(read.Err, framework.ErrNoNode):
		return sighting{}, nil
	case errors.Is(read.Err, framework.ErrNoAuth):
		return r.hidden(ctx, read.Err)
	case read.Err != nil:
		return sighting{}, read.Err
	}
	return newSighting(read, false), nil
}

// hidden returns what is known of a node that is there, and whose Stat newer servers do not show to this client. It
// returns refusal if the node is no ephemeral node of the client's session: then somebody else may have deleted the kept
// node and created this one, and nothing tells. The version would not: both may never have been set.
func (r *removal) hidden(ctx context.Context, refusal error) (sighting, error) {
	session, err := listed(ctx, r.conn, r.full)
	if err == nil && session == 0 {
		err = refusal
	}
	return sighting{there: true, unknown: true, version: zkclient.AnyVersion, owner: session, session: session}, err
}

// deletes reports whether the node is to be deleted: if it is the one that was kept, or one that a
// create of ours may have made whose answer was lost (K6).
func (r *removal) deletes(seen sighting) bool {
	switch {
	case !seen.there || r.sessions.foreign(seen):
		return false
	case seen.unknown || r.known.unknown: // it is known by its session alone
		if seen.owner != 0 && seen.owner == r.known.owner {
			return true
		}
	case r.known.there && seen.czxid == r.known.czxid:
		return true
	}
	return r.doubt && (seen.owner != 0 || seen.version == 0)
}
