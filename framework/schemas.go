package framework

import (
	"errors"

	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/internal/jute"
)

// WithSchemaSet makes the client refuse every operation that the schemas do not permit, before
// it is sent. The error is a *schema.Violation. Paths are without the namespace, and data is
// checked before compression. Operations that a recipe or the client adds, such as creating
// parents or guaranteed deletes, are not checked, except the creation of a lock's nodes.
//
// Java: schemaSet.
func WithSchemaSet(set *schema.Set) Option {
	return option(func(c *config) error {
		if set == nil {
			return errors.New("WithSchemaSet: the set is nil")
		}
		c.schemas = set
		return nil
	})
}

// SchemaSet returns the set of WithSchemaSet, or nil, which permits everything.
//
// Java: getSchemaSet.
func (c *Client) SchemaSet() *schema.Set {
	if c == nil || c.core == nil {
		return nil
	}
	return c.core.cfg.schemas
}

// schemaACL returns an ACL as schemas know it.
func schemaACL(acl []jute.ACL) []schema.ACL {
	list := make([]schema.ACL, len(acl))
	for i, a := range acl {
		list[i] = schema.ACL{Perms: a.Perms, Scheme: a.ID.Scheme, ID: a.ID.ID}
	}
	return list
}
