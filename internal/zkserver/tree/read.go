package tree

import (
	"slices"
	"strings"

	"github.com/go-curator/curator/internal/jute"
)

// ping does ping.
func ping(*request) (Body, jute.Code) { return nil, jute.CodeOK }

// syncPath does sync: one server is always up to date.
func syncPath(r *request) (Body, jute.Code) {
	req, code := decode[jute.PathRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	return &jute.SyncResponse{Path: req.Path}, jute.CodeOK
}

// exists does exists. Its watch is set whether the node is there or not.
func exists(r *request) (Body, jute.Code) {
	req, code := decode[jute.PathWatchRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	if strings.IndexByte(req.Path, 0) >= 0 {
		return nil, jute.CodeBadArguments
	}
	n := r.state.nodes.get(req.Path)
	if n != nil && r.state.release.existsNeedsRead() && !permits(n.acl, jute.PermRead, r.client.Identities) {
		return nil, jute.CodeNoAuth
	}
	if req.Watch {
		r.state.data.add(req.Path, r.client, oneShot)
	}
	if n == nil {
		return nil, jute.CodeNoNode
	}
	return &jute.StatResponse{Stat: n.stat()}, jute.CodeOK
}

// getData does getData.
func getData(r *request) (Body, jute.Code) {
	req, code := decode[jute.PathWatchRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	return readNode(r, r.op, req.Path, req.Watch)
}

// getChildren does getChildren and getChildren2, which has a Stat, too.
func getChildren(r *request) (Body, jute.Code) {
	req, code := decode[jute.PathWatchRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	return readNode(r, r.op, req.Path, req.Watch)
}

// readNode does one of getData, getChildren and getChildren2.
func readNode(r *request, op jute.Op, path string, watch bool) (Body, jute.Code) {
	n, code := r.readable(path, jute.PermRead)
	if code != jute.CodeOK {
		return nil, code
	}
	if op == jute.OpGetData {
		if watch {
			r.state.data.add(path, r.client, oneShot)
		}
		return &jute.GetDataResponse{Data: n.data, Stat: n.stat()}, jute.CodeOK
	}
	if watch {
		r.state.children.add(path, r.client, oneShot)
	}
	if op == jute.OpGetChildren {
		return &jute.GetChildrenResponse{Children: n.childNames()}, jute.CodeOK
	}
	return &jute.GetChildren2Response{Children: n.childNames(), Stat: n.stat()}, jute.CodeOK
}

// readable returns the node at path if it grants one of perms.
func (r *request) readable(path string, perms int32) (*node, jute.Code) {
	n := r.state.nodes.get(path)
	if n == nil {
		return nil, jute.CodeNoNode
	}
	if !permits(n.acl, perms, r.client.Identities) {
		return nil, jute.CodeNoAuth
	}
	return n, jute.CodeOK
}

// getACL does getACL. Only a client that may administer the node sees the digests.
func getACL(r *request) (Body, jute.Code) {
	req, code := decode[jute.PathRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	n, code := r.readable(req.Path, jute.PermRead|jute.PermAdmin)
	if code != jute.CodeOK {
		return nil, code
	}
	acl := n.acl
	if !permits(acl, jute.PermAdmin, r.client.Identities) {
		acl = withoutSecrets(acl)
	}
	return &jute.GetACLResponse{ACL: acl, Stat: n.stat()}, jute.CodeOK
}

// getEphemerals does getEphemerals: those of the session below a prefix, all for "/",
// sorted.
func getEphemerals(r *request) (Body, jute.Code) {
	req, code := decode[jute.PathRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	prefix := req.Path
	if strings.TrimSpace(prefix) == "" {
		prefix = rootPath
	}
	paths := []string{}
	for path := range r.client.Session.ephemerals {
		if strings.HasPrefix(path, prefix) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return &jute.GetChildrenResponse{Children: paths}, jute.CodeOK
}

// getAllChildrenNumber does getAllChildrenNumber: how many nodes are below one.
func getAllChildrenNumber(r *request) (Body, jute.Code) {
	req, code := decode[jute.PathRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	if _, code := r.readable(req.Path, jute.PermRead); code != jute.CodeOK {
		return nil, code
	}
	number := int32(0)
	if req.Path == rootPath {
		number = int32(len(r.state.nodes)) - 1
	} else {
		for path := range r.state.nodes {
			if strings.HasPrefix(path, req.Path+"/") { // below "" is the root, too
				number++
			}
		}
	}
	return Raw(jute.AppendInt32(nil, number)), jute.CodeOK
}

// whoAmI does whoAmI: a vector of schemes and users, without passwords.
func whoAmI(r *request) (Body, jute.Code) {
	body := jute.AppendInt32(nil, int32(len(r.client.Identities)))
	for _, id := range r.client.Identities {
		user := id.ID
		if id.Scheme == SchemeDigest {
			user, _, _ = strings.Cut(user, ":")
		}
		body = jute.AppendString(jute.AppendString(body, id.Scheme), user)
	}
	return Raw(body), jute.CodeOK
}
