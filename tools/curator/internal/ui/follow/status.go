package follow

import (
	"encoding/json"

	"github.com/go-curator/curator/tools/curator/internal/health"
	"github.com/go-curator/curator/tools/curator/internal/ui/model"
)

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
