package cache

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/options"
)

// defaultMaxLag is long enough for writers without pauses, see docs/algorithms.md.
const defaultMaxLag = 100 * time.Millisecond

// Option is an option of the caches.
type Option interface{ apply(c *config) error }

type option func(c *config) error

func (o option) apply(c *config) error { return o(c) }

// shape is which nodes belong to a cache.
type shape int8

const (
	wholeTree    shape = iota
	nodeAlone          // the root
	childrenOnly       // the children of the root, without the root
)

type config struct {
	shape      shape
	name       string
	compressed bool
	dataless   bool
	selector   func(path string) (accept, descend bool) // nil for none
	maxLag     time.Duration
}

func newConfig(s shape, opts []Option) (config, error) {
	cfg := config{shape: s, maxLag: defaultMaxLag}
	err := options.Apply(&cfg, opts, Option.apply)
	return cfg, err
}

// choose tells whether the node at path, of the client, belongs to the contents, and whether
// what is below it is read.
func (c *config) choose(path string, isRoot bool) (accept, descend bool) {
	accept, descend = true, true
	if c.selector != nil && !(isRoot && c.shape == childrenOnly) {
		accept, descend = c.selector(path)
	}
	switch c.shape {
	case nodeAlone:
		descend = false
	case childrenOnly:
		accept, descend = accept && !isRoot, isRoot
	}
	return accept, descend
}

// WithName gives the cache a name, under which it is counted; see docs/observability.md. It must
// be one of a few that are known beforehand, such as "config": a text of one line with 128 bytes at
// most. Do not make it from user input or ids. Without a name a cache has no metrics; caches of
// one client with the same name are counted together.
//
// Java: none.
func WithName(name string) Option {
	return option(func(c *config) error {
		c.name = name
		return telemetry.CheckName("WithName", name)
	})
}

// WithCompressedData passes the data through the client's compression provider. A node
// whose data cannot be decompressed is treated as one that may not be read, and logged.
//
// Java: COMPRESSED_DATA.
func WithCompressedData() Option {
	return option(func(c *config) error {
		c.compressed = true
		return nil
	})
}

// WithoutData keeps no data in memory, only Stats: changes are noticed all the same. The data is
// read: listeners get it in the New of an event, and Typed keeps the values that it decodes.
// Snapshots have none, and so have the events of Updates.
//
// Java: CuratorCacheStorage.dataNotCached, TreeCache.Builder.setCacheData(false).
func WithoutData() Option {
	return option(func(c *config) error {
		c.dataless = true
		return nil
	})
}

// WithSelector restricts the cache to the nodes for which accept is true, with those that
// lead to them; what is below a node for which descend is false is not even read. path
// is the client's. selector must be a pure function; it is called by one goroutine at a time.
// With NewPathChildrenCache it is not asked about the node itself.
//
// Java: TreeCacheSelector, TreeCache.Builder.setMaxDepth.
func WithSelector(selector func(path string) (accept, descend bool)) Option {
	return option(func(c *config) error {
		if selector == nil {
			return errors.New("WithSelector: the selector is nil")
		}
		c.selector = selector
		return nil
	})
}

// WithMaxLag sets how long the cache holds changes back, for as long as others are coming
// in, to show a tree that the server had at one moment. When it has passed, a Snapshot is
// shown that is not Exact. The default is 100 ms; zero shows every read at once. It does not
// bound the first load, nor the comparison after a reconnect, which are shown when complete.
//
// Java: none.
func WithMaxLag(d time.Duration) Option {
	return option(func(c *config) error {
		if d < 0 {
			return fmt.Errorf("WithMaxLag(%v): less than zero", d)
		}
		c.maxLag = d
		return nil
	})
}
