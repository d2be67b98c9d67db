package framework

import (
	"errors"

	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/internal/jute"
)

// WithSchemaSet has every operation refused, before it is sent, that the schemas do not
// permit: the error is a *schema.Violation. Paths are those without the namespace, and data
// is checked as it is given, not as it is compressed. What a recipe or the client does on
// its own, such as to create parents or to delete guaranteed nodes, is not checked, but for
// the creation of a lock's nodes.
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
