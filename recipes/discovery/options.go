package discovery

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
)

// Option is an option of NewServiceDiscovery. A nil Option is refused with
// framework.ErrInvalidOption.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

// config is what options set.
type config struct {
	watch bool                     // the nodes of registered instances
	path  func(name string) string // nil for basePath/name
	name  string                   // in metrics; "" for none
}

func newConfig(opts []Option) (config, error) {
	var c config
	for _, o := range opts {
		if o == nil {
			return c, fmt.Errorf("%w: an option is nil", framework.ErrInvalidOption)
		}
		if err := o.apply(&c); err != nil {
			return c, fmt.Errorf("%w: %w", framework.ErrInvalidOption, err)
		}
	}
	return c, nil
}

// WithWatchInstances accepts changes that others write into the nodes of registered instances,
// so an operator can disable an instance by hand. Changes that they write while the client is
// cut off may be overwritten after the reconnect. Data that cannot be decoded, or that names
// another instance, is ignored until then. It costs a watch and a read for each registered
// instance. By default such changes are ignored.
//
// What an operator writes lasts until the next Update or Register of the instance by its owner,
// which writes all of it: "enabled":false, too. An owner that calls Update from time to time, for
// example with its load, should take Disabled from QueryForInstance.
//
// Java: watchInstances(true).
func WithWatchInstances() Option {
	return option(func(c *config) error {
		c.watch = true
		return nil
	})
}

// WithPath sets the path of the node whose children are the instances of a service; the default
// is basePath/name. path must be a pure function, and is called by several goroutines. Its
// result for a name is checked when the name is used: framework.ErrInvalidPath. QueryForNames
// still lists the children of basePath.
//
// Java: DiscoveryPathConstructor.
func WithPath(path func(name string) string) Option {
	return option(func(c *config) error {
		if path == nil {
			return errors.New("WithPath: the function is nil")
		}
		c.path = path
		return nil
	})
}

// WithName sets the name of the ServiceDiscovery in metrics: curator.node.name of its nodes and
// curator.cache.name of its caches. Without a name neither is counted, because metrics have no
// paths. Use a small fixed set of names, such as "services", of at most 128 bytes. Do not make
// a name from user input or ids.
//
// Java: none.
func WithName(name string) Option {
	return option(func(c *config) error {
		c.name = name
		return telemetry.CheckName("WithName", name)
	})
}
