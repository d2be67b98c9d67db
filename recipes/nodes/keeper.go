package nodes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// keeper keeps one node. One goroutine begins, works or ends: package lifecycle lets no two of them run at
// once.
type keeper struct {
	node
	pace
	there   chan struct{} // closed when a Start in the background has succeeded; nil without
	touchAt time.Time     // when the child is to be set next; zero for never
	failing bool          // it was logged that the node cannot be kept
	removal *removal      // that a failed begin, or the end, has left; nil for none
}

func newKeeper(client *framework.Client, path string, mode framework.CreateMode, ttl time.Duration, data []byte, cfg config) (*keeper, error) {
	k := &keeper{pace: newPace(cfg.takeover)}
	k.mail = newMailbox(data)
	k.sessions = sessionsOf(zkclient.Of(client))
	k.created.Limit(listen.MaxStates, listen.Newest)
	if cfg.background {
		k.there = make(chan struct{})
	}
	return k, k.init(client, path, mode, ttl, cfg)
}

// begin makes the node. When it fails, what it may have made is removed.
func (k *keeper) begin(ctx context.Context) (err error) {
	if k.background {
		return k.beginAgain(ctx)
	}
	if k.removal != nil && !k.sequential() { // else the next node gets another number, and the removal goes on
		k.removal.stop()
	}
	k.removal = nil
	k.mail.begin()
	k.starting = true
	begun := false
	defer func() { // also when a retry policy of the user panics
		k.starting = false
		if begun {
			return
		}
		cleanUp, cancel := lifecycle.CleanUp(ctx)
		defer cancel()
		asking, stop := lifecycle.Reachable(cleanUp, k.api)
		defer stop()
		err = errors.Join(err, k.abandon(asking, errors.Is(context.Cause(ctx), framework.ErrClosed)))
	}()
	err = k.first(ctx)
	begun = err == nil
	return err
}

// beginAgain is one try of a Start in the background. What it may have made stays, for the next try
// or for Close.
func (k *keeper) beginAgain(ctx context.Context) error {
	k.starting = true
	err := k.first(ctx)
	switch {
	case err == nil:
		k.starting = false
		close(k.there)
	case errors.Is(err, framework.ErrClosed):
		k.mail.end(framework.ErrClosed)
	case ctx.Err() == nil && !framework.Retryable(err):
		k.answerWrites(err)
	}
	return err
}

// first makes the node for the first time.
func (k *keeper) first(ctx context.Context) error {
	if _, err := k.api.Conn(); err != nil {
		return err
	}
	at := create
	if k.sequential() {
		if k.full == "" { // else an earlier try has created it
			if err := k.createSequential(ctx); err != nil {
				return err
			}
		}
		at = look
	} else if err := k.setPath(k.spec.Path); err != nil {
		return err
	}
	pace := retryPace()
	err := k.settle(ctx, at, true)
	for errors.Is(err, errUnsettled) { // the retry policy says how long there may be no connection
		if err = wait.For(ctx, pace.Next()); err == nil {
			err = k.settle(ctx, at, true)
		}
	}
	switch {
	case err != nil || !k.timed():
		return err
	case k.times > 0: // the child was created with the node
		k.touched()
		return nil
	}
	return k.touchChild(ctx)
}

// createSequential creates the node, whose name only the answer tells.
func (k *keeper) createSequential(ctx context.Context) error {
	want := k.mail.want()
	k.tried = want
	spec := k.spec
	spec.Data, spec.Protection = want.data, k.protected
	made, _, err := k.api.Create(ctx, spec, false)
	if err != nil {
		return err
	}
	if err := k.setPath(k.api.ClientPath(made.Path)); err != nil {
		return err
	}
	stat := &made.Stat
	k.sessions.add(stat.EphemeralOwner)
	k.known = sighting{there: true, czxid: stat.Czxid, mzxid: stat.Mzxid, owner: stat.EphemeralOwner, session: stat.EphemeralOwner}
	k.written, k.writtenAs = stat.Mzxid, want.version
	k.noteCreated(ctx)
	return nil
}

// abandon removes what a failed begin may have made. A persistent node without a number stays,
// unless the keeper is closed: it may have been there before, and the next Start adopts it.
func (k *keeper) abandon(ctx context.Context, closed bool) (err error) {
	if closed || k.ephemeral() || k.sequential() {
		k.removal, err = k.remove(ctx)
	}
	k.unwatch()
	var ended error
	if closed {
		ended = framework.ErrClosed
	}
	k.mail.stop(ended)
	k.path.Store(nil)
	k.full, k.touchAt = "", time.Time{}
	k.forget()
	return err
}

// work keeps the node until ctx ends or the client does.
func (k *keeper) work(ctx context.Context) {
	defer k.mail.end(framework.ErrClosed)
	todo := rest
	for {
		next, over := k.await(ctx, todo)
		if over {
			return
		}
		todo = next
		err := k.do(ctx, todo)
		switch {
		case err == nil:
			k.recovered()
			todo = rest
		case ctx.Err() != nil, errors.Is(err, framework.ErrClosed):
			return
		default:
			if todo, err = k.failed(ctx, todo, err); err != nil {
				return
			}
		}
	}
}

// await waits until there is something to do, and returns it. todo is what is left from before.
func (k *keeper) await(ctx context.Context, todo task) (next task, over bool) {
	for {
		told, over := k.mail.take()
		if over || ctx.Err() != nil {
			return rest, true
		}
		if told == recreate { // K5
			k.afterDeletion()
		}
		if isDue(k.lookAt) {
			told = max(told, recheck)
		}
		todo = max(todo, told)
		if k.pause == 0 && (todo != rest || k.mail.unwritten() || isDue(k.touchAt)) {
			return todo, false
		}
		due := k.touchAt
		if due.IsZero() || !k.lookAt.IsZero() && k.lookAt.Before(due) {
			due = k.lookAt
		}
		k.sleep(ctx, k.mail.wake, due)
	}
}

// isDue reports whether a time has come; the zero one never does.
func isDue(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

// do does one task, and what else is due.
func (k *keeper) do(ctx context.Context, todo task) error {
	end, err := k.takeTurn(ctx, todo)
	if err != nil {
		return err
	}
	defer end()
	switch {
	case todo == recreate, todo == newSession && k.ephemeral():
		err = k.settle(ctx, create, true)
	case k.mail.unwritten():
		err = k.settle(ctx, set, true)
	case todo == recheck, todo == newSession:
		err = k.settle(ctx, look, true)
	case todo == reread:
		err = k.settle(ctx, look, false)
	}
	if err == nil && isDue(k.touchAt) {
		err = k.touchAgain(ctx)
	}
	return err
}

// takeTurn waits until a node of many may be looked at after a reconnect. end ends the turn.
func (k *keeper) takeTurn(ctx context.Context, todo task) (end func(), err error) {
	if k.turns == nil || todo != recheck && todo != newSession {
		return func() {}, nil
	}
	conn, err := k.api.Conn()
	if err != nil {
		return nil, err
	}
	if err := conn.Ready(ctx); err != nil {
		return nil, err
	}
	return k.turns.Take(ctx)
}

// touchAgain sets the child of the node.
func (k *keeper) touchAgain(ctx context.Context) error {
	err := k.touchChild(ctx)
	if errors.Is(err, framework.ErrNoNode) { // the node has gone, too
		if err = k.settle(ctx, create, true); err == nil {
			err = k.touchChild(ctx)
		}
	}
	return err
}

// touchChild keeps a node with a time to live alive: it sets the data of the child, or creates the
// child. The node itself is left alone, so that those who watch it hear nothing. framework.ErrNoNode
// says that the node is missing.
func (k *keeper) touchChild(ctx context.Context) error {
	_, err := k.client.SetData().Idempotent().ForPath(ctx, k.childPath(), k.client.DefaultData())
	if errors.Is(err, framework.ErrNoNode) {
		child := k.child()
		child.OrSet, child.OrSetVersion, child.Repeat = true, zkclient.AnyVersion, true
		_, _, err = k.api.Create(ctx, child, false)
	}
	if err == nil {
		k.touched()
	}
	return err
}

// touched takes note that the child has just been set.
func (k *keeper) touched() { k.touchAt = time.Now().Add(k.spec.TTL / time.Duration(k.factor)) }

// failed decides what follows a task that has failed. It returns an error if nothing does.
func (k *keeper) failed(ctx context.Context, todo task, err error) (task, error) {
	todo = max(todo, recheck)
	conn, closed := k.api.Conn()
	switch {
	case closed != nil:
		return rest, closed
	case framework.Retryable(err):
		// The client logs that it is cut off.
		if err := conn.Ready(ctx); err != nil {
			return rest, err
		}
		k.afterFailure()
		return todo, nil
	case errors.Is(err, errUnsettled):
		k.afterFailure()
		return todo, nil
	case k.answerWrites(err):
		return todo, nil
	}
	if !k.failing {
		k.failing = true
		k.warn("the kept node cannot be kept now", "error", err)
	}
	k.afterFailure()
	return todo, k.watchFor(ctx, conn, err)
}

// answerWrites ends each SetData that waits, after an error that another try may not change. It reports
// whether there was one to blame.
func (k *keeper) answerWrites(err error) (blamed bool) {
	if errors.Is(err, errNoParent) { // the data is not to blame
		k.mail.keep(k.tried, fmt.Errorf("%w: %w", ErrPending, err))
		return false
	}
	return k.mail.refuse(k.tried, err) // as a rule
}

// recovered takes note that the node is as it is wanted.
func (k *keeper) recovered() {
	k.failures.Reset()
	if k.failing {
		k.failing = false
		k.api.Log(func() { k.client.Logger().Info("the kept node is kept again", "path", k.actualPath()) })
	}
}

// watchFor sets a watch on what may end a failure: on the parent that is missing, or on the node,
// also if that is missing. The watch tells of a reconnect, too. What fails here is tried again
// after the pause.
func (k *keeper) watchFor(ctx context.Context, conn *zkconn.Conn, why error) error {
	full := k.full
	if errors.Is(why, errNoParent) {
		full, _ = paths.ParentAndNode(full)
	}
	if k.mail.watched() {
		return nil
	}
	watch, _ := k.mail.newWatch(full)
	call := zkconn.Exists(full, watch)
	err := conn.Do(ctx, 0, call)
	if err != nil || call.Err != nil && !errors.Is(call.Err, framework.ErrNoNode) {
		k.mail.noWatch()
	}
	if errors.Is(err, framework.ErrClosed) || ctx.Err() != nil {
		return fmt.Errorf("watch %s: %w", full, err)
	}
	return nil
}

// unwatch takes the watch back.
func (k *keeper) unwatch() {
	conn, err := k.api.Conn()
	if watch := k.mail.noWatch(); watch != nil && err == nil {
		conn.Unwatch(watch)
	}
}

// leave stops the watch and leaves the node.
func (k *keeper) leave(context.Context) error {
	k.mail.end(framework.ErrClosed) // as work does, which does not run if Close interrupts Start
	k.unwatch()
	return nil
}

// end deletes the node.
func (k *keeper) end(ctx context.Context) (err error) {
	k.mail.end(framework.ErrClosed) // see leave
	if !k.othersOnly() {
		k.removal, err = k.remove(ctx) // fires the watch, as a rule
	}
	k.unwatch()
	return err
}

// othersOnly reports whether a Start in the background has not succeeded, and the node, which is
// persistent, was there before it.
func (k *keeper) othersOnly() bool {
	return k.starting && !k.ephemeral() && k.times == 0 && !k.doubt
}
