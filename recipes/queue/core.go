package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrFull is returned by Put when the queue had WithMaxItems items, or more, until ctx
	// ended. The error also matches ctx's error.
	ErrFull = errors.New("the queue is full")
	// ErrEmpty is returned when the queue has no items.
	ErrEmpty = errors.New("the queue is empty")
)

var (
	errNilFunction = fmt.Errorf("%w: the function is nil", framework.ErrInvalidOption)
)

// errPanic is recorded in spans and metrics if a function of the user panics.
var errPanic = errors.New("panic")

// core is what all queues with consumers have in common. Its items are bytes.
type core struct {
	kind   layout.ItemKind
	client *framework.Client
	api    *zkclient.Client
	path   string // as the client names it
	full   string // as the server names it
	locks  string // the server's name of the lock path; "" for at most once
	cfg    config
	spans  telemetry.Queue
}

func newCore(client *framework.Client, path string, kind layout.ItemKind, opts []Option) (*core, error) {
	client, cfg, err := newConfig(client, opts)
	if err != nil {
		return nil, err
	}
	q := &core{kind: kind, client: client, api: zkclient.Of(client), path: path, cfg: cfg}
	if q.full, err = ownPath(q.api, path); err != nil {
		return nil, err
	}
	if cfg.lockPath != "" {
		if q.locks, err = ownPath(q.api, cfg.lockPath); err != nil {
			return nil, fmt.Errorf("WithLockPath: %w", err)
		}
		if q.locks == q.full {
			return nil, fmt.Errorf("%w: WithLockPath(%q) is the queue's own path", framework.ErrInvalidOption, cfg.lockPath)
		}
	}
	q.spans = q.api.Telemetry().Queue(spanKind(kind), cfg.name, path)
	return q, nil
}

// spanKind returns the kind of a queue for spans.
func spanKind(kind layout.ItemKind) string {
	if kind == layout.PlainItems {
		return "queue"
	}
	return string(kind)
}

// ownPath returns the server's path of a node that is a queue's alone.
func ownPath(api *zkclient.Client, path string) (full string, err error) {
	full, err = api.ServerPath(path)
	if err == nil && path == "/" {
		err = fmt.Errorf("%w %q: a queue needs a path of its own", framework.ErrInvalidPath, path)
	}
	return full, err
}

// usable refuses calls of a queue that no constructor has made, and calls without a context.
func (q *core) usable(ctx context.Context) error {
	switch {
	case q == nil:
		return fmt.Errorf("queue: %w", framework.ErrNotStarted)
	case ctx == nil:
		return zkclient.ErrNilContext
	}
	return nil
}

// failed adds the queue's path to an error. It must not be nil.
func (q *core) failed(err error) error { return fmt.Errorf("queue %s: %w", q.path, err) }

// warn logs. It does not wait for the user's log handler.
func (q *core) warn(text string, args ...any) {
	q.api.Log(func() { q.client.Logger().Warn("queue: "+text, append(args, "queue", q.path)...) })
}

func (q *core) itemPath(name string) string { return q.path + "/" + name }

func (q *core) lockPath(name string) string { return q.cfg.lockPath + "/" + name }

// createTries bounds how often a missing parent is created. Somebody deletes it if once is not
// enough.
const createTries = 5

// below repeats the creation of a node below path. The node at path is created, with its parents, while
// missing says that it is not there.
func (q *core) below(ctx context.Context, path string, missing func(error) bool, create func() error) (err error) {
	for range createTries {
		if err = create(); !missing(err) {
			return err
		}
		_, err := q.client.Create().CreatingParentContainersIfNeeded().ForPath(ctx, path)
		if err != nil && !errors.Is(err, framework.ErrNodeExists) {
			return err
		}
	}
	return err
}

func isNoNode(err error) bool { return errors.Is(err, framework.ErrNoNode) }

// longestPause is the pause before something is tried again, or the mean of the longest.
const longestPause = time.Second

// retryPace returns the pauses of what is tried until it is known.
func retryPace() wait.Pace { return wait.Pace{First: 10 * time.Millisecond, Most: longestPause} }

// processing begins the span and the metrics of the work on a node.
func (q *core) processing(ctx context.Context) (context.Context, *telemetry.Processing) {
	return q.api.Telemetry().Process(ctx, q.spans)
}

// answerTime bounds the wait for the answer of a delete behind the end of a context.
const answerTime = 5 * time.Second

// deleteAlone deletes a node in a transaction of this one operation. Unlike
// framework.DeleteBuilder it is not repeated after a lost reply, and so does not take a
// deletion by somebody else for its own: if it returns nil, this call has deleted the node. When ctx ends
// while the answer is on its way, deleteAlone waits for it, up to answerTime or the session timeout: else
// nobody would get an item that was taken.
func deleteAlone(ctx context.Context, client *framework.Client, path string, version int32) error {
	ctx = zkconn.Lingering(ctx, answerTime)
	_, err := client.Transaction().ForOperations(ctx, client.TransactionOp().Delete().WithVersion(version).ForPath(path))
	return err
}

// watchChanges watches a node, which need not exist, and its children. The channel has room for
// one signal, which is given after every change, and after every reconnect. stop gives the watch
// back.
func watchChanges(ctx context.Context, api *zkclient.Client, path, full string) (changed <-chan struct{}, stop func(), err error) {
	signal := wait.NewSignal()
	w := watched{api: api, path: path, full: full, on: func(zkconn.WatchEvent) { signal.Set() }}
	stop, err = w.begin(ctx, api.Retry)
	return signal, stop, err
}
