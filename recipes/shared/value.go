package shared

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/internal/options"
)

// VersionedValue is a value with its version and its zxid, which orders values.
//
// Java: VersionedValue.
type VersionedValue[T any] struct {
	Value   T
	Version int32 // of the node's data; -1 while there is no node
	Zxid    int64 // of the change that set the value, the node's mzxid; -1 while there is no node
}

// Value is a value that processes share. Values are not copied, so they must not be changed. A
// nil *Value, and the zero value, has T's zero value and cannot be started.
//
// When the node is deleted, the last value stays, and the next Set creates the node again. The
// last value also stays when the node has data that cannot be decoded (codec.ErrDecode). A
// failure is logged once, and once more when it is over.
//
// Java: SharedValue.
type Value[T any] struct {
	client *framework.Client
	api    *zkclient.Client
	view   framework.WatcherRemovingView
	path   string
	seed   []byte
	codec  codec.Codec[T]
	cfg    config

	life    lifecycle.Lifecycle
	watcher *framework.Watcher
	wake    wait.Signal   // tells of an event
	loaded  chan struct{} // closed when Start has succeeded
	changes listen.Set[VersionedValue[T]]
	changed func(before, now T) // set by Count; is called in the order of the changes

	latest atomic.Pointer[known[T]]
	mu     sync.Mutex // held while latest is replaced
}

// known is what is known of the value at one moment.
type known[T any] struct {
	VersionedValue[T]
	epoch    int64         // of the servers' data, see zkconn.Conn.Epoch
	replaced chan struct{} // closed when there is a newer one
}

var _ framework.Component = (*Value[string])(nil)

// NewValue returns the value at path. Start creates the node with the seed unless there is one;
// see WithoutCreate. NewValue does no I/O. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidOption for a nil codec, a nil option and a seed that cannot be encoded,
// framework.ErrNotStarted for a nil client.
//
// Java: SharedValue, for codec.Bytes.
func NewValue[T any](client *framework.Client, path string, seed T, c codec.Codec[T], opts ...Option) (*Value[T], error) {
	v := new(Value[T])
	if err := v.init(client, path, seed, c, opts); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *Value[T]) init(client *framework.Client, path string, seed T, c codec.Codec[T], opts []Option) error {
	if _, err := zkclient.Of(client).ServerPath(path); err != nil {
		return err
	}
	if c == nil {
		return fmt.Errorf("%w: the codec is nil", framework.ErrInvalidOption)
	}
	client, cfg, err := newConfig(client, opts)
	if err != nil {
		return err
	}
	data, err := c.Encode(seed)
	if err != nil {
		return fmt.Errorf("%w: the seed: %w", framework.ErrInvalidOption, err)
	}
	v.client, v.api, v.path, v.seed, v.codec, v.cfg = client, zkclient.Of(client), path, data, c, cfg
	v.view = client.WatcherRemovingView()
	v.wake, v.loaded = wait.NewSignal(), make(chan struct{})
	v.changes.Limit(listen.MaxStates, listen.Newest)
	if cfg.background {
		v.life.InBackground(lifecycle.Background{Client: client, What: "shared value " + path})
	}
	v.watcher = framework.NewWatcher(func(context.Context, framework.WatchedEvent) { v.wake.Set() })
	v.latest.Store(&known[T]{
		VersionedValue: VersionedValue[T]{Value: seed, Version: -1, Zxid: -1},
		replaced:       make(chan struct{}),
	})
	return nil
}

// usable returns why the value cannot be used, if it cannot.
func (v *Value[T]) usable() error {
	if v == nil || v.watcher == nil {
		return framework.ErrNotStarted
	}
	return v.life.Started()
}

// Start reads the value, or creates the node with the seed, and begins to follow it. ctx bounds only Start.
// With WithStartInBackground it does not wait. When Start fails nothing was started, but the node may have
// been created. Errors: codec.ErrDecode, framework.ErrAlreadyStarted, framework.ErrClosed,
// framework.ErrNotStarted for a nil value, ctx's error, or the server's. See framework.Component.
//
// Java: start.
func (v *Value[T]) Start(ctx context.Context) error {
	if v == nil || v.watcher == nil {
		return framework.ErrNotStarted
	}
	err := v.life.Start(ctx, v.begin, v.follow)
	if err != nil {
		return fmt.Errorf("shared value %s: %w", v.path, err)
	}
	return nil
}

// Close stops following, removes the watches and joins every goroutine; the last value stays.
// It is idempotent, allowed before Start, and works with an ended ctx: it then waits for a
// second at most. Its error says that listeners are still running.
//
// Java: close.
func (v *Value[T]) Close(ctx context.Context) error {
	if v == nil || v.watcher == nil {
		return nil
	}
	if ctx == nil {
		return zkclient.ErrNilContext
	}
	ctx, cancel := lifecycle.CleanUp(ctx)
	defer cancel()
	err := v.life.Close(ctx, nil)
	if err = errors.Join(err, v.end(ctx)); err != nil {
		return fmt.Errorf("shared value %s: %w", v.path, err)
	}
	return nil
}

// end gives back what a Start that has failed may have set, too.
func (v *Value[T]) end(ctx context.Context) error {
	v.unwatch(ctx)
	return v.changes.Close(ctx)
}

// unwatch removes the watches.
func (v *Value[T]) unwatch(ctx context.Context) {
	asking, cancel := lifecycle.Reachable(ctx, v.api)
	defer cancel()
	// A server that cannot be asked to forgets the watches with the connection.
	_ = v.view.RemoveWatchers(asking)
}

// Get returns the last known value, which may be behind.
//
// Java: getValue.
func (v *Value[T]) Get() T { return v.VersionedValue().Value }

// VersionedValue returns the last known value with its version, or the seed.
//
// Java: getVersionedValue.
func (v *Value[T]) VersionedValue() VersionedValue[T] {
	if v == nil || v.watcher == nil {
		return VersionedValue[T]{Version: -1, Zxid: -1}
	}
	return v.latest.Load().VersionedValue
}

// Updates iterates over the value: first over the last known value, then over newer values,
// until ctx ends, Close is called or the client is closed. After a slow loop body the latest value comes
// next, not every value.
// Before Start, Updates waits for Start. With a nil ctx it ends immediately.
//
// Java: none.
func (v *Value[T]) Updates(ctx context.Context) iter.Seq[VersionedValue[T]] {
	return func(yield func(VersionedValue[T]) bool) {
		if ctx == nil || v == nil || v.watcher == nil {
			return
		}
		closed := v.life.Done()
		next := v.loaded
		for {
			select {
			case <-next:
			case <-ctx.Done():
				return
			case <-closed:
				return
			case <-v.client.Done():
				return
			}
			if ctx.Err() != nil || errors.Is(v.life.Started(), framework.ErrClosed) { // Start may not have returned yet
				return // select chooses at random
			}
			now := v.latest.Load()
			if !yield(now.VersionedValue) {
				return
			}
			next = now.replaced
		}
	}
}

// Listenable takes listeners for changes. They get the new value; fast changes may be merged. Up to
// 1,024 values wait for a slow listener; of those that come while that many wait it gets the newest.
// Get returns this value, or a newer one, already. The value that Start reads is no change, except
// with WithStartInBackground. To miss none, add a listener before Start, and call Get after Start, or
// call Get after Add.
//
// Java: getListenable.
func (v *Value[T]) Listenable() listen.Listenable[VersionedValue[T]] {
	if v == nil {
		return listen.Listenable[VersionedValue[T]]{}
	}
	return v.changes.Listenable()
}

// isNewer reports whether a value of a zxid is newer than the known one.
func (k *known[T]) isNewer(epoch, zxid int64) bool {
	return epoch > k.epoch || epoch == k.epoch && zxid > k.Zxid
}

// take takes a value over, unless a newer one is known. A server that lags behind the last one
// may serve the client's next session, and the reply to a read may come behind that to a write.
// epoch is that of before the request. If it is over, the value is read again.
func (v *Value[T]) take(value T, stat framework.Stat, epoch int64) VersionedValue[T] {
	now := VersionedValue[T]{Value: value, Version: stat.Version, Zxid: stat.Mzxid}
	if epoch != v.api.Epoch() {
		v.wake.Set()
		return now
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.latest.Load()
	if !before.isNewer(epoch, now.Zxid) {
		return now
	}
	v.latest.Store(&known[T]{VersionedValue: now, epoch: epoch, replaced: make(chan struct{})})
	close(before.replaced)
	if !v.told() {
		return now
	}
	v.changes.Notify(now) // queues only; under mu, so that listeners hear the changes in order
	if v.changed != nil {
		v.changed(before.Value, value)
	}
	return now
}

// told reports whether listeners are told of a new value: what Start reads is no change, unless nobody
// waits for it.
func (v *Value[T]) told() bool {
	select {
	case <-v.loaded:
		return true
	default:
		return v.cfg.background
	}
}

// Option is an option of NewValue and NewCount.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type aclOption struct{ *options.ACL }

func (o aclOption) apply(*config) error { return o.Check() }

type config struct {
	noCreate   bool
	background bool // Start does not wait
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

// WithACL sets the ACL of the value's node, and of the parents that are missing, when Start, Set, TrySet or Update
// creates them. The nodes of a namespace get the client's ACL, because others use them, too. A node that exists
// keeps its ACL.
//
// The list must permit the users of the value, this client included, what they do: to read and to write it, and
// to create below its parents.
// An empty list, an entry that no server accepts, and one that permits nothing are refused with
// framework.ErrInvalidACL. No server is asked for that: if one refuses the list, what creates a node fails with
// framework.ErrInvalidACL. Without the option nodes get the client's ACL: see framework.WithDefaultACL.
//
// Java: none; there the client's ACLProvider chooses.
func WithACL(acl ...framework.ACL) Option { return aclOption{options.NewACL(acl)} }

// WithStartInBackground has Start return nil when it has checked what it can check without a server,
// so a program may start before its servers. Start then refuses a context that has ended, a client
// that is not started (framework.ErrNotStarted) or is closed (framework.ErrClosed), and a second
// Start. Its context does not matter any more when it has returned: the value is read, or its node
// is created, in the background until that succeeds or Close is called.
//
// After the loss of the connection the next try follows the next connection. After an error that
// another try may not change, such as framework.ErrNoAuth or codec.ErrDecode, it follows a pause,
// which grows from a second to 30 s, or the next connection. The logger gets the first failure, the
// first such error, and the end of the failures; UnhandledErrorListenable of the client gets the
// first such error.
//
// Until then the value is the seed, with Zxid -1; a semaphore whose count it is uses the seed. Set,
// TrySet and Update work. Updates begins when Start would have returned. Listeners are told the first
// value, too: it is a change of the seed.
//
// By default Start waits, and fails when the client's retry policy gives up.
//
// Java: none; start waits, and fails.
func WithStartInBackground() Option {
	return option(func(c *config) error {
		c.background = true
		return nil
	})
}

// newConfig applies options, and returns the client that the value is to use.
func newConfig(client *framework.Client, opts []Option) (*framework.Client, config, error) {
	var cfg config
	client, err := options.Configure(client, &cfg, opts, Option.apply)
	return client, cfg, err
}
