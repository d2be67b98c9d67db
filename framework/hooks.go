package framework

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// lossHooks are the functions of recipes that are called at a loss.
type lossHooks struct {
	mu    sync.Mutex
	hooks map[*hook]struct{}
	added int
}

// hook is one function. As long as there is a hook, the session counts as used.
type hook struct {
	node string // that is held, or ""
	n    int    // its number among all that were added
	fn   func(recipeapi.Loss)
}

// add calls fn at every loss until remove is called. conn may be nil.
func (h *lossHooks) add(conn *zkconn.Conn, node string, fn func(recipeapi.Loss)) (remove func()) {
	if conn != nil {
		conn.Use()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hooks == nil {
		h.hooks = map[*hook]struct{}{}
	}
	h.added++
	one := &hook{node, h.added, fn}
	h.hooks[one] = struct{}{}
	return func() {
		h.mu.Lock()
		_, known := h.hooks[one]
		delete(h.hooks, one)
		h.mu.Unlock()
		if known && conn != nil {
			conn.Unuse()
		}
	}
}

// held returns the nodes that are held, sorted.
func (h *lossHooks) held() (nodes []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for one := range h.hooks {
		if one.node != "" {
			nodes = append(nodes, one.node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// fire calls all hooks, on the caller's goroutine, in the order in which they were added.
func (h *lossHooks) fire(l recipeapi.Loss) {
	h.mu.Lock()
	hooks := slices.Collect(maps.Keys(h.hooks))
	h.mu.Unlock()
	slices.SortFunc(hooks, func(a, b *hook) int { return cmp.Compare(a.n, b.n) })
	for _, one := range hooks {
		one.fn(l)
	}
}

// decidedPolicy has the answers of an error policy. The policy is a user's code, and recipes need the
// answers where nothing may block: where deadlines are told.
type decidedPolicy [state.ReadOnly + 1]bool

func decide(p state.ErrorPolicy) *decidedPolicy {
	var d decidedPolicy
	for s := state.Connected; s <= state.ReadOnly; s++ {
		d[s] = p.IsErrorState(s)
	}
	return &d
}

// IsErrorState returns the policy's answer, false for what is no state.
func (d *decidedPolicy) IsErrorState(s state.ConnectionState) bool {
	return s > 0 && int(s) < len(d) && d[s]
}
