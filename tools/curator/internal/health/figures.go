package health

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
)

// Figures are counters of a server from ZooKeeper's command mntr. Servers refuse the command unless
// their configuration permits it. A counter that is not in the answer is -1. If there is an Error,
// all are.
type Figures struct {
	Sessions   int    `json:"sessions"`
	Watches    int    `json:"watches"`
	Ephemerals int    `json:"ephemerals"`
	Followers  int    `json:"followers"` // of a leader: followers that are up to date
	Error      string `json:"error,omitempty"`
}

// AskFigures asks all servers at the same time. When ctx ends, servers that have not answered have
// an Error. The result has the order of servers.
func AskFigures(ctx context.Context, dial Dial, servers []string) []Figures {
	answers := make([]Figures, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() {
			text, err := command(ctx, dial, server, "mntr")
			if err == nil {
				answers[i], err = parseFigures(text)
			}
			if err != nil {
				answers[i] = noFigures()
				answers[i].Error = err.Error()
			}
		})
	}
	wg.Wait()
	return answers
}

func noFigures() Figures { return Figures{Sessions: -1, Watches: -1, Ephemerals: -1, Followers: -1} }

// parseFigures parses the answer to mntr.
func parseFigures(text string) (Figures, error) {
	f := noFigures()
	if strings.Contains(text, "whitelist") {
		return f, errors.New("the server does not permit the command mntr: see 4lw.commands.whitelist")
	}
	names := map[string]*int{
		"zk_global_sessions": &f.Sessions, "zk_watch_count": &f.Watches, "zk_ephemerals_count": &f.Ephemerals,
		"zk_synced_followers": &f.Followers,
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if figure := names[name]; figure != nil {
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				*figure = int(n)
			}
		}
	}
	return f, nil
}
