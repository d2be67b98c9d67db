package shared

import (
	"fmt"

	"github.com/go-curator/curator/framework"
)

// Option is an option of NewValue and NewCount.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	noCreate bool
}

// WithoutCreate leaves the creation of the node to others: the seed is the value until the node
// is seen. It is for readers, and for clients that may not write. Set, TrySet and Update create
// the node all the same. The default is that Start creates the node with the seed.
//
// Java: SharedCountReader, SharedValueReader.
func WithoutCreate() Option { return option(func(c *config) { c.noCreate = true }) }

func newConfig(opts []Option) (config, error) {
	var cfg config
	for _, o := range opts {
		if o == nil {
			return cfg, fmt.Errorf("%w: an option is nil", framework.ErrInvalidOption)
		}
		o.apply(&cfg)
	}
	return cfg, nil
}
