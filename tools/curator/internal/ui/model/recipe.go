package model

// Kind is the kind of a recipe. The values are part of the page's JSON.
type Kind string

// The kinds of recipes. Unclear is a node with children of several kinds, or of a kind that Curator
// does not have.
const (
	None          Kind = ""
	Lock          Kind = "lock"
	ReadWrite     Kind = "read-write"
	Semaphore     Kind = "semaphore"
	Election      Kind = "election"
	Queue         Kind = "queue"
	Claims        Kind = "claims"
	Barrier       Kind = "barrier"
	DoubleBarrier Kind = "double-barrier"
	Group         Kind = "group"
	Services      Kind = "service"
	Counter       Kind = "counter"
	Unclear       Kind = "unclear"
)

// Recipe is the present state of a recipe. Times are in ms since 1970, by this machine's clock.
type Recipe struct {
	Path    string      `json:"path"`
	Kind    Kind        `json:"kind"`
	Variant string      `json:"variant,omitempty"` // the kind of queue, or the bits of a counter
	Holders []Contender `json:"holders"`           // a part of the holders, members, instances or items
	Waiters []Contender `json:"waiters"`           // a part of the waiters, in order
	Holding int         `json:"holding"`           // the number of all holders, members, instances or items
	Waiting int         `json:"waiting"`           // the number of all waiters
	// Max is the number of a semaphore's leases, if it could be inferred, otherwise 0. Most is the
	// greatest number of holders that was seen.
	Max  int `json:"max,omitempty"`
	Most int `json:"most,omitempty"`
	// Value is the number of a counter.
	Value string `json:"value,omitempty"`
	// Open says whether a double barrier is open.
	Open bool `json:"open,omitempty"`
	// Since is when a barrier was set, a counter was changed, or the first item was added.
	Since int64 `json:"since,omitempty"`
	// Grants is the number of grants that were seen, and Granted the time of the last one.
	Grants  int    `json:"grants"`
	Granted int64  `json:"granted,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Contender is a holder or a waiter of a lock, and in other recipes a member, an instance or an
// item.
type Contender struct {
	Node    string `json:"node"`
	Name    string `json:"name"` // "" if not known
	Label   string `json:"label,omitempty"`
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Session string `json:"session"` // hexadecimal, "" for none
	Token   string `json:"token"`   // the fencing token, decimal: it does not fit a JavaScript number
	Role    string `json:"role,omitempty"`
	Since   int64  `json:"since"` // when its node was created
	// Held is since when it holds the lock, 0 for a waiter. Exact is false if it was a holder when
	// it was first seen: it may then have got the lock later than Held.
	Held    int64    `json:"held,omitempty"`
	Exact   bool     `json:"exact,omitempty"`
	Asked   bool     `json:"asked,omitempty"` // it was asked to release the lock
	Due     int64    `json:"due,omitempty"`   // when an item is due
	Service *Service `json:"service,omitempty"`
}

// Hold is one hold of a lock, from its grant to its end.
type Hold struct {
	Number  int    `json:"number"` // of ended holds, from 1 on
	Path    string `json:"path"`
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"`
	Session string `json:"session"`
	Token   string `json:"token"`
	Role    string `json:"role,omitempty"`
	Since   int64  `json:"since"` // when the holder began to wait
	From    int64  `json:"from"`  // when the holder got the lock
	Exact   bool   `json:"exact"` // the grant was seen
	Until   int64  `json:"until"`
	// Next is the name of the next holder. Next and NextToken are "" if nobody waited.
	Next      string `json:"next"`
	NextToken string `json:"nextToken"`
}
