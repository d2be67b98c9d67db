package tree

import "time"

// Config sets up a State.
type Config struct {
	// TickTime is the unit of session time: sessions expire at multiples of it, counted from
	// the time of New. It must be above 0.
	TickTime time.Duration
	// FirstZxid is what the ids of transactions are counted from.
	FirstZxid int64
}

// State is what a server knows. It is made by New.
type State struct {
	tick     time.Duration
	start    time.Time // ticks are counted from here
	nodes    nodes
	zxid     int64 // of the last transaction
	sessions map[int64]*Session
	nextID   int64 // of the next session
	data     watchTable
	children watchTable
	quotas   quotas
}

// New returns the state of a server that starts for the first time, at start.
func New(start time.Time, config Config) *State {
	return &State{
		tick:     config.TickTime,
		start:    start,
		nodes:    newNodes(),
		zxid:     config.FirstZxid,
		sessions: map[int64]*Session{},
		nextID:   firstSessionID(start),
		data:     newWatchTable(),
		children: newWatchTable(),
		quotas:   quotas{},
	}
}

// firstSessionID returns an id for the first session of a server that starts at now, made
// as ZooKeeper does: the server's number, 1, in the top byte, then the clock.
func firstSessionID(now time.Time) int64 {
	return int64(uint64(now.UnixMilli())<<24>>8) | 1<<56
}

// Zxid returns the id of the last transaction.
func (st *State) Zxid() int64 { return st.zxid }

// Forget takes away the watches of a connection.
func (st *State) Forget(c *Client) {
	st.data.removeClient(c)
	st.children.removeClient(c)
}
