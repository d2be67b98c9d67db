// Package paths joins and splits paths of ZooKeeper. It also has functions for trees that need
// several operations: creating a path, deleting the children of a node, ensuring containers.
//
// The operations on a tree are not atomic. They tolerate nodes that others create and delete
// meanwhile, and such nodes may exist, or not, when a function returns. A function that fails
// may have done a part of its work; another call continues with the rest.
//
// [Make], [Split], [Node], [ParentAndNode] and [SequentialSuffix] only handle text: they accept
// every string and do not validate it. The operation that gets the path validates it. The other
// functions use the given client, with its namespace and its retry policy, and return its
// errors; their contexts bound the call. All functions, and [EnsureContainers], are safe for
// concurrent use. No goroutine is left when they return.
//
// The counterparts in Java are org.apache.curator.utils.ZKPaths, which fails on paths that
// are not valid, and org.apache.curator.framework.EnsureContainers.
package paths

import (
	"strings"
	"unicode/utf8"

	"github.com/go-curator/curator/internal/layout"
)

// Make joins a parent, a child and further children, with one slash between any two, one at the
// beginning and none at the end: Make("foo", "/bar/", "baz") is "/foo/bar/baz". Parts that are
// empty or "/" are left out; if no part is left the path is "/".
//
// If a part has several slashes at one end, only one of them is removed, as in Java: the result
// is valid if each part is valid. Unlike in Java, Make("", "", "a") is "/a", not "//a".
//
// Java: makePath.
func Make(parent, child string, rest ...string) string {
	var path strings.Builder
	if parent != "" && parent != "/" {
		if parent[0] != '/' {
			path.WriteByte('/')
		}
		path.WriteString(strings.TrimSuffix(parent, "/"))
	}
	for _, part := range append([]string{child}, rest...) {
		if part == "" || part == "/" {
			continue
		}
		path.WriteByte('/')
		path.WriteString(strings.TrimSuffix(strings.TrimPrefix(part, "/"), "/"))
	}
	if path.Len() == 0 {
		return "/"
	}
	return path.String()
}

// Split returns the names in a path: Split("/a/b") is "a" and "b". There are none in "/".
// Empty names are left out.
//
// Java: split.
func Split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// Node returns the name of the node at a path, which is the text after the last slash:
// Node("/a/b") is "b", and Node("/") is "".
//
// Java: getNodeFromPath.
func Node(path string) string {
	_, node := ParentAndNode(path)
	return node
}

// ParentAndNode splits a path before its last name: "/a/b" into "/a" and "b", and "/a" into "/"
// and "a". The root has no name: it gives "/" and "". The path of a create of a sequential node
// without a name has no last name either: "/a/" gives "/a" and "".
//
// Java: getPathAndNode.
func ParentAndNode(path string) (parent, node string) {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/", path[i+1:]
	}
	return path[:i], path[i+1:]
}

// SequentialSuffix returns the last ten characters of a name or a path, or all of a shorter
// text. For a sequential node they are its number.
//
// A server that has counted beyond 2147483647 writes a minus sign and ten digits; the sign is
// not in the result.
//
// Java: extractSequentialSuffix.
func SequentialSuffix(name string) string {
	start := len(name)
	for range 10 {
		_, size := utf8.DecodeLastRuneInString(name[:start])
		start -= size
	}
	return name[start:]
}

// IsProtected reports whether a node's name has the prefix of protection.
//
// Java: ProtectedUtils.isProtectedZNode.
func IsProtected(name string) bool {
	_, ok := ProtectedID(name)
	return ok
}

// ProtectedID returns the id in the prefix of a protected node's name, a UUID.
//
// Java: ProtectedUtils.extractProtectedId.
func ProtectedID(name string) (id string, ok bool) {
	id, _ = layout.CutProtection(name)
	return id, id != ""
}

// Unprotected returns a node's name without the prefix of protection. A name that is not
// protected is returned unchanged.
//
// Java: ProtectedUtils.normalize.
func Unprotected(name string) string {
	_, rest := layout.CutProtection(name)
	return rest
}

// UnprotectedPath is Unprotected for the last name of a path.
//
// Java: ProtectedUtils.normalizePath.
func UnprotectedPath(path string) string {
	node := Node(path)
	return path[:len(path)-len(node)] + Unprotected(node)
}

// Protected returns a node's name with the prefix of protection and the given id. The id must
// be a UUID, or the name is not recognized. With an empty id, Java's null, the name is
// unchanged.
//
// Java: ProtectedUtils.toProtectedZNode.
func Protected(name, id string) string {
	if id == "" {
		return name
	}
	return layout.Protected(name, id)
}
