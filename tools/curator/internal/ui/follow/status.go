package follow

import (
	"encoding/json"

	"github.com/go-curator/curator/tools/curator/internal/health"
	"github.com/go-curator/curator/tools/curator/internal/ui/model"
)

// Status is in every frame. Times are ms since 1970 by this machine's clock.
type Status struct {
	Number int   `json:"number"`
	Now    int64 `json:"now"`
	// Loaded tells whether the tree was read; until then there is nothing to show.
	Loaded   bool `json:"loaded"`
	Nodes    int  `json:"nodes"`
	Sessions int  `json:"sessions"` // that own nodes
	// Stale is since when what is shown is old, 0 if it is up to date, and Why the reason.
	Stale int64  `json:"stale"`
	Why   string `json:"why,omitempty"`
	// Server, Session and Timeout are those of the page's own connection.
	Server  string `json:"server"`
	Session string `json:"session"`
	Timeout int64  `json:"timeout"`
	Skew    int64  `json:"skew"` // how far this clock is ahead of the servers', in ms
}

// State is everything.
type State struct {
	Status
	Root     string         `json:"root"`
	Actions  bool           `json:"actions"`
	Recipes  []model.Recipe `json:"recipes"`
	History  []model.Hold   `json:"history"`
	Ensemble *Ensemble      `json:"ensemble"`
}

// Changes is what has changed since the frame before. Ensemble is nil if it was not asked again.
type Changes struct {
	Status
	model.Delta
	History  []model.Hold
	Ensemble *Ensemble
}

// MarshalJSON writes the names that State has.
func (c Changes) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Status
		Recipes  []model.Recipe `json:"recipes"`
		Gone     []string       `json:"gone"`
		History  []model.Hold   `json:"history"`
		Ensemble *Ensemble      `json:"ensemble,omitempty"`
	}{c.Status, c.Recipes, c.Gone, c.History, c.Ensemble})
}

// Ensemble is what the servers have told of themselves.
type Ensemble struct {
	Asked    int64            `json:"asked"`
	Healthy  bool             `json:"healthy"`
	Problems []string         `json:"problems"`
	Servers  []health.Server  `json:"servers"`
	Figures  []health.Figures `json:"figures"` // in the order of Servers
}
