package framework

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// validatePath refuses paths that Java's client refuses, see ZooKeeper's PathUtils. Some of them a server
// would accept. The server appends digits to a sequential node's path, so that may end in a slash.
func validatePath(p string, sequential bool) error {
	whole := p
	if sequential && (strings.HasSuffix(p, "/") || strings.HasSuffix(p, ".")) { // else a digit more changes nothing
		whole += "1"
	}
	if reason := pathError(whole); reason != "" {
		return fmt.Errorf("%w %q: %s", ErrInvalidPath, p, reason)
	}
	return nil
}

// pathError says what is wrong with p, "" if nothing is.
func pathError(p string) string {
	switch {
	case p == "":
		return "it is empty"
	case p[0] != '/':
		return "it does not begin with a slash"
	case !utf8.ValidString(p):
		return "it is not valid UTF-8"
	case p == "/":
		return ""
	case strings.HasSuffix(p, "/"):
		return "it ends in a slash"
	}
	for _, r := range p { // a server looks at UTF-16, in which those beyond U+FFFF are surrogates
		if r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0 {
			return fmt.Sprintf("it contains the character %U", r)
		}
	}
	for name := range strings.SplitSeq(p[1:], "/") {
		switch name {
		case "":
			return "it contains an empty name"
		case ".", "..":
			return "it contains a relative name"
		}
	}
	return ""
}

// split returns the parent and the name of a valid path other than "/".
func split(p string) (dir, name string) {
	i := strings.LastIndexByte(p, '/')
	if i == 0 {
		return "/", p[1:]
	}
	return p[:i], p[i+1:]
}

// join returns the path of a child.
func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// ancestors returns the paths above p, the topmost first, without "/" and without those
// that contain root.
func ancestors(p, root string) []string {
	var up []string
	for dir := path.Dir(p); dir != "/" && len(dir) > len(root); dir = path.Dir(dir) {
		up = append([]string{dir}, up...)
	}
	return up
}

// withoutPrefix returns the path below prefix. One that is not below it stays as it is.
func withoutPrefix(p, prefix string) string {
	rest, ok := strings.CutPrefix(p, prefix)
	switch {
	case ok && rest == "":
		return "/"
	case ok && rest[0] == '/':
		return rest
	}
	return p
}

// namespacePrefix returns what a namespace puts before every path.
func namespacePrefix(namespace string) (string, error) {
	if namespace == "" {
		return "", nil
	}
	if strings.HasPrefix(namespace, "/") {
		return "", fmt.Errorf("namespace: %w %q: a namespace begins without a slash", ErrInvalidPath, namespace)
	}
	prefix := "/" + namespace
	if err := validatePath(prefix, false); err != nil {
		return "", fmt.Errorf("namespace: %w", err)
	}
	return prefix, nil
}
