package shared

import "github.com/go-curator/curator/recipes/internal/options"

// Option is an option of NewValue and NewCount.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type config struct {
	noCreate bool
}

// WithoutCreate makes Start not create the node: the seed is the value until another client
// creates the node. It is for readers, and for clients that may not write. Set, TrySet and
// Update still create the node. By default Start creates the node with the seed.
//
// Java: none; SharedCountReader and SharedValueReader are interfaces of a SharedCount and a
// SharedValue, which create the node.
func WithoutCreate() Option {
	return option(func(c *config) error {
		c.noCreate = true
		return nil
	})
}

func newConfig(opts []Option) (config, error) {
	var cfg config
	err := options.Apply(&cfg, opts, Option.apply)
	return cfg, err
}
