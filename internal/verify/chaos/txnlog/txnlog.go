// Package txnlog reads the transaction logs of ZooKeeper servers: what an ensemble has committed, in
// its order. The format is that of org.apache.zookeeper.server.persistence.FileTxnLog, version 2.
package txnlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

const (
	magic      = 0x5a4b4c47 // ZKLG
	version    = 2
	fileHeader = 4 + 4 + 8
	endOfEntry = 'B'
)

// Committed returns what the servers with these data folders have committed, in the order of the
// zxids. A transaction counts if more than half of the servers have logged it: a server that was cut
// off may keep some that were never committed, in the files from before it took a snapshot of
// another server. Those that were dropped all the same are returned apart.
func Committed(dataDirs []string) (committed, dropped []Txn, err error) {
	logged := map[int64]int{}
	byZxid := map[int64]Txn{}
	for _, dir := range dataDirs {
		files, err := filepath.Glob(filepath.Join(dir, "version-2", "log.*"))
		if err != nil {
			return nil, nil, err
		}
		own := map[int64]bool{}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, nil, err
			}
			txns, err := parse(content)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", file, err)
			}
			for _, t := range txns {
				byZxid[t.Zxid] = t
				own[t.Zxid] = true
			}
		}
		for zxid := range own {
			logged[zxid]++
		}
	}
	var all []Txn
	for zxid, t := range byZxid {
		if 2*logged[zxid] > len(dataDirs) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Txn) int { return cmp.Compare(a.Zxid, b.Zxid) })
	committed, dropped = splitDropped(all)
	return committed, dropped, nil
}

// parse returns the transactions of one file. It ends at the first entry that is not whole: the rest
// was reserved, or was being written when the server was killed.
func parse(content []byte) (txns []Txn, err error) {
	if len(content) < fileHeader {
		return nil, nil // the server was killed when it had created the file
	}
	if m, v := binary.BigEndian.Uint32(content), binary.BigEndian.Uint32(content[4:]); m == 0 && v == 0 {
		return nil, nil
	} else if m != magic || v != version {
		return nil, errors.New("this is no transaction log of version 2")
	}
	for rest := content[fileHeader:]; ; {
		record, size := entry(rest)
		if record == nil {
			return txns, nil
		}
		rest = rest[size:]
		t, err := decode(record)
		if err != nil {
			return nil, err
		}
		txns = append(txns, t)
	}
}

// entry returns the first entry of rest and its size with everything around it, or nil.
func entry(rest []byte) (record []byte, size int) {
	const before = 8 + 4 // checksum, length
	if len(rest) < before {
		return nil, 0
	}
	sum, length := binary.BigEndian.Uint64(rest), int(binary.BigEndian.Uint32(rest[8:]))
	if length <= 0 || len(rest) < before+length+1 || rest[before+length] != endOfEntry {
		return nil, 0
	}
	record = rest[before : before+length]
	if uint64(adler32.Checksum(record)) != sum {
		return nil, 0
	}
	return record, before + length + 1
}

// splitDropped takes out transactions that the servers have dropped: ZooKeeper 3.8.0 can do so with what
// two of three servers have logged, if its leader is cut off at that moment. A transaction was dropped, and
// with it the rest of its epoch, if one of a later epoch contradicts it.
func splitDropped(all []Txn) (committed, dropped []Txn) {
	for {
		from := contradicted(all)
		if from == 0 {
			return all, dropped
		}
		var left []Txn
		for _, t := range all {
			if t.Zxid >= from && epoch(t.Zxid) == epoch(from) {
				dropped = append(dropped, t)
			} else {
				left = append(left, t)
			}
		}
		all = left
	}
}

func epoch(zxid int64) int64 { return zxid >> 32 }

// tree is what transactions have left.
type tree struct {
	nodes     map[string]Txn     // that exist, with the transaction that has created each
	gone      map[string]Txn     // the last transaction that has deleted each of the others
	newest    map[string]last    // child of each node, also if it is gone
	ofSession map[int64][]string // ephemeral nodes, also those that are gone
}

// last is the last creation of a child.
type last struct {
	cversion int32
	by       Txn
}

// contradicted returns the zxid of a transaction that one of a later epoch contradicts, or 0.
func contradicted(all []Txn) int64 {
	w := &tree{nodes: map[string]Txn{}, gone: map[string]Txn{}, newest: map[string]last{}, ofSession: map[int64][]string{}}
	for _, t := range all {
		for _, c := range t.Changes {
			var before Txn
			switch c.Op {
			case jute.OpCreate:
				before = w.create(t, c)
			case jute.OpDelete:
				before = w.remove(t, c.Path)
			}
			if before.Zxid != 0 && epoch(before.Zxid) < epoch(t.Zxid) {
				return before.Zxid
			}
		}
		if t.Ends {
			for _, path := range w.ofSession[t.Session] {
				if made, there := w.nodes[path]; there && made.Session == t.Session {
					w.remove(t, path)
				}
			}
			delete(w.ofSession, t.Session)
		}
	}
	return 0
}

// create creates a node. It returns the transaction that contradicts this, if there is one: the number of
// creations below the parent must have risen.
func (w *tree) create(t Txn, c Change) (before Txn) {
	parent := c.Path[:max(1, strings.LastIndexByte(c.Path, '/'))]
	if newest, ok := w.newest[parent]; ok && c.Cversion <= newest.cversion {
		before = newest.by
	}
	if made, there := w.nodes[c.Path]; there {
		before = made
	}
	w.newest[parent] = last{c.Cversion, t}
	w.nodes[c.Path] = t
	delete(w.gone, c.Path)
	if c.Ephemeral {
		w.ofSession[t.Session] = append(w.ofSession[t.Session], c.Path)
	}
	return before
}

// remove deletes a node. It returns the transaction that has deleted it already, if there is one.
func (w *tree) remove(t Txn, path string) (before Txn) {
	if _, there := w.nodes[path]; !there {
		before = w.gone[path]
	}
	delete(w.nodes, path)
	delete(w.newest, path)
	w.gone[path] = t
	return before
}
