package tree

import "strings"

// The nodes that are there from the start and can never be deleted.
const (
	rootPath   = "/"
	systemPath = "/zookeeper"
	quotaPath  = "/zookeeper/quota"
	configPath = "/zookeeper/config"
)

// isSystemPath tells whether path names a node that cannot be deleted.
func isSystemPath(path string) bool {
	return path == rootPath || path == systemPath || path == quotaPath || path == configPath
}

// parentOf returns the path of path's parent as the server splits it, before path has been
// checked: "" for a child of the root. It is false for what has no parent at all.
func parentOf(path string) (string, bool) {
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 || strings.IndexByte(path, 0) >= 0 {
		return "", false
	}
	return path[:slash], true
}

// isValidPath tells whether a node may have the path.
func isValidPath(path string) bool {
	if path == rootPath {
		return true
	}
	if !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") {
		return false
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if name == "" || name == "." || name == ".." {
			return false
		}
	}
	return strings.IndexFunc(path, isForbidden) < 0
}

// isForbidden tells whether no path may have the character: a control character, one of
// the private use areas and, because ZooKeeper looks at UTF-16, every one beyond U+FFFF.
// Bytes that are not UTF-8 arrive as U+FFFD, which is forbidden, too.
func isForbidden(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}
