package barriers

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkconn"
)

// cleanUpTime bounds what a call that has failed does to leave nothing behind.
const cleanUpTime = time.Second

// cleanUp returns the context of a clean-up, which works although ctx has ended.
func cleanUp(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
}

// giveUp ends an Enter that has failed with err (rule B7). It returns nil if the member is in
// after all, because the others have counted it.
func (e *entry) giveUp(ctx context.Context, err error) error {
	if errors.Is(err, framework.ErrClosed) {
		return err // the session ends, and the node with it
	}
	ctx, cancel := cleanUp(ctx)
	defer cancel()
	if in, failed := e.withdraw(ctx); failed == nil {
		if in {
			return nil
		}
		return err
	}
	e.abandon(ctx)
	return err
}

// abandon leaves the deletion of nodes to the client.
func (e *entry) abandon(ctx context.Context) {
	if e.node != "" {
		e.api.Remove(ctx, e.node, e.session)
	}
	if e.doubt != "" {
		e.api.Remove(ctx, e.doubt, e.doubtSession)
	}
	e.removeOld(ctx)
}

// removeOld has the client delete what is left of sessions that are over.
func (e *entry) removeOld(ctx context.Context) {
	for _, old := range e.old {
		e.api.Remove(ctx, old, 0)
	}
	e.old = nil
}

// withdraw deletes the nodes, unless the member is in. An error says that the server could not
// be asked.
func (e *entry) withdraw(ctx context.Context) (in bool, err error) {
	if e.doubt != "" {
		err := e.retry(ctx, "exists", func(ctx context.Context, conn *zkconn.Conn) error {
			_, err := e.resolve(ctx, conn)
			return err
		})
		if err != nil && !errors.Is(err, errSessionOver) {
			return false, err
		}
	}
	e.removeOld(ctx)
	if e.node == "" {
		return false, nil
	}
	if in, err := e.counted(ctx); in || err != nil {
		return in, err
	}
	return e.leaveEntry(ctx)
}

// counted checks whether there is an open round with our node as a member.
func (e *entry) counted(ctx context.Context) (in bool, err error) {
	err = e.retry(ctx, "exists", func(ctx context.Context, conn *zkconn.Conn) error {
		call := zkconn.Exists(e.ready(), nil)
		err := failure(conn.Do(ctx, e.session, call), call)
		e.view.ready = call.Stat()
		return err
	})
	if err != nil || e.view.standingOf(e.czxid) != inside {
		return false, err
	}
	e.opened = e.view.ready.Czxid
	return true, nil
}

// leaveEntry deletes our node and looks once more: a round that was opened between the two looks
// has counted us, and we are in as a guest. No node is put back, because a round never grows.
func (e *entry) leaveEntry(ctx context.Context) (in bool, err error) {
	deleted := int64(0) // the transaction of the delete; 0 if that is not known
	err = e.retry(ctx, "delete", func(ctx context.Context, conn *zkconn.Conn) error {
		removal, ready := zkconn.Delete(e.node, -1), zkconn.Exists(e.ready(), nil)
		err := conn.Do(ctx, e.session, removal, ready)
		if err == nil && removal.Err == nil {
			deleted = removal.Zxid
		}
		e.view.ready = ready.Stat()
		return failure(err, removal, ready)
	})
	if err != nil {
		return false, err
	}
	ready := e.view.ready
	in = ready != nil && ready.Czxid > e.czxid && (deleted == 0 || ready.Czxid < deleted)
	e.member = member{}
	if in {
		e.opened = ready.Czxid
	}
	return in, nil
}
