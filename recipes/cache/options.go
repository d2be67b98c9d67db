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
	background bool // Start does not wait
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

// WithName gives the cache a name in metrics; see docs/observability.md. Use a small fixed set
// of names, such as "config", of one line with 128 bytes at most. Do not make a name from user
// input or ids. Without a name a cache has no metrics; caches of one client with the same name
// are counted together.
//
// Java: none.
func WithName(name string) Option {
	return option(func(c *config) error {
		c.name = name
		return telemetry.CheckName("WithName", name)
	})
}

// WithCompressedData passes the data through the client's compression provider. A node whose
// data cannot be decompressed is treated like an unreadable node, and logged.
//
// Java: COMPRESSED_DATA.
func WithCompressedData() Option {
	return option(func(c *config) error {
		c.compressed = true
		return nil
	})
}

// WithoutData keeps no data in memory, only Stats. Changes are still noticed. The data is still
// read: listeners get it in the New of an event, and Typed keeps the decoded values. Data that was
// read before there was a listener is read again for its events. Snapshots, the events of Updates,
// and NodeReadable have no data.
//
// Java: CuratorCacheStorage.dataNotCached, TreeCache.Builder.setCacheData(false).
func WithoutData() Option {
	return option(func(c *config) error {
		c.dataless = true
		return nil
	})
}

// WithSelector restricts the cache to the nodes for which accept is true, and their parents.
// Nodes below a node for which descend is false are not read. path is the client's path.
// selector must be a pure function; it is called by one goroutine at a time. With
// NewPathChildrenCache it is not called for the node itself.
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

// WithMaxLag sets how long the cache holds changes back while more changes come in, to show a
// tree that the server had at one moment. After this time it shows a Snapshot that is not
// Exact. The default is 100 ms; zero shows every read immediately. It does not limit the first
// load and the comparison after a reconnect, which are shown when complete.
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

// WithStartInBackground has Start return nil when it has checked what it can check without a server,
// so a program may start before its servers. Start then refuses a context that has ended, a client
// that is not started (framework.ErrNotStarted) or is closed (framework.ErrClosed), and a second
// Start. Its context does not matter any more when it has returned: the cache is loaded in the
// background until that succeeds or Close is called.
//
// After the loss of the connection the next try follows the next connection. After an error that
// another try may not change, such as framework.ErrNoAuth, it follows a pause, which grows from a
// second to 30 s, or the next connection. The logger gets the first failure, the first such error,
// and the end of the failures; UnhandledErrorListenable of the client gets the first such error.
//
// Until then the Snapshot is empty and not Exact, and Await waits. The cache may be Stale if it has lost
// a connection while it was being loaded. When it is loaded, Updates begins, and listeners get the nodes
// and Initialized.
//
// By default Start waits, and fails when the client's retry policy gives up.
//
// Java: start of all caches, which does not wait, and the event initialized.
func WithStartInBackground() Option {
	return option(func(c *config) error {
		c.background = true
		return nil
	})
}
