// Package options applies the options of the recipes.
package options

import (
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// Apply applies options to a configuration, in their order. apply is the method of O that applies
// one. Apply returns an error that matches framework.ErrInvalidOption for an option that is nil or
// whose apply fails. O is an interface or another type whose zero value is no option.
func Apply[C any, O comparable](c *C, opts []O, apply func(O, *C) error) error {
	var none O
	for i, o := range opts {
		if o == none {
			return fmt.Errorf("%w: option %d of %d is nil", framework.ErrInvalidOption, i+1, len(opts))
		}
		if err := apply(o, c); err != nil {
			return fmt.Errorf("%w: %w", framework.ErrInvalidOption, err)
		}
	}
	return nil
}

// ACL is what the option WithACL of every recipe is made of. A recipe's type embeds it, and applies it by Check.
// Nothing is kept in a configuration: the recipe's client has the ACL, see Configure.
type ACL struct{ acl zkclient.ACL }

// NewACL returns the option for a list, which it copies.
func NewACL(list []framework.ACL) *ACL { return &ACL{zkclient.NewACL(list)} }

// Check returns an error that matches framework.ErrInvalidACL if the list is empty, or if no server would accept
// one of its entries.
func (a *ACL) Check() error {
	if err := a.acl.Check(); err != nil {
		return fmt.Errorf("WithACL: %w", err)
	}
	return nil
}

func (a *ACL) list() zkclient.ACL { return a.acl }

// Configure is Apply for a recipe that makes nodes. It returns the client by which the recipe does everything:
// with WithACL a view, whose nodes get that ACL. The last WithACL counts.
func Configure[C any, O comparable](client *framework.Client, c *C, opts []O, apply func(O, *C) error) (*framework.Client, error) {
	if err := Apply(c, opts, apply); err != nil {
		return nil, err
	}
	for _, o := range opts {
		if a, ok := any(o).(interface{ list() zkclient.ACL }); ok {
			client = zkclient.WithACL(client, a.list())
		}
	}
	return client, nil
}
