package paths

import "github.com/go-curator/curator/internal/layout"

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
