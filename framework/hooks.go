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
type hook struct{ fn func(recipeapi.Loss) }

// add calls fn at every loss until remove is called. conn may be nil.
func (h *lossHooks) add(conn *zkconn.Conn, fn func(recipeapi.Loss)) (remove func()) {
	one := &hook{fn}
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

// len returns how many hooks there are.
func (h *lossHooks) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.hooks)
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
