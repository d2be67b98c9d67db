package tree

import (
	"bytes"

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
// takes the whole frame of a client's for the path, and refuses that.
func deleteContainer(*txn, jute.Op, *jute.Decoder) (Body, jute.Code) {
	return nil, jute.CodeBadArguments
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
	acl, ok := expandACL(req.ACL, tx.identities)
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
