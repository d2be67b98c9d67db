// Package options applies the options of the recipes.
package options

import (
	"fmt"

	"github.com/go-curator/curator/framework"
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
