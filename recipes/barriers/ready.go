package barriers

import (
	"context"
	"errors"
	"slices"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkconn"
)

// view is one look at a double barrier.
type view struct {
	ready   *zkconn.Stat // of the "ready" node; nil if there is none
	names   []string     // of the members' nodes, sorted
	barrier *zkconn.Stat // of the barrier's own node, in the list; nil if there is none
}

// standing is what a look tells a member that enters (rule B3). The members of a round are those
// whose node is older than the round's "ready".
type standing int

const (
	outside standing = iota // no round is open
	inside                  // in the open round
	late                    // a round is open, and we are not in it
	unclear                 // "ready" is older than our node: the nodes of the others decide
)

// standingOf compares our node with "ready". Nodes are ordered by czxid, the transactions that
// created them.
func (v view) standingOf(czxid int64) standing {
	switch {
	case v.ready == nil:
		return outside
	case v.ready.Czxid > czxid:
		return inside
	}
	return unclear
}

// clear decides an unclear standing by the stats of the others' nodes. A "ready" that is older
// than every node is left of a round whose members have died: it is dead.
func (v view) clear(others []*zkconn.Stat) standing {
	for _, other := range others {
		if other != nil && other.Czxid < v.ready.Czxid {
			return late
		}
	}
	return outside
}

// When the last member of a round dies, the round's "ready" stays. Go members know that it is dead
// (rule B3), but a member in Java would take it for an open round, and pass alone. So it is removed
// (rule B10). It must not be taken for that of the next round, and a delete names a path and no
// instance: every "ready" of Java has version 0. Therefore a transaction that opens the barrier
// marks: it writes the data of "ready", which is at version 1 then, and the data of the barrier's own
// node, whose version rises, and whose data stays as it is. Who has read the barrier's version and
// then, behind that, a marked "ready", deletes it on the condition that the barrier has that version
// and "ready" version 1. Then it is the same: a younger one is not marked, or has raised the version.
//
// The version begins again if the barrier's node is made anew, which cannot be while a member's own
// node is there. For a member without a node one case is left: while its removal is under way,
// somebody else removes "ready", the barrier's node is removed and made anew, by the servers if it is a
// container, and the next round opens at the same version.

// A barrier's data that is longer does not fit beside many members into a transaction, and a barrier
// whose data is written again and again would never open. There "ready" is not marked, and stays.
const (
	maxKept    = 4096
	maxRefused = 3
)

// marks returns the operations that mark the "ready" which is created in the same transaction, none
// if that is not possible. barrier is of the barrier's own node, in the last list.
func (p *place) marks(ctx context.Context, barrier *zkconn.Stat) ([]framework.Op, error) {
	if barrier == nil || barrier.DataLength > maxKept {
		return nil, nil
	}
	data, version := []byte(nil), barrier.Version
	if barrier.DataLength > 0 {
		var read framework.Stat
		var err error
		data, err = p.client.GetData().Undecompressed().StoringStatIn(&read).ForPath(ctx, p.path)
		if errors.Is(err, framework.ErrNoAuth) || errors.Is(err, framework.ErrNoNode) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		version = read.Version
	}
	if version < 0 || len(data) > maxKept {
		return nil, nil
	}
	write := p.client.TransactionOp().SetData().Uncompressed()
	return []framework.Op{
		write.WithVersion(0).ForPath(p.api.ClientPath(p.ready()), p.client.DefaultData()),
		write.WithVersion(version).ForPath(p.path, data),
	}, nil
}

// markRefused reports whether a transaction was refused because of its marks: the barrier's node may
// not be written to, or a schema refuses its data.
func markRefused(err error) bool {
	var op *framework.OpError
	return errors.As(err, &op) && op.Op == "setData"
}

// sweepTries is how often sweep tries. Something else may have changed the barrier's data.
const sweepTries = 3

// sweep removes a "ready" that is marked and dead, if there is one (rule B10). own is the caller's
// node, "" for none. If that fails, the next round replaces it.
func (p *place) sweep(ctx context.Context, own string) {
	for try := range sweepTries {
		version, dead, err := p.findDead(ctx, try > 0)
		if err != nil || !dead {
			return
		}
		done, _, err := p.commit(ctx, p.removal(version, own)...)
		if done || err != nil {
			return
		}
	}
}

// removal returns the transaction that removes a marked "ready". version is that of the barrier's node,
// which was read ahead of it.
func (p *place) removal(version int32, own string) []framework.Op {
	op := p.client.TransactionOp()
	ops := []framework.Op{
		op.Check().WithVersion(version).ForPath(p.path),
		op.Delete().WithVersion(layout.MarkedVersion).ForPath(p.api.ClientPath(p.ready())),
	}
	if own != "" {
		ops = append(ops, p.checkOp(own))
	}
	return ops
}

// findDead looks for a "ready" that is marked and dead, and returns the version that the barrier's
// node had before. stale says that the last look was refuted: the server may be behind.
func (p *place) findDead(ctx context.Context, stale bool) (version int32, dead bool, err error) {
	err = p.retry(ctx, "exists", func(ctx context.Context, conn *zkconn.Conn) error {
		dead = false
		list, exists := zkconn.List(p.full, nil), zkconn.Exists(p.ready(), nil)
		calls := []*zkconn.Call{list, exists} // the version comes first
		if stale {
			calls = append([]*zkconn.Call{zkconn.Sync(p.full)}, calls...)
		}
		if err := failure(conn.Do(ctx, 0, calls...), list, exists); err != nil {
			return err
		}
		barrier, ready := list.Stat(), exists.Stat()
		if barrier == nil || barrier.Version < 0 || ready == nil || ready.Version != layout.MarkedVersion {
			return nil
		}
		v := view{ready: ready, names: layout.BarrierMembers(list.Names())}
		// Most nodes are those of members, if the round has not died.
		for some := range slices.Chunk(v.names, 16) {
			nodes, err := p.statsOf(ctx, conn, 0, some)
			if err != nil || v.clear(nodes) != outside {
				return err
			}
		}
		version, dead = barrier.Version, true
		return nil
	})
	return version, dead, err
}
