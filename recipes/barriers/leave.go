package barriers

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// departure is one Leave.
type departure struct {
	*place
	member
	set    *watchset.Set
	round  int64    // members of the round have nodes that are older; 0 if nobody is waited for
	others []string // whom we wait for, sorted: members of the round in the first list whose nodes still exist
	seen   bool     // others were seen

	barrier *zkconn.Stat // of the barrier's node, in the first list
	remains bool         // the last list had a "ready", and no round of a Go member had been opened since the first one
}

// run waits until the others have left. When it returns with an error our node may be there
// still: see finish.
func (d *departure) run(ctx context.Context) error {
	first, cancel := ctx, context.CancelFunc(func() {})
	if ctx.Err() != nil { // it still looks, and leaves
		first, cancel = cleanUp(ctx)
	}
	defer cancel()
	if err := d.firstLook(first); err != nil {
		return err
	}
	for len(d.others) > 0 {
		watched, err := d.watch(first)
		if err != nil {
			return err
		}
		if !watched {
			continue
		}
		if d.node != "" && !d.isLowest() {
			if err := d.delete(first); err != nil {
				return err
			}
		}
		d.seen = true
		if err := d.sleep(ctx); err != nil {
			return err
		}
		if err := d.list(ctx); err != nil {
			return err
		}
	}
	return d.last(first)
}

// isLowest reports whether our node is there and is the first one of those that are waited for.
// The first one stays until all others have gone.
func (d *departure) isLowest() bool { return d.node != "" && path.Base(d.node) < d.others[0] }

// firstLook finds out whom to wait for (rules B8 and B9).
func (d *departure) firstLook(ctx context.Context) error {
	var ready *zkconn.Stat
	var children []string
	err := d.retry(ctx, "getChildren", func(ctx context.Context, conn *zkconn.Conn) error {
		exists, list := zkconn.Exists(d.ready(), nil), zkconn.List(d.full, nil)
		err := failure(conn.Do(ctx, d.session, exists, list), exists, list)
		ready, children, d.barrier = exists.Stat(), list.Names(), list.Stat()
		return err
	})
	if err != nil {
		return d.lost(err)
	}
	d.note(children, d.barrier)
	guest := d.node == ""
	switch {
	case ready != nil && (guest || ready.Czxid > d.czxid):
		d.round = ready.Czxid
	case guest:
		return nil // the round is over
	default:
		// Somebody has deleted "ready". Those who were there before us are of the round for sure.
		d.round = max(d.opened, d.czxid)
	}
	d.others = layout.BarrierMembers(children)
	return d.keep(children)
}

// keep drops the others whose nodes are gone. It adds nobody.
func (d *departure) keep(children []string) error {
	names := layout.BarrierMembers(children)
	own := path.Base(d.node)
	if d.node != "" && !slices.Contains(names, own) {
		d.node = ""
		return ErrMemberLost
	}
	d.others = slices.DeleteFunc(d.others, func(name string) bool {
		return name == own || !slices.Contains(names, name)
	})
	return nil
}

// lost returns ErrMemberLost for the end of the session, and other errors as they are.
func (d *departure) lost(err error) error {
	if errors.Is(err, errSessionOver) {
		return ErrMemberLost
	}
	return err
}

// watch sets a watch on one of the others: the first one waits for the last one, and all others
// wait for the first one. It returns false if that one is not there, or is not of the round.
func (d *departure) watch(ctx context.Context) (watched bool, err error) {
	name := d.others[0]
	if d.isLowest() {
		name = d.others[len(d.others)-1]
	}
	err = d.retry(ctx, "getData", func(ctx context.Context, conn *zkconn.Conn) error {
		reads, idle := d.set.ArmByReading([]watchset.Want{{Path: d.child(name), Kind: watchset.Data}})
		for _, w := range idle {
			conn.Unwatch(&w.Watch)
		}
		if len(reads) == 0 {
			watched = true // it is set still
			return nil
		}
		call := reads[0].Call
		err := conn.Do(ctx, d.session, call)
		d.set.Keep(reads[0], err == nil && call.Err == nil)
		if err = failure(err, call); err != nil {
			return err
		}
		other := call.Stat()
		watched = other != nil && other.Czxid < d.round
		if other != nil && !watched {
			d.set.Close(conn, nil)
		}
		return nil
	})
	if err == nil && !watched {
		d.others = slices.DeleteFunc(d.others, func(other string) bool { return other == name })
	}
	return watched, d.lost(err)
}

// delete deletes our node.
func (d *departure) delete(ctx context.Context) error {
	err := d.retry(ctx, "delete", func(ctx context.Context, conn *zkconn.Conn) error {
		call := zkconn.Delete(d.node, -1)
		// If it is missing, it was deleted by an earlier try, or by an operator: it makes no difference any more.
		return failure(conn.Do(ctx, d.session, call), call)
	})
	if err != nil {
		return d.lost(err)
	}
	d.forget()
	return nil
}

// forget notes that our node is gone. From now on any session will do (rule B11).
func (d *departure) forget() { d.node, d.session = "", 0 }

// sleep waits until the watch fires.
func (d *departure) sleep(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for {
		select {
		case <-d.set.C():
		case <-ctx.Done():
			return ctx.Err()
		}
		for w := range d.set.Backward() {
			switch w.Fired() {
			case 0:
			case zkconn.WatchClosed:
				return framework.ErrClosed
			default:
				return nil
			}
		}
	}
}

// list lists the members again.
func (d *departure) list(ctx context.Context) error {
	var children []string
	var barrier *zkconn.Stat
	err := d.retry(ctx, "getChildren", func(ctx context.Context, conn *zkconn.Conn) error {
		list := zkconn.List(d.full, nil)
		err := failure(conn.Do(ctx, d.session, list), list)
		children, barrier = list.Names(), list.Stat()
		return err
	})
	if err != nil {
		return d.lost(err)
	}
	d.note(children, barrier)
	return d.keep(children)
}

// note keeps what a list says about "ready".
func (d *departure) note(children []string, barrier *zkconn.Stat) {
	d.remains = slices.Contains(children, layout.ReadyName) && barrier != nil && d.barrier != nil && barrier.Version == d.barrier.Version
}

// last deletes the node of the last member together with "ready" (rule B8). If the server refuses
// that, last deletes only the node. It removes a "ready" that is left then, or because the member
// died that should have been the last one (rule B10).
func (d *departure) last(ctx context.Context) error {
	if d.node != "" {
		gone, err := d.deleteBoth(ctx)
		if gone || err != nil {
			return err
		}
		if err := d.delete(ctx); err != nil {
			return err
		}
	}
	if d.remains {
		d.sweep(ctx, "")
	}
	return nil
}

// deleteBoth returns false without an error if the server refuses that.
func (d *departure) deleteBoth(ctx context.Context) (gone bool, err error) {
	for range 2 { // if there is no answer it may be sent again: our node is there at most once
		done, lost, err := d.commit(ctx, d.deleteOp(d.node), d.deleteOp(d.ready()))
		if done {
			d.forget()
		}
		if done || err != nil {
			return done, err
		}
		if !lost {
			break
		}
	}
	return false, nil
}

// finish deletes our node if it is there still, after an error. A member that does not wait for
// the others, or that is lost, may be the last one of the round to go.
func (d *departure) finish(ctx context.Context, err error) {
	if errors.Is(err, framework.ErrClosed) {
		return
	}
	ended := ctx.Err() != nil
	ctx, cancel := cleanUp(ctx)
	defer cancel()
	lost := errors.Is(err, ErrMemberLost)
	if d.node != "" && (lost || d.delete(ctx) != nil) {
		d.abandon(ctx)
	}
	if lost || ended {
		d.sweep(ctx, "")
	}
}

// abandon leaves the deletion of our node to the client.
func (d *departure) abandon(ctx context.Context) {
	if d.node != "" {
		d.api.Remove(ctx, d.node, d.session)
	}
}
