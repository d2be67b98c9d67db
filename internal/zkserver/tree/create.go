package tree

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
	acl, ok := expandACL(req.ACL, tx.identities)
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
