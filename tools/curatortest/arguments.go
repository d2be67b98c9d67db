package curatortest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-curator/curator/internal/jute"
)

// mustHaveTB ends a test that passes no testing.TB: there is nobody else to tell.
func mustHaveTB(tb TB, call string) {
	if tb == nil {
		panic("curatortest: " + call + ": tb is nil")
	}
}

// checkDirection fails the test, and is false, if d is none of the directions.
func checkDirection(tb TB, call string, d Direction) bool {
	if d >= Both && d <= ToClient {
		return true
	}
	tb.Helper()
	tb.Fatalf("%s: the direction is %v: it must be Both, ToServer or ToClient", call, d)
	return false
}

// mistake returns why no request can ever meet the rule, or "".
func (r Rule) mistake() string {
	switch fate := r.Do; {
	case r.Op != "" && r.Op != "createSession" && !isOperation(r.Op):
		return fmt.Sprintf("Op is %q: there is no such operation", r.Op)
	case r.Path != "" && !strings.HasPrefix(r.Path, "/"):
		return fmt.Sprintf("Path is %q: it must begin with a slash", r.Path)
	case r.Times < 0:
		return fmt.Sprintf("Times is %d: it must not be below 0", r.Times)
	case fate.fails && fate.err == nil:
		return "Do is Fail(nil): there is no error to answer with"
	case fate.after < 0:
		return fmt.Sprintf("Do is Delay(%v): it must not be below 0", fate.after)
	}
	return ""
}

// isOperation tells whether an operation has the name.
func isOperation(name string) bool {
	for op := jute.OpClose; op <= jute.OpWhoAmI; op++ {
		if jute.OpName(op) == name {
			return op != jute.OpError
		}
	}
	return false
}

// node is a node that a server starts with.
type node struct{ path, data string }

// maxNode bounds the length of a node that a server starts with, so that a client can read it.
const maxNode = 1<<20 - 1<<10

// newNodes returns the given nodes and those above them, parents first, or why that cannot be.
func newNodes(given map[string]string) (nodes []node, why string) {
	all := map[string]string{}
	for path, data := range given {
		switch {
		case path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/"):
			return nil, path + " is ZooKeeper's own"
		case !strings.HasPrefix(path, "/") || path == "/":
			return nil, fmt.Sprintf("%q does not begin with a slash and a name", path)
		case len(path)+len(data) > maxNode:
			return nil, fmt.Sprintf("%s has %d bytes: more than a client could read", path, len(data))
		}
		all[path] = data
		for above := path[:strings.LastIndexByte(path, '/')]; above != ""; above = above[:strings.LastIndexByte(above, '/')] {
			all[above] = given[above]
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		nodes = append(nodes, node{path, all[path]})
	}
	return nodes, ""
}

// refusedNode is the error about a node that a server does not take.
func refusedNode(n node, code jute.Code) error {
	if code == jute.CodeOK {
		return nil
	}
	return fmt.Errorf("%w: WithNodes: %q is no path, or cannot be created (%d)", ErrInvalidOption, n.path, code)
}
