package zkserver

import (
	"slices"
	"strings"

	"github.com/go-curator/curator/internal/jute"
)

// ping does ping.
func ping(*request) (encoder, jute.Code) { return nil, jute.CodeOK }

// syncPath does sync: one server is always up to date.
func syncPath(r *request) (encoder, jute.Code) {
	req, code := decode[jute.PathRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	return &jute.SyncResponse{Path: req.Path}, jute.CodeOK
}

// exists does exists. Its watch is set whether the node is there or not.
func exists(r *request) (encoder, jute.Code) {
	req, code := decode[jute.PathWatchRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	if strings.IndexByte(req.Path, 0) >= 0 {
		return nil, jute.CodeBadArguments
	}
	if req.Watch {
		r.store.data.add(req.Path, r.conn, oneShot)
	}
	n := r.store.tree.get(req.Path)
	if n == nil {
		return nil, jute.CodeNoNode
	}
	return &jute.StatResponse{Stat: n.stat()}, jute.CodeOK
}

// getData does getData.
func getData(r *request) (encoder, jute.Code) {
	req, code := decode[jute.PathWatchRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	return readNode(r, r.op, req.Path, req.Watch)
}

// getChildren does getChildren and getChildren2, which has a Stat, too.
func getChildren(r *request) (encoder, jute.Code) {
	req, code := decode[jute.PathWatchRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	return readNode(r, r.op, req.Path, req.Watch)
}

// readNode does one of getData, getChildren and getChildren2.
func readNode(r *request, op jute.Op, path string, watch bool) (encoder, jute.Code) {
	n, code := r.readable(path, jute.PermRead)
	if code != jute.CodeOK {
		return nil, code
	}
	if op == jute.OpGetData {
		if watch {
			r.store.data.add(path, r.conn, oneShot)
		}
		return &jute.GetDataResponse{Data: n.data, Stat: n.stat()}, jute.CodeOK
	}
	if watch {
		r.store.children.add(path, r.conn, oneShot)
	}
	if op == jute.OpGetChildren {
		return &jute.GetChildrenResponse{Children: n.childNames()}, jute.CodeOK
	}
	return &jute.GetChildren2Response{Children: n.childNames(), Stat: n.stat()}, jute.CodeOK
}

// readable returns the node at path if it grants one of perms.
func (r *request) readable(path string, perms int32) (*node, jute.Code) {
	n := r.store.tree.get(path)
	if n == nil {
		return nil, jute.CodeNoNode
	}
	if !permits(n.acl, perms, r.conn.identities) {
		return nil, jute.CodeNoAuth
	}
	return n, jute.CodeOK
}

// getACL does getACL. Only who may administer the node sees the digests.
func getACL(r *request) (encoder, jute.Code) {
	req, code := decode[jute.PathRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	n, code := r.readable(req.Path, jute.PermRead|jute.PermAdmin)
	if code != jute.CodeOK {
		return nil, code
	}
	acl := n.acl
	if !permits(acl, jute.PermAdmin, r.conn.identities) {
		acl = withoutSecrets(acl)
	}
	return &jute.GetACLResponse{ACL: acl, Stat: n.stat()}, jute.CodeOK
}

// getEphemerals does getEphemerals: those of the session below a prefix, all for "/",
// sorted.
func getEphemerals(r *request) (encoder, jute.Code) {
	req, code := decode[jute.PathRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	prefix := req.Path
	if strings.TrimSpace(prefix) == "" {
		prefix = rootPath
	}
	paths := []string{}
	for path := range r.conn.session.ephemerals {
		if strings.HasPrefix(path, prefix) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return &jute.GetChildrenResponse{Children: paths}, jute.CodeOK
}

// getAllChildrenNumber does getAllChildrenNumber: how many nodes are below one.
func getAllChildrenNumber(r *request) (encoder, jute.Code) {
	req, code := decode[jute.PathRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	if _, code := r.readable(req.Path, jute.PermRead); code != jute.CodeOK {
		return nil, code
	}
	number := int32(0)
	if req.Path == rootPath {
		number = int32(len(r.store.tree)) - 1
	} else {
		for path := range r.store.tree {
			if strings.HasPrefix(path, req.Path+"/") { // below "" is the root, too
				number++
			}
		}
	}
	return raw(jute.AppendInt32(nil, number)), jute.CodeOK
}

// whoAmI does whoAmI: a vector of schemes and users, without passwords.
func whoAmI(r *request) (encoder, jute.Code) {
	body := jute.AppendInt32(nil, int32(len(r.conn.identities)))
	for _, id := range r.conn.identities {
		user := id.ID
		if id.Scheme == schemeDigest {
			user, _, _ = strings.Cut(user, ":")
		}
		body = jute.AppendString(jute.AppendString(body, id.Scheme), user)
	}
	return raw(body), jute.CodeOK
}
