package cache

import "strings"

// paths translates between the paths of the client and those of the server.
type paths struct{ root, full string }

// server returns the server's path for a path of the client.
func (p paths) server(path string) string {
	if p.root == p.full {
		return path
	}
	return swapRoot(path, p.root, p.full)
}

// client returns the client's path for a path of the server.
func (p paths) client(full string) string {
	if p.root == p.full {
		return full
	}
	return swapRoot(full, p.full, p.root)
}

// swapRoot replaces the root at the beginning of a path.
func swapRoot(path, from, to string) string {
	rest := strings.TrimPrefix(path, from)
	if from == "/" && path != "/" {
		rest = path
	}
	if to == "/" && rest != "" {
		return rest
	}
	return to + rest
}

// join returns the path of a child.
func join(parent, name string) string {
	if parent == "/" {
		return parent + name
	}
	return parent + "/" + name
}

// parentOf returns the path of the parent of a node that is not the root of the server.
func parentOf(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 1)] }
