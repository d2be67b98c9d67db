// Package follow keeps the recipes below a node up to date, and sends changes to subscribers,
// with one cache of the tree and one poll of the servers for any number of subscribers. All
// subscribers get the same frames, which are made once. A slow subscriber gets a whole state
// instead of the frames that it has missed.
//
// A Follower is safe for concurrent use. Its frames lag behind the servers: by the time of an
// event and a read, and by up to a quarter of a second while changes come in without a pause.
// While there is no connection its frames say since when they are old.
package follow

import (
	"encoding/json"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curator/internal/health"
	"github.com/go-curator/curator/tools/curator/internal/ui/model"
)

// Config is the configuration of a Follower.
type Config struct {
	Client  *framework.Client // must be started
	Root    string            // the path of the node whose tree is followed
	Servers []string          // host:port of servers that are asked for their state; may be empty
	Dial    health.Dial       // connects to Servers
	Admin   health.Admin      // of Servers
	Actions bool              // whether the page offers actions
}

// Follower follows the recipes below a node.
type Follower struct {
	cfg    Config
	frames frames
	dirty  wait.Signal // the next frame is due

	mu       sync.Mutex
	model    *model.Model
	cache    *cache.CuratorCache // nil until the tree is read
	view     *cache.Typed[model.Facts]
	why      string // why nothing can be shown, or what is shown is old
	gap      bool   // the connection was lost, and not all later changes are known yet
	since    time.Time
	told     int // the number of the last hold in a frame
	ensemble *Ensemble
	asked    bool // ensemble is new
	last     Status
}

// New returns a Follower. It follows nothing until Run is called.
func New(cfg Config) *Follower {
	return &Follower{
		cfg: cfg, frames: frames{next: make(chan struct{}), number: 1}, dirty: wait.NewSignal(),
		model: model.New(), gap: true, why: "The tree is being read.",
	}
}

// onState handles a change of the connection state.
func (f *Follower) onState(now state.ConnectionState) {
	f.mu.Lock()
	switch now {
	case state.Suspended:
		f.gap, f.why = true, "The ensemble does not answer."
	case state.Lost:
		f.gap, f.why = true, "The session was lost. A new one begins when the ensemble answers."
	case state.ReadOnly:
		f.why = "The server has no quorum. Its data is as it was when it lost the quorum."
	default:
		f.why = "The changes since then are being read."
	}
	f.mu.Unlock()
	f.dirty.Set()
}

// apply applies changes of the tree to the model.
func (f *Follower) apply(events []cache.TypedEvent[model.Facts]) {
	changes := make([]model.Change, len(events))
	for i, e := range events {
		if e.Type == cache.NodeDeleted {
			changes[i] = model.Change{Node: nodeOf(e.Old), Deleted: true}
		} else {
			changes[i] = model.Change{Node: nodeOf(e.New)}
		}
	}
	f.mu.Lock()
	f.model.Apply(time.Now(), !f.gap, changes)
	if _, stale := f.cache.Stale(); !stale { // these were all changes since the connection was lost
		f.gap = false
	}
	f.mu.Unlock()
	f.dirty.Set()
}

func nodeOf(n cache.Node[model.Facts]) *model.Node {
	return &model.Node{
		Path: n.Path, Czxid: n.Stat.Czxid, Created: n.Stat.Ctime, Modified: n.Stat.Mtime, Session: n.Stat.EphemeralOwner,
		Version: n.Stat.Version, Size: n.Stat.DataLength, Facts: n.Value,
	}
}

// frame publishes the changes since the last frame, if there are any.
func (f *Follower) frame() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.model.Tick(now)
	status := f.status(now)
	changes := Changes{Status: status, Delta: f.model.Take(), History: f.model.History(f.told)}
	if f.asked {
		changes.Ensemble, f.asked = f.ensemble, false
	}
	same := status
	same.Now = f.last.Now
	if len(changes.Recipes)+len(changes.Gone)+len(changes.History) == 0 && changes.Ensemble == nil && same == f.last {
		return
	}
	f.last = status
	if n := len(changes.History); n > 0 {
		f.told = changes.History[n-1].Number
	}
	f.frames.publish(func(number int) []byte {
		changes.Number = number
		return encode(changes)
	})
}

// status returns the status, which says how up to date the data is.
func (f *Follower) status(now time.Time) Status {
	s := Status{
		Now: now.UnixMilli(), Loaded: f.cache != nil, Nodes: f.model.Len(), Sessions: f.model.Sessions(),
		Server: f.cfg.Client.Server(), Session: model.SessionName(f.cfg.Client.SessionID()),
		Timeout: f.cfg.Client.SessionTimeout().Milliseconds(), Skew: f.model.Skew().Milliseconds(),
	}
	if f.cache == nil {
		s.Why = f.why
		return s
	}
	since, stale := f.cache.Stale()
	switch {
	case stale:
		s.Stale, s.Why = since.UnixMilli(), f.why
		f.gap = true
		f.since = time.Time{}
	case f.gap && f.since.IsZero():
		f.since = now
	case f.gap && now.Sub(f.since) > time.Second: // nothing has changed during the gap
		f.gap, f.since = false, time.Time{}
	}
	return s
}

// state returns a frame with the whole state.
func (f *Follower) state() Frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.frames.state(func(number int) []byte {
		s := State{
			Status: f.status(time.Now()), Root: f.cfg.Root, Actions: f.cfg.Actions,
			Recipes: f.model.Recipes(), History: f.model.History(0), Ensemble: f.ensemble,
		}
		s.Number = number
		return encode(s)
	})
}

// encode returns v as JSON. The types of a Follower can always be encoded.
func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return body
}

// Subscribe returns a subscription. The caller must close it.
func (f *Follower) Subscribe() *Subscription {
	return &Subscription{frames: &f.frames, state: f.state, done: f.frames.count()}
}

// Recipe returns the recipe at a path, with at most count holders and count waiters, from number from
// on.
func (f *Follower) Recipe(path string, from, count int) (model.Recipe, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.model.Recipe(path, from, count)
}

// Session returns the nodes that a session owns, a thousand at most, and their total number.
func (f *Follower) Session(id int64) ([]model.Owned, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.model.Session(id)
}

// Search returns at most limit paths that contain a text, in upper or lower case, and whether there
// are more.
func (f *Follower) Search(text string, limit int) (paths []string, more bool) {
	text = strings.ToLower(text)
	paths = []string{}
	for path := range f.nodes().All() {
		if !strings.Contains(strings.ToLower(path), text) {
			continue
		}
		if len(paths) == limit {
			return paths, true
		}
		paths = append(paths, path)
	}
	return paths, false
}

// nodes returns the nodes that were read, nil until then. Methods of a nil *cache.Typed return no
// nodes.
func (f *Follower) nodes() *cache.Typed[model.Facts] {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.view
}

// Children iterates over the children of path, with their names, ordered by name.
func (f *Follower) Children(path string) iter.Seq2[string, cache.Node[model.Facts]] {
	return f.nodes().Children(path)
}

// Status is a part of every frame. Times are in ms since 1970, by this machine's clock.
type Status struct {
	Number int   `json:"number"`
	Now    int64 `json:"now"`
	// Loaded says whether the tree was read. Until then there is nothing to show.
	Loaded   bool `json:"loaded"`
	Nodes    int  `json:"nodes"`
	Sessions int  `json:"sessions"` // sessions that own nodes
	// Stale is the time since which the data is not up to date, 0 if it is. Why is the reason.
	Stale int64  `json:"stale"`
	Why   string `json:"why,omitempty"`
	// Server, Session and Timeout are those of the page's own connection.
	Server  string `json:"server"`
	Session string `json:"session"`
	Timeout int64  `json:"timeout"`
	Skew    int64  `json:"skew"` // how far this machine's clock is ahead of the servers' clocks, in ms
}

// State is the whole state.
type State struct {
	Status
	Root     string         `json:"root"`
	Actions  bool           `json:"actions"`
	Recipes  []model.Recipe `json:"recipes"`
	History  []model.Hold   `json:"history"`
	Ensemble *Ensemble      `json:"ensemble"`
}

// Changes are the changes since the previous frame. Ensemble is nil if the servers were not asked
// since then.
type Changes struct {
	Status
	model.Delta
	History  []model.Hold
	Ensemble *Ensemble
}

// MarshalJSON uses the same names as State.
func (c Changes) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Status
		Recipes  []model.Recipe `json:"recipes"`
		Gone     []string       `json:"gone"`
		History  []model.Hold   `json:"history"`
		Ensemble *Ensemble      `json:"ensemble,omitempty"`
	}{c.Status, c.Recipes, c.Gone, c.History, c.Ensemble})
}

// Ensemble is the servers' state, as they report it.
type Ensemble struct {
	Asked    int64            `json:"asked"`
	Healthy  bool             `json:"healthy"`
	Problems []string         `json:"problems"`
	Servers  []health.Server  `json:"servers"`
	Figures  []health.Figures `json:"figures"` // in the order of Servers
}
