package zkserver

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// maxTTL is the longest time to live that fits into a node, in milliseconds.
const maxTTL = 1<<40 - 1

// create does create, create2, createContainer and createTTL. Only create's result has no
// Stat.
func create(tx *txn, op jute.Op, d *jute.Decoder) (encoder, jute.Code) {
	req, code := decodeCreate(op, d)
	if code != jute.CodeOK {
		return nil, code
	}
	path, n, code := tx.create(op, req)
	if code != jute.CodeOK {
		return nil, code
	}
	if op == jute.OpCreate {
		return &jute.CreateResponse{Path: path}, jute.CodeOK
	}
	return &jute.Create2Response{Path: path, Stat: n.stat()}, jute.CodeOK
}

// decodeCreate reads the request of any of the four; -1 is the TTL of what has none.
func decodeCreate(op jute.Op, d *jute.Decoder) (jute.CreateTTLRequest, jute.Code) {
	if op == jute.OpCreateTTL {
		return decode[jute.CreateTTLRequest](d)
	}
	req, code := decode[jute.CreateRequest](d)
	return jute.CreateTTLRequest{Path: req.Path, Data: req.Data, ACL: req.ACL, Flags: req.Flags, TTL: -1}, code
}

// create makes a node. The order of its checks is ZooKeeper's.
func (tx *txn) create(op jute.Op, req jute.CreateTTLRequest) (string, *node, jute.Code) {
	if req.Flags < 0 || req.Flags > jute.FlagSequentialTTL || !validTTL(req) || op == jute.OpCreateTTL && !isTTL(req.Flags) {
		return "", nil, jute.CodeBadArguments
	}
	parentPath, ok := parentOf(req.Path)
	if !ok {
		return "", nil, jute.CodeBadArguments
	}
	acl, ok := expandACL(req.ACL, tx.identities)
	if !ok {
		return "", nil, jute.CodeInvalidACL
	}
	parent := tx.store.tree.get(parentPath)
	if parent == nil {
		return "", nil, jute.CodeNoNode
	}
	if !tx.permits(parent.acl, jute.PermCreate) {
		return "", nil, jute.CodeNoAuth
	}
	path := req.Path
	if isSequential(req.Flags) {
		path += fmt.Sprintf("%010d", parent.creates)
	}
	switch {
	case !isValidPath(path):
		return "", nil, jute.CodeBadArguments
	case tx.store.tree.get(path) != nil:
		return "", nil, jute.CodeNodeExists
	case parent.kind == ephemeral:
		return "", nil, jute.CodeNoChildrenForEphemerals
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
	tx.attach(path, parent, n)
	return path, n, jute.CodeOK
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
