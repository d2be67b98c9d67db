package zkclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// Repetition is a transaction that is repeated after a lost reply. If the server refuses the repetition, an
// earlier try may be the reason. The transaction was applied if every node is as it leaves it, and all of them
// since one zxid: only one transaction has a zxid. It is above what the client had seen before the first try, and below
// the zxid of the refusal. docs/guarantees.md has a table of what can happen.
type Repetition struct {
	effects []effect
	paths   []string // of the nodes that the transaction changes, in the order of the operations
	nodes   map[string]*leftNode

	began        bool
	since, epoch int64 // the client's last zxid and the servers' data before the first try
	lost         bool  // a reply was lost
}

// effect is what one operation does.
type effect struct {
	op      jute.Op
	node    *leftNode // nil for a check and a delete
	version int32     // of the node behind the operation
	size    int       // of its data
}

// leftNode is a node as a transaction leaves it.
type leftNode struct {
	path    string
	gone    bool
	created bool // else its data was set
	owned   bool // it is the session's
	data    []byte
	version int32

	stat jute.Stat // as it was read
}

// Repeatable returns why a transaction with the operation must not be repeated, nil if it may be.
func (o *Op) Repeatable() error {
	const because = "%w: Idempotent: %s"
	switch req := o.Multi.Req.(type) {
	case *jute.CreateRequest:
		if Mode(req.Flags).IsSequential() {
			return fmt.Errorf(because, ErrInvalidBuilder, "a sequential node is always a new one")
		}
	case *jute.CreateTTLRequest:
		if Mode(req.Flags).IsSequential() {
			return fmt.Errorf(because, ErrInvalidBuilder, "a sequential node is always a new one")
		}
	case *jute.SetDataRequest:
		if req.Version == AnyVersion {
			return fmt.Errorf(because, ErrInvalidBuilder, "a setData without a version may overwrite a later one")
		}
	case *jute.DeleteRequest:
		if req.Version == AnyVersion {
			return fmt.Errorf(because, ErrInvalidBuilder, "a delete without a version may delete a later node")
		}
	}
	return nil
}

// NewRepetition returns that of a transaction of ops, which are Repeatable. It refuses a transaction that could be
// applied again to what it leaves, such as one that deletes a node and creates it again: others may rely on the
// first time by then.
func NewRepetition(ops []zkconn.MultiOp) (*Repetition, error) {
	r := &Repetition{nodes: map[string]*leftNode{}}
	first := map[string]zkconn.MultiOp{}
	for _, op := range ops {
		if path := changedPath(op); first[path].Req == nil {
			first[path] = op
		}
		e := effect{op: op.Op}
		switch req := op.Req.(type) {
		case *jute.CreateRequest:
			e.size = len(req.Data)
			e.node = r.leave(&leftNode{path: req.Path, created: true, owned: Mode(req.Flags).IsEphemeral(), data: req.Data})
		case *jute.CreateTTLRequest:
			e.size = len(req.Data)
			e.node = r.leave(&leftNode{path: req.Path, created: true, data: req.Data})
		case *jute.SetDataRequest:
			n := r.nodes[req.Path]
			if n == nil {
				n = r.leave(&leftNode{path: req.Path})
			}
			n.data, n.version = req.Data, req.Version+1
			e.node, e.version, e.size = n, n.version, len(req.Data)
		case *jute.DeleteRequest:
			r.leave(&leftNode{path: req.Path, gone: true})
		}
		r.effects = append(r.effects, e)
	}
	refuses := func(path string) bool { return r.nodes[path].refuses(first[path]) }
	if len(r.paths) > 0 && !slices.ContainsFunc(r.paths, refuses) {
		return nil, fmt.Errorf("%w: Idempotent: the transaction could be applied again to what it leaves", ErrInvalidBuilder)
	}
	return r, nil
}

// changedPath returns the path of the node that an operation changes, "" for a check.
func changedPath(op zkconn.MultiOp) string {
	switch req := op.Req.(type) {
	case *jute.CreateRequest:
		return req.Path
	case *jute.CreateTTLRequest:
		return req.Path
	case *jute.SetDataRequest:
		return req.Path
	case *jute.DeleteRequest:
		return req.Path
	}
	return ""
}

// refuses reports whether the server refuses an operation on the node as the transaction leaves it.
func (n *leftNode) refuses(op zkconn.MultiOp) bool {
	switch req := op.Req.(type) {
	case *jute.SetDataRequest:
		return n.gone || n.version != req.Version
	case *jute.DeleteRequest:
		return n.gone || n.version != req.Version
	}
	return !n.gone // a create
}

func (r *Repetition) leave(n *leftNode) *leftNode {
	if r.nodes[n.path] == nil {
		r.paths = append(r.paths, n.path)
	}
	r.nodes[n.path] = n
	return n
}

// Begin is called before every try.
func (r *Repetition) Begin(conn *zkconn.Conn) {
	if !r.began {
		r.began, r.epoch, r.since = true, conn.Epoch(), conn.LastZxid()
	}
}

// Lost reports whether a reply was lost: whatever the last error is, the transaction may have been applied.
func (r *Repetition) Lost() bool { return r != nil && r.lost }

// Judge returns what a try has come to that failed with err. refused says that the server has refused an
// operation. results are those of an earlier try if it was applied. known says that the last answer stands: the
// returned error is err itself, and not that of the reads. zxid is that of the server's answer, 0 without one.
func (r *Repetition) Judge(ctx context.Context, conn *zkconn.Conn, err error, refused bool, zxid int64) (results []zkconn.MultiResult, known bool, _ error) {
	if len(r.paths) == 0 {
		return nil, true, ReadError(err) // checks change nothing
	}
	r.lost = r.lost || MaybeApplied(err)
	if !r.lost || !refused && !isFinal(err) {
		return nil, true, err
	}
	if !refused || zxid <= 0 {
		zxid = math.MaxInt64
	}
	switch applied, failed := r.applied(ctx, conn, zxid); {
	case failed != nil:
		return nil, false, NotApplied(failed)
	case !applied:
		return nil, true, err
	}
	return r.results(), true, nil
}

// readTogether is how many nodes are read in one write.
const readTogether = 256

// applied reads the nodes, and reports whether an earlier try is known to have been applied, ahead of a zxid. What the
// client may not read proves nothing, and neither does anything to a client that had no answer before: it does not
// know what is old. A server without a quorum is not asked, as by hasData.
func (r *Repetition) applied(ctx context.Context, conn *zkconn.Conn, before int64) (bool, error) {
	if r.since <= 0 || !slices.ContainsFunc(r.paths, func(path string) bool { return !r.nodes[path].gone }) {
		return false, nil // any client may have deleted the nodes
	}
	var zxid int64
	for paths := range slices.Chunk(r.paths, readTogether) {
		calls := make([]*zkconn.Call, len(paths))
		for i, path := range paths {
			if calls[i] = zkconn.GetData(path, nil); r.nodes[path].gone {
				calls[i] = zkconn.Exists(path, nil)
			}
		}
		if err := conn.DoAtQuorum(ctx, calls...); err != nil {
			return false, err
		}
		for i, path := range paths {
			n, call := r.nodes[path], calls[i]
			switch {
			case Retryable(call.Err):
				return false, call.Err
			case n.gone && !errors.Is(call.Err, zkconn.ErrNoNode), !n.gone && call.Err != nil:
				return false, nil
			case n.gone:
				continue
			}
			n.stat = *call.Stat()
			if zxid == 0 {
				zxid = n.stat.Mzxid
			}
			if !n.leftBy(zxid, call.Session) || !bytes.Equal(n.data, call.Data()) {
				return false, nil
			}
		}
	}
	return zxid > r.since && zxid <= before && conn.Epoch() == r.epoch, nil
}

// leftBy reports whether the node that was read is as a transaction with this zxid leaves it, but for its data.
// One that a session owns must be of the present one, because it ends with another one.
func (n *leftNode) leftBy(zxid, session int64) bool {
	switch {
	case n.stat.Mzxid != zxid, n.created != (n.stat.Czxid == zxid), n.stat.Version != n.version:
		return false
	case !n.created:
		return true
	case n.owned:
		return n.stat.EphemeralOwner == session
	}
	return n.stat.EphemeralOwner == 0
}

// results returns what the server has answered to the try that was applied, as far as it is known from the nodes.
// A Stat may have later children and ACLs in it, but that of a create. It is unknown for a node that the transaction
// has deleted behind the operation.
func (r *Repetition) results() []zkconn.MultiResult {
	results := make([]zkconn.MultiResult, len(r.effects))
	for i, e := range r.effects {
		if e.node == nil {
			continue
		}
		known := r.nodes[e.node.path] == e.node
		stat := e.node.stat
		stat.Version, stat.DataLength = e.version, int32(e.size)
		if e.op != jute.OpSetData {
			results[i].Path = e.node.path
			stat.Pzxid, stat.Cversion, stat.Aversion, stat.NumChildren = stat.Czxid, 0, 0, 0
		}
		if known && e.op != jute.OpCreate { // to which the server answers without a Stat
			results[i].Stat = stat
		}
	}
	return results
}
