package txnlog

import (
	"fmt"

	"github.com/go-curator/curator/internal/jute"
)

// Txn is a transaction.
type Txn struct {
	Zxid    int64
	Session int64 // that has asked for it, or that it ends
	Time    int64 // the leader's wall clock when it began, in milliseconds
	Changes []Change
	Ends    bool // it ends the session, and deletes its ephemeral nodes
}

// Change is one change of a transaction: of the kinds OpCreate, OpDelete and OpSetData. Containers
// and nodes with a time to live are created, too.
type Change struct {
	Op        jute.Op
	Path      string
	Ephemeral bool
	Cversion  int32 // of a creation: how many there were below the parent, with this one
}

// decode reads a transaction: its header, and behind it what its type says.
func decode(record []byte) (t Txn, err error) {
	d := jute.NewDecoder(record)
	t.Session = d.Int64()
	d.Int32() // the number of the request
	t.Zxid = d.Int64()
	t.Time = d.Int64()
	op := d.Int32()
	t.Ends = op == jute.OpClose
	t.Changes = changes(d, op)
	if d.Err() != nil {
		return t, fmt.Errorf("transaction %#x of type %d: %w", t.Zxid, op, d.Err())
	}
	return t, nil
}

// changes reads what a transaction of a type changes. Types that change no node say nothing.
func changes(d *jute.Decoder, op jute.Op) []Change {
	switch op {
	case jute.OpMulti:
		var all []Change
		failed := false
		for n := d.Int32(); n > 0 && d.Err() == nil; n-- {
			part := d.Int32()
			failed = failed || part == jute.OpError
			inner := jute.NewDecoder(d.Buffer())
			all = append(all, changes(inner, part)...)
			if inner.Err() != nil {
				d.Fail(inner.Err().Error())
			}
		}
		if failed { // those before the one that has failed are logged as they were
			return nil
		}
		return all
	case jute.OpCreate, jute.OpCreate2:
		c := created(d)
		c.Ephemeral = d.Bool()
		c.Cversion = d.Int32()
		return []Change{c}
	case jute.OpCreateContainer, jute.OpCreateTTL:
		c := created(d)
		c.Cversion = d.Int32()
		return []Change{c}
	case jute.OpDelete, jute.OpDeleteContainer:
		return []Change{{Op: jute.OpDelete, Path: d.String()}}
	case jute.OpSetData:
		return []Change{{Op: jute.OpSetData, Path: d.String()}}
	}
	return nil
}

// created reads what the creations of all kinds of nodes begin with.
func created(d *jute.Decoder) Change {
	c := Change{Op: jute.OpCreate, Path: d.String()}
	d.Buffer()
	for n := d.Int32(); n > 0 && d.Err() == nil; n-- {
		var acl jute.ACL
		acl.Decode(d)
	}
	return c
}
