package tree

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Check returns what cannot be in a State.
func (st *State) Check() error {
	return errors.Join(st.checkNodes(), st.checkSessions(), st.data.check("data"), st.children.check("children"))
}

func (st *State) checkNodes() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	children := 0
	for path, n := range st.nodes {
		if !isValidPath(path) {
			wrong("%q is no path", path)
		}
		if parent, _ := parentOf(path); path != rootPath {
			if above := st.nodes.get(parent); above == nil {
				wrong("%q has no parent", path)
			} else if _, listed := above.children[path[len(parent)+1:]]; !listed {
				wrong("%q is no child of its parent", path)
			}
		}
		children += len(n.children)
		if n.kind == ephemeral && len(n.children) > 0 {
			wrong("%q is ephemeral and has children", path)
		}
		if max(n.czxid, n.mzxid, n.pzxid) > st.zxid {
			wrong("%q: %+v at %d", path, n.stat(), st.zxid)
		}
		owner := st.sessions[n.owner]
		if n.kind != ephemeral {
			continue
		}
		if owner == nil {
			wrong("%q is of a session that is over", path)
		} else if _, listed := owner.ephemerals[path]; !listed {
			wrong("%q is not in the list of its session", path)
		}
	}
	if children != len(st.nodes)-1 {
		wrong("%d nodes have %d children", len(st.nodes), children)
	}
	return errors.Join(errs...)
}

func (st *State) checkSessions() error {
	for id, sess := range st.sessions {
		for path := range sess.ephemerals {
			if n := st.nodes[path]; n == nil || n.kind != ephemeral || n.owner != id {
				return fmt.Errorf("%q is no ephemeral node of session %d", path, id)
			}
		}
	}
	return nil
}

func (w *watchTable) check(name string) error {
	watches := 0
	for path, clients := range w.byPath {
		for c := range clients {
			if _, ok := w.byClient[c][path]; !ok {
				return fmt.Errorf("%s: the watch on %q is not in its client's list", name, path)
			}
		}
		watches += len(clients)
	}
	for _, paths := range w.byClient {
		watches -= len(paths)
	}
	if watches != 0 {
		return fmt.Errorf("%s: %d watches more by path than by client", name, watches)
	}
	return nil
}

// Dump returns all nodes and the lists of sessions, but for zxids of transactions that have
// changed nothing.
func (st *State) Dump() string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(st.nodes)) {
		n := st.nodes[path]
		fmt.Fprintf(&b, "%q %q %v %d %+v %q\n", path, n.data, n.acl, n.kind, n.stat(), n.childNames())
	}
	for _, id := range st.Sessions() {
		fmt.Fprintf(&b, "%d %q\n", id, slices.Sorted(maps.Keys(st.sessions[id].ephemerals)))
	}
	fmt.Fprintf(&b, "%q\n", slices.Sorted(maps.Keys(st.quotas.paths)))
	return b.String()
}
