package nodes

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
)

// keeper keeps one node. The fields below "state" belong to the one goroutine that begins, works
// or ends: package lifecycle lets no two of them run at once.
type keeper struct {
	config
	client   *framework.Client
	api      *zkclient.Client
	given    string // the path as the user gave it
	mode     framework.CreateMode
	ttl      time.Duration // 0 for a node without
	mail     *mailbox
	sessions *sessions
	created  listen.Set[string]
	path     atomic.Pointer[string] // the client's path of the node; nil before it is known
	there    chan struct{}          // closed when Start, or its work in the background, has succeeded

	// state
	starting  bool          // Start has not returned yet
	full      string        // the server's path of the node, "" before it is known
	known     sighting      // the node as it was seen last
	written   int64         // the zxid of our last write; 0 for none
	writtenAs int           // the version of wanted that it wrote
	doubt     bool          // a create may have been applied, and the node was not seen since
	times     int           // how often the node was created
	warned    int64         // the foreign session of the last warning
	failing   bool          // it was logged that the node cannot be kept
	touchAt   time.Time     // when the child is to be set next; zero for never
	lookAt    time.Time     // when an unreadable node is to be looked at next; zero for never
	pause     time.Duration // before the next task
	fixed     bool          // nothing shortens the pause
	tried     wanted        // the data of the last step
	removal   *removal      // that a failed begin has left; nil for none
	deletions wait.Pace
	failures  wait.Pace
}

func newKeeper(client *framework.Client, path string, mode framework.CreateMode, data []byte, cfg config) *keeper {
	k := &keeper{
		config: cfg, client: client, api: zkclient.Of(client), given: path, mode: mode, mail: newMailbox(data), there: make(chan struct{}),
		sessions: sessionsOf(zkclient.Of(client)), deletions: wait.Pace{First: firstPause, Most: maxPause, Calm: calmTime},
		failures: wait.Pace{First: firstRetryPause, Most: maxRetryPause},
	}
	k.created.Limit(listen.MaxStates, listen.Newest)
	if k.takeover {
		k.deletions.First = takeoverPause
	}
	if k.protected && !sequential(mode) {
		k.given = protectedPath(path)
	}
	return k
}

// protectedPath returns a path with an id before the node's name.
func protectedPath(path string) string {
	parent, node := paths.ParentAndNode(path)
	return paths.Make(parent, layout.Protected(node, layout.NewUUID()))
}

func sequential(mode framework.CreateMode) bool {
	return mode == framework.PersistentSequential || mode == framework.EphemeralSequential
}

// keptMode is the mode by which the node is created when its name is known.
func (k *keeper) keptMode() framework.CreateMode {
	switch k.mode {
	case framework.PersistentSequential:
		return framework.Persistent
	case framework.EphemeralSequential:
		return framework.Ephemeral
	}
	return k.mode
}

func (k *keeper) ephemeral() bool { return k.keptMode() == framework.Ephemeral }

// builder returns the builder of the node, without its mode.
func (k *keeper) builder(data []byte) framework.CreateBuilder {
	b := k.client.Create().WithData(data)
	if !k.withoutParents {
		b = b.CreatingParentContainersIfNeeded()
	}
	if k.acl != nil {
		b = b.WithACL(k.acl...)
	}
	return b
}

// keptBuilder returns the builder of the node when its name is known.
func (k *keeper) keptBuilder(data []byte) framework.CreateBuilder {
	b := k.builder(data).WithMode(k.keptMode())
	if k.ttl > 0 {
		b = b.WithTTL(k.ttl)
	}
	return b
}

// request returns the request that creates a node.
func (k *keeper) request(b framework.CreateBuilder, path string) (*zkclient.CreateRequest, error) {
	spec, err := k.api.Spec(b, path)
	if err != nil {
		return nil, err
	}
	return k.api.Prepare(spec)
}

// setPath takes note of the node's path.
func (k *keeper) setPath(path string) error {
	full, err := k.api.ServerPath(path)
	if err != nil {
		return err
	}
	k.full = full
	k.path.Store(&path)
	return nil
}

// actualPath returns the client's path of the node, or the one given before that is known.
func (k *keeper) actualPath() string {
	if path := k.path.Load(); path != nil {
		return *path
	}
	return k.given
}

// unwatch takes the watch back.
func (k *keeper) unwatch() {
	conn, err := k.api.Conn()
	if watch := k.mail.noWatch(); watch != nil && err == nil {
		conn.Unwatch(watch)
	}
}

// noteCreated tells of a creation of the node.
func (k *keeper) noteCreated(ctx context.Context) {
	k.times++
	k.created.Notify(k.actualPath())
	if k.times > 1 && k.name != "" {
		k.api.Telemetry().Recreated(ctx, k.name)
	}
}

// warn logs a warning about the node.
func (k *keeper) warn(text string, args ...any) {
	args = append([]any{"path", k.actualPath()}, args...)
	k.api.Log(func() { k.client.Logger().Warn(text, args...) })
}
