package zkclient

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// ServerPath returns the server's path for a path of this client.
func (c *Client) ServerPath(p string) (string, error) { return c.Fix(p, false) }

// Fix is ServerPath, also for the path of a sequential node.
func (c *Client) Fix(p string, sequential bool) (string, error) {
	switch {
	case c == nil:
		return "", ErrNilClient
	case c.nsErr != nil:
		return "", c.nsErr
	}
	if err := ValidatePath(p, sequential); err != nil {
		return "", err
	}
	return c.Full(p, sequential), nil
}

// Full is Fix for a path that is valid.
func (c *Client) Full(p string, sequential bool) string {
	prefix := c.Root()
	if p == "/" && prefix != "" && !sequential {
		return prefix
	}
	return prefix + p
}

// ClientPath is the reverse of ServerPath, for paths that the server names. Those of another namespace stay
// as they are.
func (c *Client) ClientPath(full string) string { return WithoutPrefix(full, c.Root()) }

// Root is what the chroot and the namespace put before every path.
func (c *Client) Root() string { return c.cfg.Chroot + c.prefix }

// Prefix is what the namespace puts before every path.
func (c *Client) Prefix() string { return c.prefix }

// unrooted returns a path of the server's without the chroot.
func (c *Client) unrooted(full string) string {
	if rest := strings.TrimPrefix(full, c.cfg.Chroot); rest != "" {
		return rest
	}
	return "/"
}

// ValidatePath refuses paths that Java's client refuses, see ZooKeeper's PathUtils. Some of them a server
// would accept. The server appends digits to a sequential node's path, so that may end in a slash.
func ValidatePath(p string, sequential bool) error {
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

// NamespacePrefix returns what a namespace puts before every path.
func NamespacePrefix(namespace string) (string, error) {
	if namespace == "" {
		return "", nil
	}
	if strings.HasPrefix(namespace, "/") {
		return "", fmt.Errorf("namespace: %w %q: a namespace begins without a slash", ErrInvalidPath, namespace)
	}
	prefix := "/" + namespace
	if err := ValidatePath(prefix, false); err != nil {
		return "", fmt.Errorf("namespace: %w", err)
	}
	return prefix, nil
}

// WithoutPrefix returns the path below prefix. One that is not below it stays as it is.
func WithoutPrefix(p, prefix string) string {
	rest, ok := strings.CutPrefix(p, prefix)
	switch {
	case ok && rest == "":
		return "/"
	case ok && rest[0] == '/':
		return rest
	}
	return p
}

// Join returns the path of a child.
func Join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// split returns the parent and the name of a valid path other than "/".
func split(p string) (dir, name string) {
	i := strings.LastIndexByte(p, '/')
	if i == 0 {
		return "/", p[1:]
	}
	return p[:i], p[i+1:]
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
