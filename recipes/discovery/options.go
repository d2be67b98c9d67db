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

// WithWatchInstances takes over what others write into the nodes of registered instances, so that
// an operator can disable an instance by hand. What they write while the client is cut off may be
// overwritten after the reconnect, and data that cannot be decoded, or that names another
// instance, are ignored until then. It costs a watch and a read for each registered instance. The
// default takes no notice.
//
// Java: watchInstances(true).
func WithWatchInstances() Option {
	return option(func(c *config) error {
		c.watch = true
		return nil
	})
}

// WithPath sets the path of the node whose children are the instances of a service; the default
// is basePath/name. path must be a pure function, and is called by several goroutines. What it
// returns for a name is checked when the name is used: framework.ErrInvalidPath. Names may have
// slashes then. QueryForNames lists the children of basePath all the same.
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

// WithName gives the ServiceDiscovery a name for metrics: that of its nodes, curator.node.name,
// and of its caches, curator.cache.name. Without a name neither is counted: metrics have no paths.
// The name must be one of a few that are known beforehand, such as "services", of at most 128
// bytes. Do not make it from user input or ids.
//
// Java: none.
func WithName(name string) Option {
	return option(func(c *config) error {
		c.name = name
		return telemetry.CheckName("WithName", name)
	})
}
