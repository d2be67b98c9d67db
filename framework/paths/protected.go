package paths

import "strings"

// A protected node's name begins with an id: see framework.CreateBuilder.WithProtection.
const (
	protectedMark = "_c_"
	idLength      = len("00000000-0000-0000-0000-000000000000")
)

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
	rest, ok := strings.CutPrefix(name, protectedMark)
	if !ok || len(rest) <= idLength || rest[idLength] != '-' || !isUUID(rest[:idLength]) {
		return "", false
	}
	return rest[:idLength], true
}

// Unprotected returns a node's name without the prefix of protection. A name that is not
// protected is returned unchanged.
//
// Java: ProtectedUtils.normalize.
func Unprotected(name string) string {
	if !IsProtected(name) {
		return name
	}
	return name[len(protectedMark)+idLength+1:]
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
	return protectedMark + id + "-" + name
}

// isUUID tells whether s has the form of a UUID.
func isUUID(s string) bool {
	for i, c := range []byte(s) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
				return false
			}
		}
	}
	return true
}
