package model

// Kind is what a recipe is. The values are part of the page's JSON.
type Kind string

// The kinds of recipes. Unclear is a node whose children are those of several kinds, or of a kind
// that Curator does not have.
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

// Recipe is one recipe as it is now. Times are ms since 1970 by the clock of the one who looks.
type Recipe struct {
	Path    string      `json:"path"`
	Kind    Kind        `json:"kind"`
	Variant string      `json:"variant,omitempty"` // of a queue or a counter
	Holders []Contender `json:"holders"`           // or members, instances, items: the first of them
	Waiters []Contender `json:"waiters"`           // in order, the first of them
	Holding int         `json:"holding"`           // how many there are
	Waiting int         `json:"waiting"`
	// Max is how many can hold a semaphore, as far as it was seen; 0 if it was not. Most is the
	// most that were seen.
	Max  int `json:"max,omitempty"`
	Most int `json:"most,omitempty"`
	// Value is the number of a counter.
	Value string `json:"value,omitempty"`
	// Open tells whether those at a barrier may pass.
	Open bool `json:"open,omitempty"`
	// Since is when a barrier was closed, a counter was set, or the oldest item was added.
	Since int64 `json:"since,omitempty"`
	// Grants is how often somebody was seen to get it, and Granted when last.
	Grants  int    `json:"grants"`
	Granted int64  `json:"granted,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Contender is a holder or a waiter of a lock, and in other recipes a member, an instance or an
// item.
type Contender struct {
	Node    string `json:"node"`
	Name    string `json:"name"` // "" if it is not known
	Label   string `json:"label,omitempty"`
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Session string `json:"session"` // hexadecimal, "" for none
	Token   string `json:"token"`   // the fencing token, decimal: it does not fit a JavaScript number
	Role    string `json:"role,omitempty"`
	Since   int64  `json:"since"` // when its node was created
	// Held is since when it holds, 0 for a waiter. Exact is false if it held it when it was first
	// seen: then it may have been waiting until then.
	Held    int64    `json:"held,omitempty"`
	Exact   bool     `json:"exact,omitempty"`
	Asked   bool     `json:"asked,omitempty"` // somebody has asked for the lock
	Due     int64    `json:"due,omitempty"`   // of an item
	Service *Service `json:"service,omitempty"`
}

// Hold is a time that somebody held a lock.
type Hold struct {
	Number  int    `json:"number"` // counts from 1
	Path    string `json:"path"`
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"`
	Session string `json:"session"`
	Token   string `json:"token"`
	Role    string `json:"role,omitempty"`
	Since   int64  `json:"since"` // when it began to wait
	From    int64  `json:"from"`  // when it got it
	Exact   bool   `json:"exact"` // From was seen
	Until   int64  `json:"until"`
	// Next is who got it then, "" if nobody was there. NextToken is "" then.
	Next      string `json:"next"`
	NextToken string `json:"nextToken"`
}
