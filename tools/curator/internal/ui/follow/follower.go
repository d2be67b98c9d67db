package follow

import (
	"encoding/json"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curator/internal/health"
	"github.com/go-curator/curator/tools/curator/internal/ui/model"
)

// Config says what is followed.
type Config struct {
	Client  *framework.Client // that is started
	Root    string
	Servers []string // host:port; none if they are not to be asked
	Dial    health.Dial
	// AdminPort is the port of their AdminServers, 0 for none.
	AdminPort int
	Actions   bool // whether the page offers them
}

// Follower follows the recipes below a node.
type Follower struct {
	cfg    Config
	frames frames
	dirty  chan struct{} // has room for one

	mu       sync.Mutex
	model    *model.Model
	cache    *cache.CuratorCache // nil until the tree is read
	view     *cache.Typed[model.Facts]
	why      string // why nothing can be shown, or it is old
	gap      bool   // there was no connection since the last look that was complete
	since    time.Time
	told     int // the last hold that was in a frame
	ensemble *Ensemble
	asked    bool // ensemble is new
	last     Status
}

// New returns a Follower, which Run makes follow.
func New(cfg Config) *Follower {
	return &Follower{
		cfg: cfg, frames: frames{next: make(chan struct{}), number: 1}, dirty: make(chan struct{}, 1),
		model: model.New(), gap: true, why: "The tree is being read.",
	}
}

// onState takes note of what the connection does.
func (f *Follower) onState(now state.ConnectionState) {
	f.mu.Lock()
	switch now {
	case state.Suspended:
		f.gap, f.why = true, "The ensemble does not answer."
	case state.Lost:
		f.gap, f.why = true, "The session was lost; a new one begins when the ensemble answers."
	case state.ReadOnly:
		f.why = "The server has no quorum: it shows what it knew when it lost it."
	default:
		f.why = "What has changed meanwhile is being read."
	}
	f.mu.Unlock()
	f.wake()
}

// wake makes the next frame due.
func (f *Follower) wake() {
	select {
	case f.dirty <- struct{}{}:
	default:
	}
}

// apply takes changes over.
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
	if _, stale := f.cache.Stale(); !stale { // this was all that had changed meanwhile
		f.gap = false
	}
	f.mu.Unlock()
	f.wake()
}

func nodeOf(n cache.Node[model.Facts]) *model.Node {
	return &model.Node{
		Path: n.Path, Czxid: n.Stat.Czxid, Created: n.Stat.Ctime, Modified: n.Stat.Mtime, Session: n.Stat.EphemeralOwner,
		Version: n.Stat.Version, Size: n.Stat.DataLength, Facts: n.Value,
	}
}

// frame publishes what has changed, if anything has.
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

// status tells how up to date everything is.
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
	case f.gap && now.Sub(f.since) > time.Second: // the look after it was complete
		f.gap, f.since = false, time.Time{}
	}
	return s
}

// state returns everything as a frame.
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

// encode returns v as JSON. What is encoded here has no type that cannot be.
func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return body
}

// Subscribe returns a subscription, which must be closed.
func (f *Follower) Subscribe() *Subscription {
	return &Subscription{frames: &f.frames, state: f.state, done: f.frames.count()}
}

// Recipe returns the recipe at a path with count holders and waiters from the from-th on.
func (f *Follower) Recipe(path string, from, count int) (model.Recipe, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.model.Recipe(path, from, count)
}

// Session returns the nodes that a session owns, as many as are told, and how many there are.
func (f *Follower) Session(id int64) ([]model.Owned, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.model.Session(id)
}

// Search returns the paths that have a text in them, and whether there are more than limit. Letters
// match in both cases.
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

// nodes returns what was read, which is empty at first.
func (f *Follower) nodes() *cache.Typed[model.Facts] {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.view
}

// Children iterates over the names and nodes of the children of path, by name.
func (f *Follower) Children(path string) iter.Seq2[string, cache.Node[model.Facts]] {
	return f.nodes().Children(path)
}
