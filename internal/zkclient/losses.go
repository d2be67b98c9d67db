package zkclient

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// Loss says that a session can no longer be relied on.
type Loss struct {
	Kind    LossKind
	Session int64
	Err     error
}

// LossKind is why.
type LossKind int

// The kinds of losses.
const (
	// LossSuspended: the connection is in an error state of the client's policy.
	LossSuspended LossKind = iota + 1
	// LossDeadline: the server may soon end the session.
	LossDeadline
	// LossSession: the session has ended.
	LossSession
	// LossClosed: the client is being closed.
	LossClosed
	// LossDeleted: the node was deleted by somebody else. The session layer does not report
	// it; a recipe does.
	LossDeleted
)

// Final reports whether the node of the session is lost for good. After other losses it may
// still be there.
func (k LossKind) Final() bool { return k == LossSession || k == LossClosed || k == LossDeleted }

// losses has the functions of recipes that are called at a loss.
type losses struct {
	mu    sync.Mutex
	hooks map[*hook]struct{}
	added int
}

// hook is one function. As long as there is a hook, the session counts as used.
type hook struct {
	node string // that is held, or ""
	n    int    // its number among all that were added
	fn   func(Loss)
}

// add calls fn at every loss until remove is called. conn may be nil.
func (h *losses) add(conn *zkconn.Conn, node string, fn func(Loss)) (remove func()) {
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
func (h *losses) held() (nodes []string) {
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
func (h *losses) fire(l Loss) {
	h.mu.Lock()
	hooks := slices.Collect(maps.Keys(h.hooks))
	h.mu.Unlock()
	slices.SortFunc(hooks, func(a, b *hook) int { return cmp.Compare(a.n, b.n) })
	for _, one := range hooks {
		one.fn(l)
	}
}

// decidedPolicy has the answers of an error policy.
type decidedPolicy [state.ReadOnly + 1]bool

// Decide asks an error policy about each state, once. The policy is a user's code, and recipes need the
// answers where nothing may block: where deadlines are told.
func Decide(p state.ErrorPolicy) state.ErrorPolicy {
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
