package nodes

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// target is the node as it is to be, beside its data. All goroutines may read it, but full is that of the
// keeper's.
type target struct {
	config
	client *framework.Client
	api    *zkclient.Client
	spec   zkclient.NodeSpec      // for the first creation, without data
	path   atomic.Pointer[string] // the client's path of the node; nil before it is known
	full   string                 // the server's path of the node; "" before it is known
}

// init fills in what is known before the node is created.
func (t *target) init(client *framework.Client, path string, mode framework.CreateMode, ttl time.Duration, cfg config) (err error) {
	t.config, t.client, t.api = cfg, client, zkclient.Of(client)
	b := client.Create().WithMode(mode).WithData(nil)
	if !cfg.withoutParents {
		b = b.CreatingParentContainersIfNeeded()
	}
	if ttl > 0 {
		b = b.WithTTL(ttl)
	}
	if t.spec, err = t.api.Spec(b, path); err != nil {
		return err
	}
	if cfg.protected && !t.sequential() {
		parent, node := paths.ParentAndNode(path)
		t.spec.Path = paths.Make(parent, layout.Protected(node, layout.NewUUID()))
	}
	return nil
}

func (t *target) sequential() bool { return t.spec.Mode.IsSequential() }

func (t *target) ephemeral() bool { return t.spec.Mode.IsEphemeral() }

// timed reports whether the node has a time to live.
func (t *target) timed() bool { return t.spec.Mode.IsTimed() }

// request returns the request that creates the node when its name is known.
func (t *target) request(data []byte) (*zkclient.CreateRequest, error) {
	spec := t.spec
	spec.Path, spec.Data = t.actualPath(), data
	switch spec.Mode {
	case zkclient.PersistentSequential:
		spec.Mode = zkclient.Persistent
	case zkclient.EphemeralSequential:
		spec.Mode = zkclient.Ephemeral
	}
	return t.api.Prepare(spec)
}

// childPath returns the client's path of the child of a node with a time to live.
func (t *target) childPath() string { return t.actualPath() + "/" + t.touch }

// child returns that child.
func (t *target) child() zkclient.NodeSpec {
	return zkclient.NodeSpec{Path: t.childPath(), Mode: t.spec.Mode, TTL: t.spec.TTL, DefaultData: true}
}

// setPath takes note of the node's path.
func (t *target) setPath(path string) error {
	full, err := t.api.ServerPath(path)
	if err != nil {
		return err
	}
	t.full = full
	t.path.Store(&path)
	return nil
}

// actualPath returns the client's path of the node, or the one given before that is known.
func (t *target) actualPath() string {
	if path := t.path.Load(); path != nil {
		return *path
	}
	return t.spec.Path
}

// warn logs a warning about the node.
func (t *target) warn(text string, args ...any) {
	args = append([]any{"path", t.actualPath()}, args...)
	t.api.Log(func() { t.client.Logger().Warn(text, args...) })
}

// sighting is what a read has shown of the node. The zero sighting is that of a node that is
// missing.
type sighting struct {
	there    bool
	unknown  bool // it is there, and nothing tells its Stat; owner is 0 unless the node is listed as one of the session
	readable bool // data is that of the node
	data     []byte
	czxid    int64
	mzxid    int64
	version  int32
	owner    int64 // the session of an ephemeral node, else 0
	session  int64 // of the client, when the node was read
}

// newSighting returns what the answer to a read has shown.
func newSighting(read *zkconn.Call, withData bool) sighting {
	stat := read.Stat()
	return sighting{
		there: true, readable: withData, data: read.Data(), czxid: stat.Czxid, mzxid: stat.Mzxid, version: stat.Version,
		owner: stat.EphemeralOwner, session: read.Session,
	}
}

// ownerUnknown reports whether it is not known whose node it is.
func (s *sighting) ownerUnknown() bool { return s.unknown && s.owner == 0 }

// listed returns the client's session if a node is one of its ephemeral nodes, else 0. A server tells that also of a node
// that the client may not read.
func listed(ctx context.Context, conn *zkconn.Conn, full string) (session int64, err error) {
	call := zkconn.Ephemerals(full)
	if err := conn.DoAtQuorum(ctx, call); err != nil {
		return 0, err
	}
	if call.Err != nil || !slices.Contains(call.Names(), full) {
		return 0, call.Err
	}
	return call.Session, nil
}

// knowledge is what is known of the node. It belongs to the keeper's goroutine.
type knowledge struct {
	sessions  *sessions
	known     sighting  // the node as it was seen last
	written   int64     // the zxid of our last write; 0 for none
	writtenAs int       // the version of wanted that it wrote
	doubt     bool      // a create may have been applied, and the node was not seen since
	times     int       // how often the node was created
	warned    int64     // the foreign session of the last warning
	lookAt    time.Time // when an unreadable node is to be looked at next; zero for never
}

// forget follows a Start that failed: the next one begins anew.
func (k *knowledge) forget() {
	k.known, k.doubt, k.times, k.lookAt = sighting{}, false, 0, time.Time{}
}

// maxSessions is how many sessions are remembered. A node outlives its session by less than a
// session timeout, so the last few are enough.
const maxSessions = 16

// sessions are those on which the keepers of a client have created nodes, the newest last. They
// tell a node of an earlier session of this client from another client's.
type sessions struct {
	mu  sync.Mutex
	ids []int64
}

// sessionsOf returns the sessions that all keepers of a client share.
func sessionsOf(api *zkclient.Client) *sessions {
	return zkclient.SharedOf[sessions](api)
}

func (s *sessions) add(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == 0 || slices.Contains(s.ids, id) {
		return
	}
	s.ids = append(s.ids, id)
	if len(s.ids) > maxSessions {
		s.ids = slices.Delete(s.ids, 0, 1)
	}
}

// all returns a copy.
func (s *sessions) all() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ids)
}

func (s *sessions) has(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.ids, id)
}

// foreign reports whether a node that was read on a session is an ephemeral one of another client.
func (s *sessions) foreign(seen sighting) bool {
	return seen.there && seen.owner != 0 && seen.owner != seen.session && !s.has(seen.owner)
}
