package framework

// fix returns the server's path for a path of this client.
func (c *Client) fix(p string, sequential bool) (string, error) {
	if c.nsErr != nil {
		return "", c.nsErr
	}
	if err := validatePath(p, sequential); err != nil {
		return "", err
	}
	prefix := c.core.chroot + c.prefix
	if p == "/" && prefix != "" && !sequential {
		return prefix, nil
	}
	return prefix + p, nil
}

// unfix is the reverse of fix, for paths that the server names. Those of another namespace stay as
// they are.
func (c *Client) unfix(p string) string { return withoutPrefix(p, c.core.chroot+c.prefix) }
