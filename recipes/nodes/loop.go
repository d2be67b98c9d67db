package nodes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// begin makes the node. When it fails, what it may have made is removed.
func (k *keeper) begin(ctx context.Context) (err error) {
	if k.background {
		return k.beginAgain(ctx)
	}
	k.stopRemoval()
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
	if err = k.first(ctx); err == nil {
		begun = true
		close(k.there)
	}
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
	if sequential(k.mode) {
		if k.full == "" { // else an earlier try has created it
			if err := k.createSequential(ctx); err != nil {
				return err
			}
		}
		at = look
	} else if err := k.setPath(k.given); err != nil {
		return err
	}
	for {
		err := k.settle(ctx, at, true)
		if !errors.Is(err, errUnsettled) {
			if err == nil && k.ttl > 0 {
				err = k.firstTouch(ctx)
			}
			return err
		}
		if err := wait.For(ctx, k.failures.Next()); err != nil {
			return err
		}
	}
}

// createSequential creates the node, whose name only the answer tells.
func (k *keeper) createSequential(ctx context.Context) error {
	want := k.mail.want()
	k.tried = want
	var stat framework.Stat
	b := k.builder(want.data).WithMode(k.mode).StoringStatIn(&stat)
	if k.protected {
		b = b.WithProtection()
	}
	path, err := b.ForPath(ctx, k.given)
	if err != nil {
		return err
	}
	if err := k.setPath(path); err != nil {
		return err
	}
	k.sessions.add(stat.EphemeralOwner)
	k.known = sighting{there: true, czxid: stat.Czxid, mzxid: stat.Mzxid, owner: stat.EphemeralOwner, session: stat.EphemeralOwner}
	k.written, k.writtenAs = stat.Mzxid, want.version
	k.noteCreated(ctx)
	return nil
}

// firstTouch sets the child of a node that was there already. The child of one that was created
// has been created with it.
func (k *keeper) firstTouch(ctx context.Context) error {
	if k.times > 0 {
		k.touched()
		return nil
	}
	return k.touchChild(ctx)
}

// abandon removes what a failed begin may have made. A persistent node without a number stays,
// unless the keeper is closed: it may have been there before, and the next Start adopts it.
func (k *keeper) abandon(ctx context.Context, closed bool) error {
	var err error
	if closed || k.ephemeral() || sequential(k.mode) {
		err = k.remove(ctx)
	}
	k.unwatch()
	var ended error
	if closed {
		ended = framework.ErrClosed
	}
	k.mail.stop(ended)
	k.path.Store(nil)
	k.full, k.known, k.doubt, k.times, k.touchAt, k.lookAt = "", sighting{}, false, 0, time.Time{}, time.Time{}
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
			k.pause, k.fixed = k.deletions.Next(), true
		}
		if !k.lookAt.IsZero() && !time.Now().Before(k.lookAt) {
			told = max(told, recheck)
		}
		todo = max(todo, told)
		if k.pause == 0 && (todo != rest || k.mail.unwritten() || k.touchDue()) {
			return todo, false
		}
		k.sleep(ctx)
	}
}

// sleep waits for the pause, the next touch, an event, a SetData or the end of ctx.
func (k *keeper) sleep(ctx context.Context) {
	var timer <-chan time.Time
	until := k.pause
	if until == 0 {
		until = untilFirst(k.touchAt, k.lookAt)
	}
	began := time.Now()
	if until > 0 {
		t := time.NewTimer(until)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-k.mail.wake:
		if k.pause = max(k.pause-time.Since(began), 0); !k.fixed {
			k.pause = 0
		}
	case <-timer:
		k.pause, k.fixed = 0, false
	case <-ctx.Done():
	}
}

// untilFirst returns the time until the first of two times, at least 1, and 0 if both are zero.
func untilFirst(a, b time.Time) time.Duration {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		a = b
	}
	if a.IsZero() {
		return 0
	}
	return max(time.Until(a), 1)
}

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
	if err == nil && k.touchDue() {
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
		k.pause = k.failures.Next()
		return todo, nil
	case errors.Is(err, errUnsettled):
		k.pause = k.failures.Next()
		return todo, nil
	case k.answerWrites(err):
		return todo, nil
	}
	if !k.failing {
		k.failing = true
		k.warn("the kept node cannot be kept now", "error", err)
	}
	k.pause = k.failures.Next()
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
	want := watchset.Want{Path: k.full, Kind: watchset.Exists}
	if errors.Is(why, errNoParent) {
		want.Path, _ = paths.ParentAndNode(k.full)
	}
	if k.mail.watched() {
		return nil
	}
	watch, _ := k.mail.newWatch(want.Path)
	call := watchset.ReadCall(want, watch)
	err := conn.Do(ctx, 0, call)
	if err != nil || call.Err != nil && !errors.Is(call.Err, framework.ErrNoNode) {
		k.mail.noWatch()
	}
	if errors.Is(err, framework.ErrClosed) || ctx.Err() != nil {
		return fmt.Errorf("watch %s: %w", want.Path, err)
	}
	return nil
}

// leave stops the watch and leaves the node.
func (k *keeper) leave(context.Context) error {
	k.mail.end(framework.ErrClosed) // as work does, which does not run if Close interrupts Start
	k.unwatch()
	return nil
}

// end deletes the node.
func (k *keeper) end(ctx context.Context) error {
	k.mail.end(framework.ErrClosed) // see leave
	var err error
	if !k.othersOnly() {
		err = k.remove(ctx) // fires the watch, as a rule
	}
	k.unwatch()
	return err
}

// othersOnly reports whether a Start in the background has not succeeded, and the node, which is
// persistent, was there before it.
func (k *keeper) othersOnly() bool {
	return k.starting && !k.ephemeral() && k.times == 0 && !k.doubt
}
