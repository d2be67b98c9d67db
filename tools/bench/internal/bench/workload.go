package bench

import (
	"context"

	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// workload is a task that is measured with each peer.
type workload struct {
	name    string
	about   string
	kind    string // its name in the protocol with foreign peers; "" if they do not have it
	clients int    // the number of clients, each with its own session
	waiters int
	leases  int
	writes  int      // the percentage of acquisitions by writers
	quick   bool     // whether it is part of a quick run
	distant bool     // whether it is part of a run with a distance
	repeat  bool     // whether it is short, and is repeated until the turn is over
	local   localRun // nil if it is for foreign peers only
}

// localRun runs a workload with a peer in this process, at a path that nothing else uses.
type localRun func(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error)
