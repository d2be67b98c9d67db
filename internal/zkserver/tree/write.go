package tree

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// anyVersion is the version that matches every node's.
const anyVersion = -1

// deleteNode does delete.
func deleteNode(tx *txn, _ jute.Op, d *jute.Decoder) (Body, jute.Code) {
	req, code := decode[jute.DeleteRequest](d)
	if code != jute.CodeOK {
		return nil, code
	}
	parentPath, ok := parentOf(req.Path)
	if !ok || isSystemPath(req.Path) {
		return nil, jute.CodeBadArguments
	}
	parent, n := tx.state.nodes.get(parentPath), tx.state.nodes.get(req.Path)
	switch {
	case parent == nil:
		return nil, jute.CodeNoNode
	case !tx.permits(parent.acl, jute.PermDelete):
		return nil, jute.CodeNoAuth
	case n == nil:
		return nil, jute.CodeNoNode
	case req.Version != anyVersion && req.Version != n.version:
		return nil, jute.CodeBadVersion
	case len(n.children) > 0:
		return nil, jute.CodeNotEmpty
	}
	tx.detach(req.Path, parent, n)
	return nil, jute.CodeOK
}

// deleteContainer does deleteContainer. It is what a server asks itself for: ZooKeeper 3.8
// takes the whole frame of a client's for the path, and refuses that. ZooKeeper 3.9 does it for a client as
// for itself: for every node without children that is not ephemeral.
func deleteContainer(tx *txn, _ jute.Op, d *jute.Decoder) (Body, jute.Code) {
	if !tx.state.release.deletesContainers() {
		return nil, jute.CodeBadArguments
	}
	name := d.Buffer()
	if d.Err() != nil || name == nil {
		return nil, jute.CodeMarshallingError
	}
	path := string(name)
	parentPath, ok := parentOf(path)
	if !ok || isSystemPath(path) {
		return nil, jute.CodeBadArguments
	}
	n := tx.state.nodes.get(path)
	switch {
	case n == nil:
		return nil, jute.CodeNoNode
	case len(n.children) > 0:
		return nil, jute.CodeNotEmpty
	case n.kind == ephemeral:
		return nil, jute.CodeBadVersion
	}
	tx.detach(path, tx.state.nodes.get(parentPath), n)
	return nil, jute.CodeOK
}

// setData does setData.
func setData(tx *txn, _ jute.Op, d *jute.Decoder) (Body, jute.Code) {
	req, code := decode[jute.SetDataRequest](d)
	if code != jute.CodeOK {
		return nil, code
	}
	n, code := tx.versioned(req.Path, jute.PermWrite, req.Version)
	if code != jute.CodeOK {
		return nil, code
	}
	stat := tx.write(req.Path, n, bytes.Clone(req.Data), n.version+1)
	return &jute.StatResponse{Stat: stat}, jute.CodeOK
}

// check does check: it changes nothing, and fails what it is part of.
func check(tx *txn, _ jute.Op, d *jute.Decoder) (Body, jute.Code) {
	req, code := decode[jute.CheckVersionRequest](d)
	if code != jute.CodeOK {
		return nil, code
	}
	_, code = tx.versioned(req.Path, jute.PermRead, req.Version)
	return nil, code
}

// versioned returns the node at path if it grants perm and has the version.
func (tx *txn) versioned(path string, perm, version int32) (*node, jute.Code) {
	if !isValidPath(path) {
		return nil, jute.CodeBadArguments
	}
	n := tx.state.nodes.get(path)
	switch {
	case n == nil:
		return nil, jute.CodeNoNode
	case !tx.permits(n.acl, perm):
		return nil, jute.CodeNoAuth
	case version != anyVersion && version != n.version:
		return nil, jute.CodeBadVersion
	}
	return n, jute.CodeOK
}

// setACL does setACL. No watch hears of it.
func setACL(tx *txn, _ jute.Op, d *jute.Decoder) (Body, jute.Code) {
	req, code := decode[jute.SetACLRequest](d)
	if code != jute.CodeOK {
		return nil, code
	}
	if !isValidPath(req.Path) {
		return nil, jute.CodeBadArguments
	}
	acl, ok := tx.state.release.expandACL(req.ACL, tx.identities)
	if !ok {
		return nil, jute.CodeInvalidACL
	}
	n := tx.state.nodes.get(req.Path)
	switch {
	case n == nil:
		return nil, jute.CodeNoNode
	case !tx.permits(n.acl, jute.PermAdmin):
		return nil, jute.CodeNoAuth
	case req.Version != anyVersion && req.Version != n.aversion:
		return nil, jute.CodeBadVersion
	}
	n.acl = acl
	n.aversion++
	return &jute.StatResponse{Stat: n.stat()}, jute.CodeOK
}

// reconfig does reconfig, which a server that is no member of an ensemble refuses. It takes
// a zxid only if the request can be read.
func reconfig(r *request) (Body, jute.Code) {
	for range 3 { // who joins, who leaves, who is a member then
		r.body.Buffer()
	}
	if r.body.Int64(); r.body.Err() != nil {
		return nil, jute.CodeMarshallingError
	}
	r.state.zxid++
	return nil, jute.CodeReconfigDisabled
}

// maxTTL is the longest time to live that fits into a node, in milliseconds.
const maxTTL = 1<<40 - 1

// create does create, create2, createContainer and createTTL. Only create's result has no
// Stat.
func create(tx *txn, op jute.Op, d *jute.Decoder) (Body, jute.Code) {
	req, code := decodeCreate(op, d)
	if code != jute.CodeOK {
		return nil, code
	}
	path, stat, code := tx.create(op, req)
	if code != jute.CodeOK {
		return nil, code
	}
	if op == jute.OpCreate {
		return &jute.CreateResponse{Path: path}, jute.CodeOK
	}
	return &jute.Create2Response{Path: path, Stat: stat}, jute.CodeOK
}

// decodeCreate reads the request of any of the four; -1 is the TTL of what has none.
func decodeCreate(op jute.Op, d *jute.Decoder) (jute.CreateTTLRequest, jute.Code) {
	if op == jute.OpCreateTTL {
		return decode[jute.CreateTTLRequest](d)
	}
	req, code := decode[jute.CreateRequest](d)
	return jute.CreateTTLRequest{Path: req.Path, Data: req.Data, ACL: req.ACL, Flags: req.Flags, TTL: -1}, code
}

// create makes a node and returns its path and Stat. The order of its checks is ZooKeeper's.
func (tx *txn) create(op jute.Op, req jute.CreateTTLRequest) (string, jute.Stat, jute.Code) {
	if req.Flags < 0 || req.Flags > jute.FlagSequentialTTL || !validTTL(req) || op == jute.OpCreateTTL && !isTTL(req.Flags) {
		return "", jute.Stat{}, jute.CodeBadArguments
	}
	parentPath, ok := parentOf(req.Path)
	if !ok {
		return "", jute.Stat{}, jute.CodeBadArguments
	}
	acl, ok := tx.state.release.expandACL(req.ACL, tx.identities)
	if !ok {
		return "", jute.Stat{}, jute.CodeInvalidACL
	}
	parent := tx.state.nodes.get(parentPath)
	if parent == nil {
		return "", jute.Stat{}, jute.CodeNoNode
	}
	if !tx.permits(parent.acl, jute.PermCreate) {
		return "", jute.Stat{}, jute.CodeNoAuth
	}
	path := req.Path
	if isSequential(req.Flags) {
		path += fmt.Sprintf("%010d", parent.creates)
	}
	switch {
	case !isValidPath(path) || limitsRoot(path):
		return "", jute.Stat{}, jute.CodeBadArguments
	case tx.state.nodes.get(path) != nil:
		return "", jute.Stat{}, jute.CodeNodeExists
	case parent.kind == ephemeral:
		return "", jute.Stat{}, jute.CodeNoChildrenForEphemerals
	}
	n := &node{
		data:  bytes.Clone(req.Data),
		acl:   acl,
		czxid: tx.zxid, mzxid: tx.zxid, pzxid: tx.zxid,
		ctime: tx.now, mtime: tx.now,
	}
	switch {
	case op == jute.OpCreateContainer:
		n.kind = container
	case op == jute.OpCreateTTL:
		n.kind, n.ttl = timed, time.Duration(req.TTL)*time.Millisecond
	case isEphemeral(req.Flags):
		n.kind, n.owner = ephemeral, tx.session
	}
	return path, tx.attach(path, parent, n), jute.CodeOK
}

// validTTL tells whether a request has a time to live if, and only if, its flags say so.
func validTTL(req jute.CreateTTLRequest) bool {
	if isTTL(req.Flags) {
		return req.TTL > 0 && req.TTL <= maxTTL
	}
	return req.TTL < 0
}

func isTTL(flags int32) bool { return flags == jute.FlagTTL || flags == jute.FlagSequentialTTL }

func isEphemeral(flags int32) bool {
	return flags == jute.FlagEphemeral || flags == jute.FlagEphemeral|jute.FlagSequential
}

func isSequential(flags int32) bool {
	return flags == jute.FlagSequential || flags == jute.FlagEphemeral|jute.FlagSequential ||
		flags == jute.FlagSequentialTTL
}
