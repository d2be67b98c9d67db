package modeled

import (
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/internal/options"
)

// CachedOption is an option of Cached. A nil CachedOption is refused with framework.ErrInvalidOption.
type CachedOption interface{ apply(*cachedConfig) error }

type cachedOption func(*cachedConfig) error

func (o cachedOption) apply(c *cachedConfig) error { return o(c) }

// cachedConfig has the options of the cache.
type cachedConfig struct{ cache []cache.Option }

func newCachedConfig(opts []CachedOption) (cachedConfig, error) {
	c := cachedConfig{cache: []cache.Option{cache.WithoutData()}}
	err := options.Apply(&c, opts, CachedOption.apply)
	return c, err
}

// WithStartInBackground has Start return before the nodes are loaded, so a program may start before
// its servers; see cache.WithStartInBackground. Until then memory is empty, ReadThrough reads from
// the server, Await waits, and Updates does not begin.
//
// Java: start, which does not wait.
func WithStartInBackground() CachedOption {
	return cachedOption(func(c *cachedConfig) error {
		c.cache = append(c.cache, cache.WithStartInBackground())
		return nil
	})
}
