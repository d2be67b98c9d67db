package bench

import (
	"context"

	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// workload is something that peers are measured at.
type workload struct {
	name    string
	about   string
	kind    string // what it is called in the protocol with foreign peers; "" if it is not for them
	clients int    // each with a session of its own
	waiters int
	leases  int
	writes  int      // how many of 100 acquisitions are a writer's
	quick   bool     // part of a quick run
	distant bool     // part of a run with a distance
	repeat  bool     // is short: done again until the turn is over
	local   localRun // nil if it is for foreign peers only
}

// localRun does a workload with a peer in this process, at a path of its own.
type localRun func(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error)
