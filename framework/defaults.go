package framework

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-curator/curator/internal/jute"
)

// WithACLProvider sets the ACL of creates that give none. If p is an ACLDefaulter, too, it may
// leave paths to its default. Without this option every node is open to everyone.
//
// Java: aclProvider.
func WithACLProvider(p ACLProvider) Option {
	return option(func(c *config) error {
		if p == nil {
			return errors.New("WithACLProvider: the provider is nil")
		}
		c.aclProvider = p
		return nil
	})
}

// WithCompressionProvider sets how data is compressed, by the steps Compressed and
// Decompressed or always, see WithCompression. The default is GzipCompressionProvider.
//
// Java: compressionProvider.
func WithCompressionProvider(p CompressionProvider) Option {
	return option(func(c *config) error {
		if p == nil {
			return errors.New("WithCompressionProvider: the provider is nil")
		}
		c.compression = p
		return nil
	})
}

// WithCompression compresses and decompresses the data of every operation without a step that
// says otherwise. Uncompressed nodes can then be read only with Undecompressed. Nodes of locks
// and other recipes are not compressed.
//
// Java: enableCompression.
func WithCompression() Option {
	return option(func(c *config) error {
		c.compressAll = true
		return nil
	})
}

// defaultACL returns the ACL for a node whose create gives none.
func (c *Client) defaultACL(full string) ([]jute.ACL, error) {
	provider := c.core.cfg.aclProvider
	if provider == nil {
		return openACL, nil
	}
	acl := provider.ACLForPath(c.core.unrooted(full))
	if d, ok := provider.(ACLDefaulter); ok && len(acl) == 0 {
		acl = d.DefaultACL()
	}
	if len(acl) == 0 {
		return nil, fmt.Errorf("%w: the ACL provider has none for %s", ErrInvalidACL, c.core.unrooted(full))
	}
	return wireACL(acl), nil
}

// unrooted returns a path of the server's without the chroot.
func (c *core) unrooted(full string) string {
	if rest := strings.TrimPrefix(full, c.chroot); rest != "" {
		return rest
	}
	return "/"
}

// compress returns data as it is to be stored, never nil, because programs in Java do not expect nodes
// with null data.
func (c *Client) compress(full string, data []byte, yes, no bool) ([]byte, error) {
	if data == nil {
		data = []byte{}
	}
	switch {
	case yes && no:
		return nil, fmt.Errorf("%w: Compressed and Uncompressed", ErrInvalidBuilder)
	case !yes && (no || !c.core.cfg.compressAll):
		return data, nil
	}
	packed, err := c.core.cfg.compression.Compress(c.unfix(full), data)
	if err != nil {
		return nil, fmt.Errorf("compress the data: %w", err)
	}
	if packed == nil {
		packed = []byte{}
	}
	return packed, nil
}
