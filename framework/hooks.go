package framework

import (
	"maps"
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/zkconn"
)

// lossHooks are the functions of recipes that are called at a loss.
type lossHooks struct {
	mu    sync.Mutex
	hooks map[*hook]struct{}
}

// hook is one function. As long as there is a hook, the session counts as used.
type hook struct {
	node string // that is held, or ""
	fn   func(recipeapi.Loss)
}

// add calls fn at every loss until remove is called. conn may be nil.
func (h *lossHooks) add(conn *zkconn.Conn, node string, fn func(recipeapi.Loss)) (remove func()) {
	one := &hook{node, fn}
	if conn != nil {
		conn.Use()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hooks == nil {
		h.hooks = map[*hook]struct{}{}
	}
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

// fire calls all hooks, on the caller's goroutine.
func (h *lossHooks) fire(l recipeapi.Loss) {
	h.mu.Lock()
	hooks := slices.Collect(maps.Keys(h.hooks))
	h.mu.Unlock()
	for _, one := range hooks {
		one.fn(l)
	}
}
