package paths

import (
	"strings"
	"unicode/utf8"
)

// Make joins a parent, a child and what is below, with one slash between any two, one at
// the beginning and none at the end: Make("foo", "/bar/", "baz") is "/foo/bar/baz". What is
// empty or "/" is left out, and if nothing is left the path is "/".
//
// Of several slashes at an end of a part only one is taken away, as in Java: the result is
// valid if each part is. Other than in Java, Make("", "", "a") is "/a", not "//a".
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

// Node returns the name of the node at a path, what is behind the last slash: Node("/a/b")
// is "b", and Node("/") is "".
//
// Java: getNodeFromPath.
func Node(path string) string {
	_, node := ParentAndNode(path)
	return node
}

// ParentAndNode takes a path apart before its last name: "/a/b" into "/a" and "b", and "/a"
// into "/" and "a". The root has no name: it gives "/" and "". So does, with its own
// parent, what a sequential node without a name is created with: "/a/" gives "/a" and "".
//
// Java: getPathAndNode.
func ParentAndNode(path string) (parent, node string) {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/", path[i+1:]
	}
	return path[:i], path[i+1:]
}

// SequentialSuffix returns the last ten characters of a name or a path, which of a
// sequential node are its number, and a shorter one as a whole.
//
// A server that has counted beyond 2147483647 writes a minus sign and ten digits more; the
// sign is not in the result.
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
